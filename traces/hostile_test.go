package traces

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

func sample(t testing.TB) []byte {
	var buf bytes.Buffer
	w, err := CreateWriter(&buf, Meta{Kind: KindTrace, Tool: "wavetank"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Copy(w, FromSlice(randomRecords(7, 40))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func readAll(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = Copy(WriterFunc(func(*Record) error { return nil }), f)
	return err
}

// A damaged file gives rows or an error. (Arrow v17 by itself is killed by some
// of these: apache/arrow#43605.)
func TestMutatedFiles(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	whole, path := sample(t), filepath.Join(t.TempDir(), "t.arrow")
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range mutations(t, 300) {
		b := mutated(rng, whole)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if readAll(path) != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no mutation was noticed")
	}
}

// A batch that holds far more than is stored of it is refused before memory is had
// for it, and one of a usual size is not, however well it packs.
func TestBatchBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	w, err := Create(path, Meta{}, CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same := strings.Repeat("the same in every row, and so hardly anything once it is packed ", 30)
	for range 10_000 {
		var rec Record
		rec.Params = Some(same)
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := readAll(path); err != nil {
		t.Error(err)
	}
	defer func(grace int64) { batchGrace = grace }(batchGrace)
	batchGrace = 64 << 10
	if err := readAll(path); err == nil || !strings.Contains(err.Error(), "bomb") {
		t.Errorf("a bomb: %v", err)
	}
}

// mutations returns how many damaged files a test tries: few, or as many as
// WAVETANK_TEST_MUTATIONS says.
func mutations(t *testing.T, few int) int {
	s := os.Getenv("WAVETANK_TEST_MUTATIONS")
	if s == "" {
		return few
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func FuzzOpen(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte("ARROW1\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "t.arrow")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(path)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
			t.Errorf("%d bytes took %d", len(b), took)
		}
	})
}
