// Package report generates documents: PDF for people, and CSV, XLSX and JSON
// for programs.
//
// A document is a value that holds its data and can write itself. Its output
// is a pure function of that data and always has the same bytes, so nothing
// here uses a clock or the iteration order of a map.
package report

import (
	"time"

	"anodyne.example/anodyne/internal/pain"
)

// Head holds what every document states on its first page.
type Head struct {
	ID           string // of the report
	Title        string // defaults to the title of the type
	Organisation string
	// From and To are the first and last day of the period.
	From, To pain.Date
	// AsOf is the time of the data. It is also the creation date of the file,
	// so that the same data gives the same bytes.
	AsOf time.Time
	// Filters are the parameters in force, as printed.
	Filters []Filter
}

// Filter is one parameter of a report. Number is set for numeric parameters.
type Filter struct {
	Name, Value string
	Number      *int
}
