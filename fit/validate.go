package fit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"wavetank/traces"
)

const (
	shareSlack   = .001 // that rounded shares may miss 1 by
	mostListed   = 1000 // spikes, or limits: a fit has a quarter of that
	mostInAll    = 4096 // classes of all apps: each is tabulated when it is drawn from
	longestPause = 1e9  // seconds
)

// Validate says what is wrong with p, and where, by its path in the YAML.
func (p *Profile) Validate() error {
	if p.Version != version {
		return fmt.Errorf("profile: schema %d is not known, only %d", p.Version, version)
	}
	if err := finite(reflect.ValueOf(p), ""); err != nil {
		return err
	}
	if p.Source.Window <= 0 {
		return fmt.Errorf("source.window: %v is not a time span", p.Source.Window)
	}
	if keys[p.Source.By] == nil {
		return fmt.Errorf("source.by: %q is not app, model, tenant or none", p.Source.By)
	}
	return p.validateApps()
}

func (p *Profile) validateApps() error {
	if len(p.Apps) == 0 {
		return errors.New("apps: there is none")
	}
	var weights, means float64
	var classes int
	for _, name := range slices.Sorted(maps.Keys(p.Apps)) {
		a := p.Apps[name]
		if a == nil {
			return fmt.Errorf("apps.%s: is empty", name)
		}
		if err := a.validate(p.Source.Window); err != nil {
			return fmt.Errorf("apps.%s.%w", name, err)
		}
		weights += a.Weight
		means += a.Arrivals.Mean
		classes += len(a.Classes)
	}
	if classes > mostInAll {
		return fmt.Errorf("apps: they have %d classes together; it may be %d", classes, mostInAll)
	}
	if math.Abs(weights-1) > shareSlack {
		return fmt.Errorf("apps: the weights add up to %g, not 1", weights)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Apps)) {
		if a := p.Apps[name]; math.Abs(a.Weight-a.Arrivals.Mean/means) > shareSlack {
			return fmt.Errorf("apps.%s.weight: is %g, but its arrivals.mean is %.4g of all", name, a.Weight, a.Arrivals.Mean/means)
		}
	}
	return nil
}

// finite finds numbers that are none, and negative ones where a count stands.
func finite(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return finite(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if err := finite(v.Field(i), strings.TrimPrefix(path+"."+key, ".")); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, k := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			if err := finite(v.MapIndex(k), path+"."+k.String()); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := finite(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s: %g is not a number to work with", path, f)
		}
	case reflect.Int64, reflect.Int32:
		if v.Int() < 0 {
			return fmt.Errorf("%s: %d is negative", path, v.Int())
		}
	}
	return nil
}

func (a *App) validate(window time.Duration) error {
	if a.Weight <= 0 || a.Weight > 1 {
		return fmt.Errorf("weight: %g does not lie in 0..1", a.Weight)
	}
	if len(a.Classes) == 0 || len(a.Classes) > mostClasses {
		return fmt.Errorf("classes: there are %d; it may be 1 to %d", len(a.Classes), mostClasses)
	}
	var weights float64
	for i := range a.Classes {
		if err := a.Classes[i].validate(); err != nil {
			return fmt.Errorf("classes[%d].%w", i, err)
		}
		weights += a.Classes[i].Weight
	}
	if math.Abs(weights-1) > shareSlack {
		return fmt.Errorf("classes: the weights add up to %g, not 1", weights)
	}
	if err := a.Arrivals.validate(window, len(a.Classes)); err != nil {
		return fmt.Errorf("arrivals.%w", err)
	}
	if s := total(a.Outcomes); len(a.Outcomes) > 0 && math.Abs(s-1) > shareSlack {
		return fmt.Errorf("outcomes: the shares add up to %g, not 1", s)
	}
	for _, s := range slices.Sorted(maps.Keys(a.Outcomes)) {
		if a.Outcomes[s] < 0 || !slices.Contains(traces.Statuses, s) {
			return fmt.Errorf("outcomes.%s: no such status, or a negative share", s)
		}
	}
	return errors.Join(
		within("failures", a.Failures, func() error { return a.Failures.validate(window) }),
		within("sessions", a.Sessions, a.Sessions.validate),
		within("clients", a.Clients, a.Clients.validate),
	)
}

