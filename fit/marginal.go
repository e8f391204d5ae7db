package fit

// A Marginal is the distribution of the lengths of all classes of an app together.
type Marginal struct {
	classes []*LengthDist
	weights []float64
}

// PromptTokens returns how long the app's prompts are, or nil where that is not known.
func (a *App) PromptTokens() *Marginal {
	return a.marginal(func(c *Class) *Lengths { return c.Prompt })
}

// OutputTokens returns how long the app's answers are, or nil where that is not known.
func (a *App) OutputTokens() *Marginal {
	return a.marginal(func(c *Class) *Lengths { return c.Output })
}

func (a *App) marginal(of func(*Class) *Lengths) *Marginal {
	m := new(Marginal)
	var known float64
	for i := range a.Classes {
		if l := of(&a.Classes[i]); l != nil {
			m.classes = append(m.classes, l.Dist())
			m.weights = append(m.weights, a.Classes[i].Weight)
			known += a.Classes[i].Weight
		}
	}
	if known == 0 {
		return nil
	}
	for i := range m.weights {
		m.weights[i] /= known
	}
	return m
}

// CDF returns the probability of a length of at most x tokens, as LengthDist.CDF.
func (m *Marginal) CDF(x float64) (p float64) {
	for i, d := range m.classes {
		p += m.weights[i] * d.CDF(x)
	}
	return p
}

// Quantile returns the least length, a whole number, whose cdf is p or more.
func (m *Marginal) Quantile(p float64) float64 {
	lo, hi := m.classes[0].Quantile(p), m.classes[0].Quantile(p)
	for _, d := range m.classes[1:] {
		q := d.Quantile(p)
		lo, hi = min(lo, q), max(hi, q)
	}
	for lo < hi {
		mid := float64(int64(lo+hi) / 2)
		if m.CDF(mid+.5) >= p {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
