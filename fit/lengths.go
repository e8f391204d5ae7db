package fit

// Lengths models the tokens of prompts or answers: point masses, and a smooth part
// that fills the rest. A length k of the smooth part has the probability
// F(k+1/2)-F(k-1/2), on 1..Max. All that describes the lengths as they would be
// without the limits in Censored, which then cut them.
type Lengths struct {
	Family   string      `yaml:"family,omitempty"` // of the smooth part; none where the spikes are all
	Params   []float64   `yaml:"params,omitempty,flow"`
	Tail     *Tail       `yaml:"tail,omitempty"` // in place of the family above its threshold
	Max      int32       `yaml:"max,omitempty"`  // tokens, the limit that cut the data; 0: none was seen
	Spikes   []Spike     `yaml:"spikes,omitempty"`
	Censored *Censored   `yaml:"censored,omitempty"`
	Fit      *Goodness   `yaml:"fit,omitempty"`
	Closest  string      `yaml:"closest,omitempty"`  // where it is a histogram: the named family that missed least, and by what
	Rejected []Candidate `yaml:"rejected,omitempty"` // what else was tried, fewest bits first, and what was not
}

// fitLengths fits the lengths of both folds. Where hardly any is whole, the limits are
// taken for lengths, for there is nothing that says what would have come beyond.
func fitLengths(folds folded) (*Lengths, error) {
	if folds.n() == 0 {
		return nil, errNoData
	}
	if whole := folds.whole(); whole < minRequests || whole < folds.n()/20 {
		folds = folds.uncut()
	}
	data, either := folds.each()
	smooth, spikes := takeSpikes(data)
	l := &Lengths{Spikes: spikes, Censored: data.limits()}
	if n := len(spikes); n > 0 && spikes[n-1].Cause == Cap {
		l.Max = int32(data.end())
		smooth.Hi = data.end()
	}
	for i := range l.Spikes {
		l.Spikes[i].Mass = round(l.Spikes[i].Mass)
	}
	known, plain := data.kaplanMeier(), smooth
	if len(known.Bins) > judgedBins {
		known, plain = binned(known), binned(smooth)
	}
	if smooth.whole() == 0 {
		l.Spikes = wholeMass(l.Spikes)
		l.Fit = judge(known, l.Uncut())
		return l, nil
	}
	c := contest{families: Families, data: likely(smooth), plain: plain}
	for i, f := range either {
		c.folds[i] = likely(smooth.shareOf(f, data))
	}
	c.judge = func(f Family, params []float64) *Goodness { return judge(known, l.dist(f.Dist(params))) }
	won, err := c.run()
	if err != nil {
		return nil, err
	}
	l.Family, l.Params, l.Fit, l.Closest, l.Rejected = won.family, won.params, won.fit, won.closest, won.rejected
	l.addTail(c.data, known)
	return l, nil
}

// judgedBins is how many lengths are told apart where models are judged; more of them
// are grouped to 1 %.
const judgedBins = 1500

// addTail splices a tail to the family where the family misses the 99.9 % quantile and
// the tail comes nearer, and spoils nothing else.
func (l *Lengths) addTail(smooth, known Sample) {
	miss := func(g *Goodness) float64 { return max(g.Q999, -g.Q999) }
	if l.Family == histogram.Name || miss(l.Fit) <= max(acceptQ999, l.Fit.Noise.Q999) {
		return
	}
	with := *l
	if with.Tail = fitTail(smooth); with.Tail == nil || with.validate() != nil {
		return
	}
	g := judge(known, with.Uncut())
	if why, _ := g.misses(); why != "" || miss(g) >= miss(l.Fit) {
		return
	}
	g.BIC, g.Bits = l.Fit.BIC, l.Fit.Bits
	l.Tail, l.Fit = with.Tail, g
}

// wholeMass makes the masses add up to 1 where they are all there is.
func wholeMass(spikes []Spike) []Spike {
	rest := 1.
	for _, s := range spikes[1:] {
		rest -= s.Mass
	}
	spikes[0].Mass = rest
	return spikes
}

// Dist returns the distribution that l describes, cut where its limits cut. l must be valid.
func (l *Lengths) Dist() *LengthDist {
	d := l.Uncut()
	if l.Censored != nil {
		d.limits = l.Censored.At
	}
	return d
}

// Uncut returns the distribution of the lengths as they would be if no limit in
// Censored had cut them. l must be valid.
func (l *Lengths) Uncut() *LengthDist {
	if l.Family == "" {
		return l.dist(nil)
	}
	f, _ := lookup(Families, l.Family)
	return l.dist(f.Dist(l.Params))
}
