package traces

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, p); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func zstded(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, p); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// What was stored comes back, in however many members, frames and reads it came.
func TestDecompress(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stored []byte
		codec  string
		want   string
	}{
		{"empty", nil, "", ""},
		{"short", []byte("ab"), "", "ab"},
		{"plain", []byte("a,b\n1,2\n"), "", "a,b\n1,2\n"},
		{"gzip", gzipped(t, "a,b\n1,2\n"), "gzip", "a,b\n1,2\n"},
		{"gzip of two members", gzipped(t, "a,b\n1,", "2\n"), "gzip", "a,b\n1,2\n"},
		{"zstd", zstded(t, "a,b\n1,2\n"), "zstd", "a,b\n1,2\n"},
		{"zstd of two frames", zstded(t, "a,b\n1,", "2\n"), "zstd", "a,b\n1,2\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, codec, err := Decompress(iotest.OneByteReader(bytes.NewReader(tt.stored)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != tt.want || codec != tt.codec {
				t.Errorf("got %q by %q, %v; want %q by %q", got, codec, err, tt.want, tt.codec)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A cut or damaged stream is an error, never a short success.
func TestDecompressDamaged(t *testing.T) {
	whole := strings.Repeat("2023-11-16 18:17:03.9799600,4808,10\n", 100)
	for _, stored := range [][]byte{gzipped(t, whole), zstded(t, whole)} {
		for cut := 4; cut < len(stored); cut++ {
			r, _, err := Decompress(bytes.NewReader(stored[:cut]))
			if err == nil {
				_, err = io.Copy(io.Discard, r)
			}
			if err == nil {
				t.Errorf("the first %d of %d bytes were read as if whole", cut, len(stored))
			}
		}
	}
}

// A bomb meets the limit, and the error names it; what merely repeats itself a lot does not.
func TestDecompressBomb(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	for name, pack := range map[string]func(testing.TB, ...string) []byte{"gzip": gzipped, "zstd": zstded} {
		stored := bytes.Repeat(pack(t, zeros), 128)
		r, _, err := Decompress(bytes.NewReader(stored))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if err == nil || !strings.Contains(err.Error(), "the limit is 200") || n > ratioGrace+readerBytes {
			t.Errorf("%s bomb: %d bytes, then %v", name, n, err)
		}
		r, _, err = Decompress(bytes.NewReader(pack(t, zeros)))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n != 1<<20 {
			t.Errorf("1 MiB of zeros by %s: %d bytes, %v", name, n, err)
		}
	}
}

// Ten bytes may not ask for half a gigabyte.
func TestDecompressWindow(t *testing.T) {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 19 << 3, 0x01, 0x00, 0x00, 0x00} // window 2^29, one empty last block
	r, _, err := Decompress(bytes.NewReader(frame))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("a window of 512 MiB: %v", err)
	}
}

func FuzzDecompress(f *testing.F) {
	f.Add(gzipped(f, "a,b\n1,2\n", "3,4\n"))
	f.Add(zstded(f, "a,b\n1,2\n", "3,4\n"))
	f.Add([]byte("plain"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		r, codec, err := Decompress(bytes.NewReader(stored))
		if err != nil {
			return
		}
		n, err := io.Copy(io.Discard, io.LimitReader(r, 128<<20))
		if codec == "" && (err != nil || n != int64(len(stored))) {
			t.Errorf("plain: %d of %d bytes, %v", n, len(stored), err)
		}
		if err := r.Close(); err != nil && codec == "" {
			t.Error(err)
		}
	})
}