// within runs check if there is something to check, and says where an error is.
func within[T any](path string, of *T, check func() error) error {
	if of == nil {
		return nil
	}
	if err := check(); err != nil {
		return fmt.Errorf("%s.%w", path, err)
	}
	return nil
}

func (c *Class) validate() error {
	if c.Weight <= 0 || c.Weight > 1 {
		return fmt.Errorf("weight: %g does not lie in 0..1", c.Weight)
	}
	for _, m := range slices.Sorted(maps.Keys(c.Models)) {
		if c.Models[m] < 0 {
			return fmt.Errorf("models.%s: the share is negative", m)
		}
	}
	if s := total(c.Models); s > 1+shareSlack {
		return fmt.Errorf("models: the shares add up to %g, more than 1", s)
	}
	return errors.Join(
		within("prompt", c.Prompt, c.Prompt.validate),
		within("output", c.Output, c.Output.validate),
		within("reasoning", c.Reasoning, c.Reasoning.validate),
		within("cached", c.Cached, c.Cached.validate),
		within("dependence", c.Dependence, c.Dependence.validate),
	)
}

func (s *Sessions) validate() error {
	if !(s.Share > 0 && s.Share <= 1+shareSlack) {
		return fmt.Errorf("share: %g does not lie in 0..1", s.Share)
	}
	if s.Pauses != nil {
		if err := valid(GapFamilies, s.Pauses.Family, s.Pauses.Params); err != nil {
			return fmt.Errorf("pauses.%w", err)
		}
		if !(s.Pauses.Mean > 0 && s.Pauses.Mean <= longestPause) {
			return fmt.Errorf("pauses.mean: %g does not lie in 0..%g seconds", s.Pauses.Mean, longestPause)
		}
	}
	return within("turns", s.Turns, s.Turns.validate)
}

func total[K comparable](shares map[K]float64) (sum float64) {
	for _, s := range shares {
		sum += s
	}
	return sum
}

func valid(families []Family, name string, params []float64) error {
	f, ok := lookup(families, name)
	if !ok {
		return fmt.Errorf("family: %q is not known", name)
	}
	return f.Check(params)
}

// validateSpikes returns what share of the lengths they have together.
func (l *Lengths) validateSpikes() (mass float64, err error) {
	if len(l.Spikes) > mostListed {
		return 0, fmt.Errorf("spikes: there are %d; it may be %d", len(l.Spikes), mostListed)
	}
	for i, s := range l.Spikes {
		if s.Value < 1 || i > 0 && s.Value <= l.Spikes[i-1].Value {
			return 0, fmt.Errorf("spikes[%d].value: %d is below 1 or does not ascend", i, s.Value)
		}
		if s.Mass <= 0 || s.Cause != Cap && s.Cause != Template {
			return 0, fmt.Errorf("spikes[%d]: mass must be above 0 and cause cap or template", i)
		}
		if l.Max > 0 && s.Value > l.Max {
			return 0, fmt.Errorf("spikes[%d].value: %d is above max, %d", i, s.Value, l.Max)
		}
		mass += s.Mass
	}
	if mass > 1+shareSlack {
		return 0, fmt.Errorf("spikes: the masses add up to %g, more than 1", mass)
	}
	return mass, nil
}

func (l *Lengths) validate() error {
	mass, err := l.validateSpikes()
	if err != nil {
		return err
	}
	if err := l.Censored.validate(); err != nil {
		return fmt.Errorf("censored.%w", err)
	}
	if l.Family == "" {
		if l.Tail != nil {
			return fmt.Errorf("tail: there is no family that it could be the tail of")
		}
		if math.Abs(mass-1) > shareSlack {
			return fmt.Errorf("spikes: without a family the masses must add up to 1, not %g", mass)
		}
		return nil
	}
	if err := valid(Families, l.Family, l.Params); err != nil {
		return err
	}
	if err := l.Tail.validate(); err != nil {
		return fmt.Errorf("tail.%w", err)
	}
	f, _ := lookup(Families, l.Family)
	if l.Tail != nil && !(f.Dist(l.Params).CDF(l.Tail.From) > minNorm) {
		return fmt.Errorf("tail.from: almost nothing of this %s lies below %g", l.Family, l.Tail.From)
	}
	if d := l.Uncut(); d.smooth != nil && !(d.norm > minNorm) {
		return fmt.Errorf("params: almost nothing of this %s lies in 1..%g", l.Family, d.max)
	}
	return nil
}
