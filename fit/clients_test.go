package fit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// pool is traffic like that of a multi-tenant service (ServeGen's pools: tens of clients
// whose rates fall with the rank to the power of 2, the first with 30 %), with bursts.
type pool struct {
	weights, sigma []float64
	memory         time.Duration
}

func newPool(n int, sigma float64) pool {
	p := pool{memory: 10 * time.Minute}
	var total float64
	for i := range n {
		p.weights = append(p.weights, math.Pow(float64(i+2), -2))
		p.sigma = append(p.sigma, sigma*float64((i+1)%3)/2) // every third is steady
		total += p.weights[i]
	}
	for i := range p.weights {
		p.weights[i] /= total
	}
	return p
}

// moving is the true mean and coefficient of variation of a client's share.
type moving struct{ share, cv float64 }

// arrivals draws requests at an uneven rate with the client of each, and returns the
// heaviest clients.
func (p pool) arrivals(n int, mean time.Duration, seed uint64, each func(client int, t time.Duration)) (heaviest []moving) {
	src := rand.New(rand.NewPCG(seed, 81))
	k := len(p.weights)
	z, shares := make([]float64, k), make([]float64, k)
	for i := range z {
		z[i] = src.NormFloat64()
	}
	heaviest = make([]moving, min(k, 12))
	const step = 10 * time.Second
	keep := math.Exp(-step.Seconds() / p.memory.Seconds())
	var now, next time.Duration
	for range n {
		for ; now >= next; next += step {
			var total float64
			for i := range z {
				z[i] = keep*z[i] + math.Sqrt(1-keep*keep)*src.NormFloat64()
				shares[i] = p.weights[i] * math.Exp(p.sigma[i]*z[i])
				total += shares[i]
			}
			for i := range shares {
				shares[i] /= total
			}
		}
		for i := range heaviest {
			heaviest[i].share += shares[i] / float64(n)
			heaviest[i].cv += shares[i] * shares[i] / float64(n)
		}
		u, i := src.Float64(), 0
		for ; i < k-1 && u > shares[i]; i++ {
			u -= shares[i]
		}
		each(i, now)
		now += time.Duration(src.ExpFloat64() * float64(mean) * (1 + .8*math.Sin(now.Hours())))
	}
	for i, h := range heaviest {
		heaviest[i].cv = math.Sqrt(h.cv/(h.share*h.share) - 1)
	}
	slices.SortFunc(heaviest, func(a, b moving) int { return cmp.Compare(b.share, a.share) })
	return heaviest
}

// Weights and burstiness come back from counts, and what is picked by them has them again.
func TestClientsAreRecovered(t *testing.T) {
	t.Parallel()
	tally := newClientTally()
	var times []time.Duration
	truth := newPool(60, 1).arrivals(200_000, 1400*time.Millisecond, 1, func(client int, at time.Duration) {
		tally.add(fmt.Sprint("client", client), at)
		times = append(times, at)
	})
	c := tally.fit("tenant")
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	if c.Count != 60 || len(c.Weights) != clientRanks || c.Tail <= 0 {
		t.Fatalf("%d clients, %d weights, tail %g", c.Count, len(c.Weights), c.Tail)
	}
	// Means over the 78 hours err by 2 sd cv sqrt(2 tau / T) = .13 cv.
	check := func(what string, got *Clients, want []moving) {
		for i, w := range want[:3] {
			if off := math.Abs(got.Weights[i]/w.share - 1); off > .03+.13*w.cv {
				t.Errorf("%s: weight %d is %.4f, want %.4f", what, i, got.Weights[i], w.share)
			}
			if math.Abs(got.Burst[i]-w.cv) > max(.25*w.cv, .1) {
				t.Errorf("%s: burst %d is %.3f, want %.3f", what, i, got.Burst[i], w.cv)
			}
			if m := got.Memory[i]; w.cv > .3 && (m < 5*time.Minute || m > 20*time.Minute) {
				t.Errorf("%s: memory %d is %v, want 10m", what, i, m)
			}
		}
	}
	t.Log(truth[:3], c.Memory[:3])
	check("fitted", c, truth)
	again := newClientTally()
	picker := c.Picker(7)
	src := rand.New(rand.NewPCG(2, 3))
	for _, at := range times {
		again.add(fmt.Sprint("client", picker.Pick(at, Uniform(src))), at)
	}
	c2 := again.fit("tenant")
	var asked []moving
	for i := range 3 {
		asked = append(asked, moving{c.Weights[i], c.Burst[i]})
	}
	t.Log(asked, c2.Memory[:3])
	if c2.Count != 60 {
		t.Errorf("%d clients were picked", c2.Count)
	}
	check("picked", c2, asked)
}

