package report

import (
	"encoding/json"
	"io"
)

// SchemaVersion is that of the JSON report. It rises when a field changes its
// meaning or goes; new fields do not raise it.
const SchemaVersion = 1

var renderJSON = Renderer{
	Name:   "json",
	About:  "everything, for scripts: one object with schema_version and runs",
	Render: writeJSON,
}

func writeJSON(w io.Writer, runs []*Summary) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		SchemaVersion int        `json:"schema_version"`
		Runs          []*Summary `json:"runs"`
	}{SchemaVersion, append([]*Summary{}, runs...)})
}
