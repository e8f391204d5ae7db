package fit

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

const (
	pickDraws  = 2000 // that the movement is tuned on
	pickRounds = 15
	pickSigma  = 4 // of the logarithm of a weight at most
	pickFirst  = 5 * time.Second
	pickLast   = time.Minute
)

// A ClientPicker says which client sends a request. It divides what arrives and adds
// and delays nothing. Each client's weight is multiplied by a lognormal process whose
// logarithm is an Ornstein-Uhlenbeck process, so that shares move as they were seen to.
type ClientPicker struct {
	shares  []float64 // base weights; the last is the tail's, if there is one
	sigma   []float64
	keep    []float64 // correlation from one step to the next
	z       []float64 // present state of the processes
	upTo    []float64 // cumulative shares at present
	step    time.Duration
	steps   time.Duration // that have passed
	own     int           // clients with a weight of their own
	merged  int
	normals *rand.Rand
}

// Picker returns a picker that depends on c and the seed alone. c must be valid.
func (c *Clients) Picker(seed uint64) *ClientPicker {
	p := &ClientPicker{
		own: len(c.Weights), merged: int(c.Count) - len(c.Weights), step: pickLast,
		normals: rand.New(rand.NewPCG(seed, 0x636c69656e74)),
	}
	wanted := append([]float64(nil), c.Weights...)
	if c.Tail > 0 {
		wanted = append(wanted, c.Tail)
	}
	for i, b := range c.Burst {
		if b > 0 {
			p.step = min(p.step, max(c.Memory[i]/4, pickFirst))
		}
	}
	for i := range wanted {
		p.keep = append(p.keep, math.Exp(-p.step.Seconds()/max(c.Memory[i].Seconds(), 1)))
		p.z = append(p.z, normal(p.normals))
	}
	p.tune(wanted, c.Burst)
	p.divide()
	return p
}

// Pick returns the rank of the client, from 0 for the heaviest, that sends a request at
// time t by a uniform u in (0, 1). t never decreases from call to call. The clients of
// the tail are alike.
func (p *ClientPicker) Pick(t time.Duration, u float64) int {
	if steps := t / p.step; steps > p.steps {
		p.move(float64(steps - p.steps))
		p.divide()
		p.steps = steps
	}
	i := min(sort.SearchFloat64s(p.upTo, u), len(p.upTo)-1)
	if i < p.own {
		return i
	}
	below := 0.
	if i > 0 {
		below = p.upTo[i-1]
	}
	within := int((u - below) / (1 - below) * float64(p.merged))
	return p.own + min(within, p.merged-1)
}

// move goes on by so many steps, in one: a silence may be long.
func (p *ClientPicker) move(steps float64) {
	for i, keep := range p.keep {
		if p.sigma[i] > 0 {
			a := math.Pow(keep, steps)
			p.z[i] = a*p.z[i] + math.Sqrt(1-a*a)*normal(p.normals)
		}
	}
}

func (p *ClientPicker) divide() {
	p.upTo = divided(p.shares, p.sigma, p.z, p.upTo[:0])
	for i := 1; i < len(p.upTo); i++ {
		p.upTo[i] += p.upTo[i-1]
	}
}

// divided appends the shares when the processes are at z.
func divided(base, sigma, z, out []float64) []float64 {
	var total float64
	for i, w := range base {
		w *= math.Exp(sigma[i]*z[i] - sigma[i]*sigma[i]/2)
		out, total = append(out, w), total+w
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// tune finds the base weights and sigmas whose shares have the wanted means and
// coefficients of variation: dividing by the sum of all weights changes both. It is a
// fixed point on the same draws of the processes in every round.
func (p *ClientPicker) tune(wanted, burst []float64) {
	k := len(wanted)
	p.shares = append([]float64(nil), wanted...)
	for _, b := range burst {
		p.sigma = append(p.sigma, math.Sqrt(math.Log1p(b*b)))
	}
	src := rand.New(rand.NewPCG(1, 0x74756e65))
	z := make([]float64, pickDraws*k)
	for i := range z {
		z[i] = normal(src)
	}
	shares := make([]float64, 0, k)
	for range pickRounds {
		mean, square := make([]float64, k), make([]float64, k)
		for d := range pickDraws {
			shares = divided(p.shares, p.sigma, z[d*k:(d+1)*k], shares[:0])
			for i, s := range shares {
				mean[i] += s / pickDraws
				square[i] += s * s / pickDraws
			}
		}
		for i := range wanted {
			if mean[i] > 0 {
				p.shares[i] *= wanted[i] / mean[i]
			}
			if cv := math.Sqrt(max(square[i]/(mean[i]*mean[i])-1, 0)); cv > 0 {
				p.sigma[i] = min(p.sigma[i]*min(max(burst[i]/cv, .5), 2), pickSigma)
			}
		}
	}
}
