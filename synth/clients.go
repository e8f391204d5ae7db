package synth

import (
	"strconv"

	"wavetank/fit"
	"wavetank/traces"
)

// clients name who sends each request, by rank: the names that were are not known.
type clients struct {
	picker *fit.ClientPicker
	field  func(*traces.Request) *traces.Opt[string]
	draws  *draws
	prefix string
}

func newClients(c *fit.Clients, prefix string, d *draws) *clients {
	if c == nil {
		return nil
	}
	out := &clients{picker: c.Picker(d.pcg.Uint64()), draws: d, prefix: prefix + c.Field + "-"}
	out.field = func(r *traces.Request) *traces.Opt[string] { return &r.User }
	if c.Field == "tenant" {
		out.field = func(r *traces.Request) *traces.Opt[string] { return &r.Tenant }
	}
	return out
}

// name leaves a tenant alone whose requests are a class of their own.
func (c *clients) name(r *traces.Request) {
	client := c.picker.Pick(r.Arrival, c.draws.next())
	if f := c.field(r); !f.Known {
		*f = traces.Some(c.prefix + strconv.Itoa(client+1))
	}
}
