package formats

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The wire types of protobuf that OTLP uses.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// A wireField is one field of a message: a number, or bytes that alias the message.
type wireField struct {
	num, kind int
	n         uint64
	b         []byte
}

var errWire = errors.New("not a protobuf message")

// nextField takes the first field off a message.
func nextField(b []byte) (f wireField, rest []byte, err error) {
	tag, size := binary.Uvarint(b)
	if size <= 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
		return f, nil, errWire
	}
	b = b[size:]
	f.num, f.kind = int(tag>>3), int(tag&7)
	switch f.kind {
	case wireVarint, wireBytes:
		if f.n, size = binary.Uvarint(b); size <= 0 {
			return f, nil, errWire
		}
		b = b[size:]
	case wireFixed64:
		if len(b) < 8 {
			return f, nil, errWire
		}
		f.n, b = binary.LittleEndian.Uint64(b), b[8:]
	case wireFixed32:
		if len(b) < 4 {
			return f, nil, errWire
		}
		f.n, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
	default:
		return f, nil, errWire
	}
	if f.kind != wireBytes {
		return f, b, nil
	}
	if f.n > uint64(len(b)) {
		return f, nil, errWire
	}
	f.b, b = b[:f.n], b[f.n:]
	return f, b, nil
}

// eachField walks over a message. Fields that take does not know it passes over.
func eachField(b []byte, take func(f wireField) error) error {
	for len(b) > 0 {
		f, rest, err := nextField(b)
		if err != nil {
			return rejectf(BadProtobuf, "%w", err)
		}
		if err := take(f); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// isRequest tells whether head, which may be cut, begins with a message of spans:
// with a ResourceSpans, whose first field is its resource, scope or schema.
func isRequest(head []byte, cut bool) bool {
	if len(head) < 4 || head[0] != 1<<3|wireBytes {
		return false
	}
	outer, size := binary.Uvarint(head[1:])
	if size <= 0 || outer < 2 || outer > maxDocument {
		return false
	}
	body := head[1+size:]
	if outer > uint64(len(body)) && !cut {
		return false
	}
	body = body[:min(outer, uint64(len(body)))]
	if len(body) < 2 || body[0] != 1<<3|wireBytes && body[0] != 2<<3|wireBytes && body[0] != 3<<3|wireBytes {
		return false
	}
	inner, size := binary.Uvarint(body[1:])
	return size > 0 && inner+uint64(1+size) <= outer
}

// isMessage tells whether a file that begins with head is one message.
func isMessage(head []byte) bool { return isRequest(head, len(head) == headBytes) }

// isFramed tells whether head begins with the length of a message and the message.
func isFramed(head []byte) bool {
	if len(head) < frameHead+2 {
		return false
	}
	size, body := uint64(binary.BigEndian.Uint32(head)), head[frameHead:]
	cut := len(head) == headBytes && size > uint64(len(body))
	if size > maxMessage || size > uint64(len(body)) && !cut {
		return false // a length of text would be larger
	}
	if bytes.HasPrefix(body, []byte(zstdMagic)) || body[0] == '{' {
		return true
	}
	return isRequest(body[:min(size, uint64(len(body)))], cut)
}

// message reads a message of spans: an ExportTraceServiceRequest or a TracesData,
// which are the same on the wire.
func (r *otlpReader) message(b []byte, out *outlet) error {
	return eachField(b, func(f wireField) error {
		if f.num != 1 {
			return nil
		}
		return r.resourceSpans(f.b, out)
	})
}

func (r *otlpReader) resourceSpans(b []byte, out *outlet) error {
	resource := make(attributes)
	err := eachField(b, func(f wireField) error {
		if f.num != 1 {
			return nil
		}
		return eachField(f.b, func(f wireField) error { return resource.take(f, 1) })
	})
	if err != nil {
		return err
	}
	return eachField(b, func(f wireField) error {
		if f.num != 2 {
			return nil
		}
		return eachField(f.b, func(f wireField) error {
			if f.num != 2 {
				return nil
			}
			sp, err := wireSpan(f.b)
			sp.resource = resource
			return r.take(fmt.Appendf(nil, "span %s %q of trace %s", sp.id, clip(sp.name), sp.trace), &sp, err, out)
		})
	})
}

func wireSpan(b []byte) (sp otelSpan, err error) {
	sp.attrs = make(attributes)
	err = eachField(b, func(f wireField) error {
		switch f.num {
		case 1:
			sp.trace = hex.EncodeToString(f.b)
		case 2:
			sp.id = hex.EncodeToString(f.b)
		case 4:
			sp.parent = hex.EncodeToString(f.b)
		case 5:
			sp.name = string(f.b)
		case 6:
			sp.server = f.n == 2
		case 7:
			sp.start = int64(min(f.n, math.MaxInt64))
		case 8:
			sp.end = int64(min(f.n, math.MaxInt64))
		case 11:
			e, err := wireEvent(f.b)
			sp.events = append(sp.events, e)
			return err
		case 15:
			return eachField(f.b, func(f wireField) error {
				sp.failed = sp.failed || f.num == 3 && f.n == 2
				return nil
			})
		}
		return sp.attrs.take(f, 9)
	})
	return sp, err
}

func wireEvent(b []byte) (e spanEvent, err error) {
	e.attrs = make(attributes)
	err = eachField(b, func(f wireField) error {
		switch f.num {
		case 1:
			e.at = int64(min(f.n, math.MaxInt64))
		case 2:
			e.name = string(f.b)
		}
		return e.attrs.take(f, 3)
	})
	return e, err
}

// take adds the attribute that f holds, if f is of the field num.
func (a attributes) take(f wireField, num int) error {
	if f.num != num {
		return nil
	}
	var key string
	var val []byte
	err := eachField(f.b, func(f wireField) error {
		switch f.num {
		case 1:
			key = string(f.b)
		case 2:
			val = f.b
		}
		return nil
	})
	if err != nil || !isWanted(key) {
		return err
	}
	v, err := wireValue(val, 0)
	a[key] = v
	return inField(key, err)
}

// wireValue reads an AnyValue; bytes and maps, which are read nowhere, are nil.
func wireValue(b []byte, depth int) (v any, err error) {
	const deepest = 8
	if depth > deepest {
		return nil, rejectf(BadProtobuf, "lists within lists, deeper than %d", deepest)
	}
	err = eachField(b, func(f wireField) (err error) {
		switch f.num {
		case 1:
			v = string(f.b)
		case 2:
			v = f.n != 0
		case 3:
			v = json.Number(strconv.FormatInt(int64(f.n), 10))
		case 4:
			v = json.Number(floatText(math.Float64frombits(f.n)))
		case 5:
			v, err = wireList(f.b, depth)
		}
		return err
	})
	return v, err
}

func wireList(b []byte, depth int) (any, error) {
	var list []any
	err := eachField(b, func(f wireField) error {
		if f.num != 1 {
			return nil
		}
		v, err := wireValue(f.b, depth+1)
		list = append(list, v)
		return err
	})
	return list, err
}
