package report

import (
	"io"

	"anodyne/internal/analytics"
)

// Outcomes is how patients fared.
type Outcomes struct {
	Head
	Result *analytics.Outcomes
}

// Population is how patients are.
type Population struct {
	Head
	Result *analytics.Population
}

func (d *Outcomes) WritePDF(w io.Writer) error    { return nil }
func (d *Population) WritePDF(w io.Writer) error  { return nil }
func (d *Stewardship) WritePDF(w io.Writer) error { return nil }
