package replay

import "wavetank/traces"

// Retime reads r with the arrivals at which Run would make its rows due: for a
// target that has no clock of its own. Concurrency, which knows no arrivals
// before the answers come, leaves them as they are.
func Retime(r traces.Reader, o Options) (traces.Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	due := o.schedule()
	return traces.ReaderFunc(func(rec *traces.Record) error {
		err := r.Read(rec)
		if err == nil {
			rec.Arrival = due(rec.Arrival)
		}
		return err
	}), nil
}
