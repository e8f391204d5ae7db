package replay

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

// The interrupts: at 2.5 s of rows that come each second and take 10 s.
func TestDrainLetsWhatIsInFlightEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		time.AfterFunc(2500*time.Millisecond, func() { close(drain) })
		s := newServer(10 * time.Second)
		b, res := play(t, s, every(time.Second, 100), Options{Drain: drain})
		if !res.Partial || res.NotOffered != 97 || counts(b.recs)[traces.OK] != 3 {
			t.Errorf("%+v, %v", res, counts(b.recs))
		}
		if now := time.Since(s.start); now != 12*time.Second {
			t.Errorf("ended at %v", now)
		}
	})
}

func TestGraceEndsByHangingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		time.AfterFunc(2500*time.Millisecond, func() { close(drain) })
		s := newServer(10 * time.Second)
		b, res := play(t, s, every(time.Second, 100), Options{Drain: drain, Grace: 8 * time.Second})
		if c := counts(b.recs); !res.Partial || c[traces.OK] != 1 || c[traces.Cancelled] != 2 {
			t.Errorf("%+v, %v", res, c)
		}
	})
}

func TestEndOfContextHangsUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		s := newServer(10 * time.Second)
		var b book
		res, err := Run(ctx, s, traces.FromSlice(every(time.Second, 100)), &b, Options{})
		if err != nil || !res.Partial || res.NotOffered != 97 || counts(b.recs)[traces.Cancelled] != 3 {
			t.Errorf("%v, %+v, %v", err, res, counts(b.recs))
		}
		for _, rec := range b.recs {
			if rec.Outcome.Error.V != "interrupted" {
				t.Errorf("%+v", rec.Outcome)
			}
		}
		if now := time.Since(s.start); now != 2500*time.Millisecond {
			t.Errorf("ended at %v", now)
		}
	})
}

func TestWhatWasDueAndCouldNotBeSentIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		time.AfterFunc(2500*time.Millisecond, func() { close(drain) })
		b, res := play(t, newServer(10*time.Second), every(time.Second, 100), Options{Drain: drain, MaxInFlight: 1})
		if c := counts(b.recs); c[traces.OK] != 1 || c[traces.Dropped] != 2 || res.NotOffered != 97 {
			t.Errorf("%+v, %v", res, c)
		}
	})
}

func TestDrainStopsAClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		time.AfterFunc(2500*time.Millisecond, func() { close(drain) })
		b, res := play(t, newServer(time.Second), every(0, 100), Options{Drain: drain, Concurrency: 2})
		if c := counts(b.recs); c[traces.OK] != 6 || res.NotOffered != 94 {
			t.Errorf("%+v, %v", res, c)
		}
	})
}

func TestAFailingWriterStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		n := 0
		dst := traces.WriterFunc(func(*traces.Record) error {
			if n++; n > 3 {
				return full
			}
			return nil
		})
		s := newServer(time.Millisecond)
		res, err := Run(t.Context(), s, traces.FromSlice(every(time.Second, 1000)), dst, Options{})
		if !errors.Is(err, full) || res.Written != 3 || n != 4 || len(s.sent) > 5 {
			t.Errorf("%v, %+v, %d writes, %d sent", err, res, n, len(s.sent))
		}
	})
}

func TestAFailingReaderLetsWhatIsInFlightEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		src := traces.FromSlice(rows(0, 10*time.Second, 20*time.Second))
		n := 0
		failing := traces.ReaderFunc(func(rec *traces.Record) error {
			if n++; n > 2 {
				return broken
			}
			return src.Read(rec)
		})
		var b book
		res, err := Run(t.Context(), newServer(time.Minute), failing, &b, Options{Grace: time.Hour})
		if !errors.Is(err, broken) || !res.Partial || counts(b.recs)[traces.OK] != int(res.Offered) {
			t.Errorf("%v, %+v, %v", err, res, counts(b.recs))
		}
	})
}
