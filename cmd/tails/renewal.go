package main

import "slices"

// renewal makes a trace of independent gaps and lengths over the real span.
func renewal(real trace, gaps, prompt, output sampler) generate {
	return func(seed uint64) (t trace, err error) {
		gap, in, out := newDraws(seed, "gaps"), newDraws(seed, "prompt"), newDraws(seed, "output")
		end := real.span().Seconds()
		for at := gaps(gap.unit()); at < end; at += gaps(gap.unit()) {
			t = append(t, request{seconds(at), int32(prompt(in.unit())), int32(output(out.unit()))})
		}
		return t, nil
	}
}

func poissonNormal(real trace) (generate, error) {
	return renewal(real, gammaGaps(1, 1/real.rate()), clampedNormal(real.prompts()), clampedNormal(real.outputs())), nil
}

func poissonLognormal(real trace) (generate, error) {
	return renewal(real, gammaGaps(1, 1/real.rate()), clampedLognormal(real.prompts()), clampedLognormal(real.outputs())), nil
}

func gammaCV(real trace) (generate, error) {
	mean, sd := moments(real.gaps())
	return renewal(real, gammaGaps(mean*mean/(sd*sd), mean), clampedLognormal(real.prompts()), clampedLognormal(real.outputs())), nil
}

func gammaLikelihood(real trace) (generate, error) {
	gaps := positive(real.gaps())
	mean, _ := moments(gaps)
	return renewal(real, gammaGaps(gammaShape(gaps), mean), empirical(real.prompts()), empirical(real.outputs())), nil
}

// burstGPT keeps the published shape and exponent; the limits and the rate are the
// real trace's.
func burstGPT(real trace) (generate, error) {
	longest := func(xs []float64) int { return int(slices.Max(xs)) }
	return renewal(real, gammaGaps(.5, 1/real.rate()), zipf(1.1, longest(real.prompts())), zipf(1.1, longest(real.outputs()))), nil
}
