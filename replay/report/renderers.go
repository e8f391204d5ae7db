package report

import "io"

// A Renderer writes summaries in one format.
type Renderer struct {
	Name   string
	About  string
	Render func(io.Writer, []*Summary) error
}

// Renderers are all formats of a report; the first is the default.
var Renderers = []Renderer{renderText, renderJSON}
