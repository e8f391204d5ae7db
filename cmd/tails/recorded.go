package main

import (
	"cmp"
	"slices"
)

// shuffled keeps every arrival and every pair of lengths, and forgets which came when.
func shuffled(real trace) (generate, error) {
	return func(seed uint64) (trace, error) {
		order := newDraws(seed, "order").Perm(len(real))
		t := slices.Clone(real)
		for i, j := range order {
			t[i].prompt, t[i].output = real[j].prompt, real[j].output
		}
		return t, nil
	}, nil
}

// redrawn keeps every arrival and its kind, and draws the pair anew from those of
// the kind. What it misses is noise of the lengths, which no model of arrivals avoids.
func redrawn(real trace) (generate, error) {
	kinds := kindsOf(real)
	return func(seed uint64) (trace, error) {
		pick := newDraws(seed, "pairs")
		t := slices.Clone(real)
		for _, kind := range kinds {
			for _, i := range kind {
				from := real[kind[pick.IntN(len(kind))]]
				t[i].prompt, t[i].output = from.prompt, from.output
			}
		}
		return t, nil
	}, nil
}

// kindsOf divides the requests into 32 kinds of like lengths: halves by the
// median prompt, their halves by the median output, and so on. Each kind is the
// indexes of its requests. Eight kinds would not do for a floor: the longest prompts
// would be one kind with the longer ones.
func kindsOf(t trace) [][]int {
	all := make([]int, len(t))
	for i := range all {
		all[i] = i
	}
	kinds := [][]int{all}
	prompt := func(i int) int32 { return t[i].prompt }
	output := func(i int) int32 { return t[i].output }
	for _, field := range []func(int) int32{prompt, output, prompt, output, prompt} {
		var halves [][]int
		for _, kind := range kinds {
			slices.SortStableFunc(kind, func(a, b int) int { return cmp.Compare(field(a), field(b)) })
			halves = append(halves, kind[:len(kind)/2], kind[len(kind)/2:])
		}
		kinds = halves
	}
	return kinds
}
