package fit

import "math"

// fields are the quantities of a request that go together, in the order of Drawer.Draw.
var fields = []string{"prompt", "output", partFields[0].name, partFields[1].name}

// Tokens are the lengths of one request; 0 is unknown but in the parts, where
// it is -1.
type Tokens struct {
	Prompt, Output    int32
	Reasoning, Cached int32 // part of the output, of the prompt
}

// A Drawer draws the lengths of the requests of one class.
type Drawer struct {
	lengths [2]*lengthTable // nil: unknown
	shares  [2]*Share
	place   [4]int // of each field in the copula, or -1
	lower   [][]float64
}

// Drawer returns what draws from c, which must be valid.
func (c *Class) Drawer() *Drawer {
	d := &Drawer{shares: [2]*Share{c.Reasoning, c.Cached}}
	for i, l := range []*Lengths{c.Prompt, c.Output} {
		if l != nil {
			d.lengths[i] = newLengthTable(l.Dist())
		}
	}
	for i, f := range fields {
		d.place[i] = c.Dependence.place(f)
	}
	if c.Dependence != nil {
		d.lower = c.Dependence.Cholesky()
	}
	return d
}

// Draw takes one uniform of (0, 1) for each of prompt, output, reasoning and cache,
// independent ones: one for several would have all long at once.
func (d *Drawer) Draw(u *[4]float64) Tokens {
	d.join(u)
	t := Tokens{Reasoning: unknownPart, Cached: unknownPart}
	if d.lengths[0] != nil {
		t.Prompt = d.lengths[0].at(u[0])
	}
	if d.lengths[1] != nil {
		t.Output = d.lengths[1].at(u[1])
	}
	if d.shares[0] != nil {
		t.Reasoning = partOf(d.shares[0], u[2], t.Output)
	}
	if d.shares[1] != nil {
		t.Cached = partOf(d.shares[1], u[3], t.Prompt)
	}
	return t
}

// join makes the uniforms depend on each other as the copula says.
func (d *Drawer) join(u *[4]float64) {
	if d.lower == nil {
		return
	}
	var z [4]float64
	for i, at := range d.place {
		if at >= 0 {
			z[at] = NormalQuantile(u[i])
		}
	}
	for i, at := range d.place {
		if at < 1 {
			continue // the first of a copula is as free as one that is in none
		}
		var sum float64
		for j, l := range d.lower[at] {
			sum += l * z[j]
		}
		u[i] = min(max(NormalCDF(sum), 1e-16), 1-1e-16)
	}
}

func partOf(s *Share, u float64, whole int32) int32 {
	return int32(math.Round(s.Quantile(u) * float64(whole)))
}

// place of a field in the copula, or -1.
func (d *Dependence) place(field string) int {
	if d != nil {
		for i, f := range d.Fields {
			if f == field {
				return i
			}
		}
	}
	return -1
}
