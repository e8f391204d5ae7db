package traces

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// traceFiles are of every shape that a file has: without rows and with one, of one
// batch and of two, sorted anew, with every column and with few, with columns that
// have no value. The footer of each says what its head did not know.
func traceFiles(t *testing.T) (paths []string, recs [][]Record) {
	many := randomRecords(3, 600)
	for len(many) < batchRows+5 {
		many = append(many, plainRecord(len(many)))
	}
	shuffled := randomRecords(4, 300)
	shuffled[7], shuffled[200] = shuffled[200], shuffled[7]
	one := make([]Record, 1)
	empty := make([]Record, 3) // known, and nothing in them
	for i := range empty {
		empty[i].Seq, empty[i].ID, empty[i].Body, empty[i].After = uint64(i), Some(""), []byte{}, []uint64{}
		empty[i].Media = []Media{{}, {}}
	}
	recs = [][]Record{nil, one, empty, randomRecords(2, 70), shuffled, many}
	for i, kind := range []Kind{KindTrace, KindTrace, KindTrace, KindRun, KindTrace, KindTrace} {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		w, err := Create(path, Meta{Kind: kind}, CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Copy(w, FromSlice(recs[i])); err != nil {
			t.Fatal(err)
		}
		w.SetMeta(Meta{Kind: kind, Notes: []string{"the end"}})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths, recs
}

// layoutError holds the parts of a file to Arrow's format: messages, bodies and buffers
// begin at multiples of eight bytes, and each part lies where the footer says.
func layoutError(file []byte) error {
	le32 := func(at int64) int64 { return int64(binary.LittleEndian.Uint32(file[at:])) }
	end := int64(len(file) - 10)
	footer := fbRoot(file[end-le32(end) : end])
	blocks, _ := footer.vector(3, blockSize)
	next := int64(len(arrowMagic)) + 8 + le32(12)
	for ; len(blocks) > 0; blocks = blocks[blockSize:] {
		at, head, body := le64(blocks), le64(blocks[8:]), le64(blocks[16:])
		if at != next || at%8 != 0 || head%8 != 0 || body%8 != 0 {
			return fmt.Errorf("a batch at %d of %d and %d bytes, behind one that ends at %d", at, head, body, next)
		}
		message := fbRoot(file[at+8 : at+head])
		if le32(at+4) != head-8 || message.i64(3) != body {
			return fmt.Errorf("a batch of %d and %d bytes, and not %d and %d", le32(at+4), message.i64(3), head-8, body)
		}
		batch, _ := message.table(2)
		buffers, _ := batch.vector(2, 16)
		for from := int64(0); len(buffers) > 0; buffers = buffers[16:] {
			at, n := le64(buffers), le64(buffers[8:])
			if at%8 != 0 || at < from || at+n > body {
				return fmt.Errorf("a buffer of %d bytes at %d of %d, behind one that ends at %d", n, at, body, from)
			}
			from = at + n
		}
		next = at + head + body
	}
	if !bytes.Equal(file[next:next+8], endOfStream) {
		return fmt.Errorf("no end of the stream at %d", next)
	}
	return nil
}

// A trace is an Arrow file to Arrow's own readers, in Go and in C++, with the values
// that were written and with the metadata of its end.
func TestArrowFiles(t *testing.T) {
	paths, recs := traceFiles(t)
	for i, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := layoutError(file); err != nil {
			t.Errorf("file %d: %v", i, err)
		}
		holdFileReader(t, fmt.Sprintf("file %d", i), file, len(recs[i]))
	}
	python := os.Getenv("WAVETANK_TEST_PYTHON")
	if python == "" {
		t.Skip("SKIPPED in part: WAVETANK_TEST_PYTHON does not name a Python with pyarrow")
	}
	args := []string{filepath.Join("testdata", "arrow_files.py")}
	want := ""
	for i, path := range paths {
		args = append(args, path)
		want += fmt.Sprintf("%d rows, the end\n", len(recs[i]))
	}
	if out, err := exec.Command(python, args...).CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v:\n%s, want\n%s", err, out, want)
	}
}

// holdFileReader reads by the footer, and compares with what reading from the start
// gives.
func holdFileReader(t *testing.T, name string, file []byte, rows int) {
	t.Helper()
	byFooter, err := ipc.NewFileReader(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer byFooter.Close()
	if m, err := parseMeta(byFooter.Schema().Metadata()); err != nil || len(m.Notes) != 1 {
		t.Errorf("%s: the footer says %+v, %v", name, m, err)
	}
	stream, err := ipc.NewReader(bytes.NewReader(file[len(arrowMagic):]))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer stream.Release()
	var n int64
	for i := range byFooter.NumRecords() {
		a, err1 := byFooter.RecordAt(i)
		b, err2 := stream.Read()
		if err1 != nil || err2 != nil || a.NumRows() != b.NumRows() || !array.RecordEqual(a, b) {
			t.Fatalf("%s: batch %d is another by the footer: %v, %v", name, i, err1, err2)
		}
		n += a.NumRows()
		a.Release()
	}
	if n != int64(rows) {
		t.Errorf("%s: %d rows of %d", name, n, rows)
	}
}
