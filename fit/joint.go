package fit

import (
	"math"
	"math/rand/v2"
)

const jointDraws = 20_000 // points of each side that the energy distance is taken of

// judge judges the classes of a together: by points drawn from them, and by what they
// leave of the drift of the mix. It is nil where prompt and output are hardly ever known both.
func (g *group) judge(a *App) *Joint {
	pairs := make(map[[2]int32]int64)
	lengths := [2]counts{make(counts), make(counts)}
	drift := [2]*driftTally{newDriftTally(len(a.Classes)), newDriftTally(len(a.Classes))}
	var n int64
	for _, r := range g.rows {
		if r.prompt == 0 || r.output == 0 {
			continue
		}
		pairs[r.bins]++
		for i, v := range []int32{r.prompt, r.output} {
			lengths[i].add(v)
			drift[i].add(r.at, int(r.class), float64(v))
		}
		n++
	}
	drawn := drawPoints(a.Classes, int(min(n, jointDraws)))
	if n < minRequests || len(drawn) == 0 {
		return nil
	}
	energy, floor := jointEnergy(spotsOf(pairs), drawn)
	return &Joint{
		Energy: round(energy), Floor: round(floor),
		PromptKS: round(KS(lengths[0].exact(), a.PromptTokens().CDF)), OutputKS: round(KS(lengths[1].exact(), a.OutputTokens().CDF)),
		PromptDrift: round(drift[0].ratio()), OutputDrift: round(drift[1].ratio()),
	}
}

func drawPoints(classes []Class, n int) [][2]float64 {
	src := rand.New(rand.NewPCG(1, 2))
	drawers := make([]*Drawer, len(classes))
	for i := range classes {
		drawers[i] = classes[i].Drawer()
	}
	out := make([][2]float64, 0, n)
	for range n {
		t := drawers[classAt(classes, src.Float64())].Draw(&[4]float64{Uniform(src), Uniform(src), Uniform(src), Uniform(src)})
		if t.Prompt == 0 || t.Output == 0 {
			continue
		}
		out = append(out, [2]float64{math.Log(float64(t.Prompt)), math.Log(float64(t.Output))})
	}
	return out
}

func classAt(classes []Class, u float64) int {
	for i, c := range classes {
		if u -= c.Weight; u < 0 {
			return i
		}
	}
	return len(classes) - 1
}