// Steady clients are found steady, however uneven the whole.
func TestSteadyClients(t *testing.T) {
	tally := newClientTally()
	newPool(20, 0).arrivals(100_000, time.Second, 2, func(client int, at time.Duration) { tally.add(fmt.Sprint(client), at) })
	c := tally.fit("user")
	for i, b := range c.Burst {
		if b > .05 {
			t.Errorf("client %d bursts by %g", i, b)
		}
	}
	if c.Tail != 0 || len(c.Weights) != 20 {
		t.Errorf("%d weights, tail %g", len(c.Weights), c.Tail)
	}
}

// A picker depends on its seed alone, and not on when it is asked.
func TestPickerIsDeterministic(t *testing.T) {
	c := &Clients{Field: "user", Count: 12, Weights: []float64{.6, .3}, Tail: .1, Burst: []float64{1, .5, 0},
		Memory: []time.Duration{time.Minute, time.Hour, 0}}
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	a, b, other := c.Picker(1), c.Picker(1), c.Picker(2)
	differ := 0
	for i := range 2000 {
		at := time.Duration(i) * time.Second
		u := math.Mod(float64(i)*.618+.001, 1)
		if i%7 == 0 && a.Pick(at, u) != b.Pick(at, u) {
			t.Fatalf("at %v they differ", at)
		}
		k := a.Pick(at, u)
		if k < 0 || k >= 12 {
			t.Fatalf("client %d was picked", k)
		}
		if other.Pick(at, u) != k {
			differ++
		}
	}
	if differ == 0 {
		t.Error("the seed does not matter")
	}
}

// Many clients are counted in bounded memory: the heaviest keep their minutes.
func TestManyClients(t *testing.T) {
	tally := newClientTally()
	tally.most = 5000
	var n int64
	for minute := range 600 {
		at := time.Duration(minute) * time.Minute
		for range 20 * (1 + minute/10%2) {
			tally.add("heavy", at)
		}
		for i := range 20 {
			tally.add(fmt.Sprint(minute*20+i), at)
		}
		n += 20 + int64(20*(1+minute/10%2))
	}
	if tally.kept > 5000+20 {
		t.Errorf("%d counts are kept", tally.kept)
	}
	c := tally.fit("user")
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	if want := 600 * 30. / float64(n); c.Count != 12_001 || math.Abs(c.Weights[0]-want) > 1e-5 {
		t.Errorf("%d clients, the first with %g, want %g", c.Count, c.Weights[0], want)
	}
	if c.Burst[0] < .05 {
		t.Errorf("the heavy client's burst is lost: %g", c.Burst[0])
	}
}

func TestOddClients(t *testing.T) {
	one := newClientTally()
	for i := range 100 {
		one.add("only", time.Duration(i)*time.Second)
	}
	if c := one.fit("user"); c != nil {
		t.Errorf("one client is %+v", c)
	}
	if c := newClientTally().fit("user"); c != nil {
		t.Errorf("none is %+v", c)
	}
	instant := newClientTally()
	for i := range 1000 {
		instant.add(fmt.Sprint(i%3), 0)
	}
	c := instant.fit("user")
	if err := c.validate(); err != nil {
		t.Error(err)
	}
	if k := c.Picker(1).Pick(0, .999999); k != 2 {
		t.Errorf("the last is %d", k)
	}
	good := Clients{Field: "user", Count: 2, Weights: []float64{.5, .5}, Burst: []float64{0, 0}, Memory: []time.Duration{0, 0}}
	for _, bad := range []struct {
		spoil func(*Clients)
		want  string
	}{
		{func(c *Clients) { c.Field = "app" }, "field"},
		{func(c *Clients) { c.Burst = nil }, "burst"},
		{func(c *Clients) { c.Count = 1 }, "count"},
		{func(c *Clients) { c.Weights = []float64{.4, .6} }, "weights[1]"},
		{func(c *Clients) { c.Weights = []float64{.4, .3} }, "do not add up"},
		{func(c *Clients) { c.Burst = []float64{0, .5} }, "burst[1]"},
	} {
		c := good
		bad.spoil(&c)
		if err := c.validate(); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("got %v, want %s", err, bad.want)
		}
	}
}

func BenchmarkPick(b *testing.B) {
	tally := newClientTally()
	newPool(80, 1).arrivals(100_000, time.Second, 1, func(client int, at time.Duration) { tally.add(fmt.Sprint(client), at) })
	picker := tally.fit("user").Picker(1)
	src := rand.New(rand.NewPCG(2, 3))
	var at time.Duration
	for b.Loop() {
		picker.Pick(at, src.Float64())
		at += 100 * time.Millisecond
	}
}
