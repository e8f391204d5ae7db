package main

import "time"

const serveGenWindow = 600 * time.Second

// serveGen pins each window's count and stretches its gaps until they fill it, and
// inverts both lengths' distributions at one uniform, as ServeGen's published code does.
func serveGen(real trace) (generate, error) {
	prompt, output := empirical(real.prompts()), empirical(real.outputs())
	windows := split(real, serveGenWindow)
	return func(seed uint64) (t trace, err error) {
		gap, length := newDraws(seed, "gaps"), newDraws(seed, "lengths")
		for i, w := range windows {
			start := time.Duration(i) * serveGenWindow
			for _, at := range stretched(w, min(serveGenWindow, real.span()-start), gap) {
				u := length.unit()
				t = append(t, request{start + at, int32(prompt(u)), int32(output(u))})
			}
		}
		return t, nil
	}, nil
}

// split cuts a trace into windows of one width.
func split(t trace, width time.Duration) (windows []trace) {
	for _, q := range t {
		i := int((q.at - t[0].at) / width)
		for len(windows) <= i {
			windows = append(windows, nil)
		}
		windows[i] = append(windows[i], q)
	}
	return windows
}

// stretched draws as many arrivals as w has, with gaps that add up to width.
func stretched(w trace, width time.Duration, gap draws) []time.Duration {
	shape := 1.
	if len(w) > 2 {
		shape = gammaShape(positive(w.gaps()))
	}
	gaps := gammaGaps(shape, 1)
	sums := make([]float64, len(w))
	var sum float64
	for i := range sums {
		sum += gaps(gap.unit())
		sums[i] = sum
	}
	at := make([]time.Duration, len(w))
	for i, s := range sums {
		at[i] = seconds(s / sum * width.Seconds())
	}
	return at
}
