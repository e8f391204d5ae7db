package fit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"wavetank/traces"
)

const (
	version    = 1
	maxProfile = 4 << 20 // bytes; read no further, whatever is sent
)

// A Profile describes the traffic of a trace without a request of it. It holds no
// prompt, no id and no absolute time.
type Profile struct {
	Version int             `yaml:"profile"` // of the schema: 1
	Source  Source          `yaml:"source"`
	Apps    map[string]*App `yaml:"apps"`
}

// Source says what a profile was fitted from.
type Source struct {
	Tool           string           `yaml:"tool,omitempty"`
	Requests       int64            `yaml:"requests"`
	Window         time.Duration    `yaml:"window"`             // from the first arrival to the last
	TimeResolution time.Duration    `yaml:"time_resolution"`    // of the arrivals
	By             By               `yaml:"by"`                 // what the apps are
	LeftOut        map[string]int64 `yaml:"left_out,omitempty"` // requests that were not fitted, by reason
}

// App describes one application's requests.
type App struct {
	Requests int64                     `yaml:"requests"`
	Weight   float64                   `yaml:"weight"` // share of the requests
	Arrivals Arrivals                  `yaml:"arrivals"`
	Classes  []Class                   `yaml:"classes"`            // at least one; what comes when differs among them
	Joint    *Joint                    `yaml:"joint,omitempty"`    // nil: lengths are not known, or only one kind of them
	Outcomes map[traces.Status]float64 `yaml:"outcomes,omitempty"` // shares; lengths are of ok and unknown alone
	Failures *Rate                     `yaml:"failures,omitempty"` // of the requests that did not get an answer; nil: hardly any
	Sessions *Sessions                 `yaml:"sessions,omitempty"` // nil: the trace names none
	Clients  *Clients                  `yaml:"clients,omitempty"`  // nil: the trace names none
}

// A Class is the requests of an app that are alike: of one tenant and model, where
// the trace names them and they are many, and within those of one component of a
// mixture of normals of (log prompt, log output). It has no name but its place.
type Class struct {
	Weight     float64            `yaml:"weight"`              // share of the app's requests
	Tenant     string             `yaml:"tenant,omitempty"`    // a pseudonym, by rank
	Models     map[string]float64 `yaml:"models,omitempty"`    // shares of the requests; the rest named none
	Prompt     *Lengths           `yaml:"prompt,omitempty"`    // nil: not known
	Output     *Lengths           `yaml:"output,omitempty"`    // nil: not known
	Reasoning  *Share             `yaml:"reasoning,omitempty"` // of the output; nil: not known
	Cached     *Share             `yaml:"cached,omitempty"`    // of the prompt; nil: not known
	Dependence *Dependence        `yaml:"dependence,omitempty"`
}

// Joint says how far the classes together are from the lengths that were observed.
// Beyond 10,000 requests Floor falls no further: nearer is near enough.
type Joint struct {
	Energy      float64 `yaml:"energy"`       // distance of (log prompt, log output) (Székely and Rizzo, 2004)
	Floor       float64 `yaml:"floor"`        // of Energy: two samples of the same data are no further apart, 95 % of the time
	PromptKS    float64 `yaml:"prompt_ks"`    // greatest distance of the cdfs
	OutputKS    float64 `yaml:"output_ks"`    // the same
	PromptDrift float64 `yaml:"prompt_drift"` // what moves in five minutes and the classes do not explain, over chance: 1 is all explained
	OutputDrift float64 `yaml:"output_drift"` // the same
}

// WriteTo writes p as YAML. Equal profiles are equal bytes.
func (p *Profile) WriteTo(w io.Writer) (int64, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(p), enc.Close()); err != nil {
		return 0, fmt.Errorf("writing profile: %w", err)
	}
	return buf.WriteTo(w)
}

// ReadProfile reads one profile and validates it. A profile may come from a
// stranger: at most 4 MiB are read, and a key that is not of the schema is refused.
func ReadProfile(r io.Reader) (*Profile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("reading profile: %w", err)
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("profile is larger than %d bytes", maxProfile)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	p := new(Profile)
	var wrong *yaml.TypeError
	if err := dec.Decode(p); errors.As(err, &wrong) {
		return nil, fmt.Errorf("profile: %s", strings.Join(wrong.Errors, "; "))
	} else if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("profile: more than one YAML document; keep one a file")
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return p, nil
}
