// Package report makes documents out of what the platform knows: PDF for
// people, CSV, XLSX and JSON for programs.
//
// A document is a value that holds its data and knows how to write itself. It
// is a pure function of that data: written again it gives the same bytes, so
// nothing here looks at a clock, and a map is never walked unsorted.
package report

import (
	"time"

	"anodyne.example/anodyne/internal/pain"
)

// Head is what every document says of itself on its first page.
type Head struct {
	ID           string // of the report
	Title        string // "" for that of the type
	Organisation string
	// From and To are the period, both included.
	From, To pain.Date
	// AsOf is the moment of the data. It is also the creation date in the
	// file, so that the same data gives the same bytes.
	AsOf time.Time
	// Filters are the parameters in force, as they are to be printed.
	Filters []Filter
}

// Filter is one parameter of a report. Number is what is counted with, of those
// that are numbers.
type Filter struct {
	Name, Value string
	Number      *int
}
