package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/report/grid"
	"anodyne.example/anodyne/internal/store"
)

// Analyst computes the analytics. It is implemented by internal/cohort.
type Analyst interface {
	// Outcomes returns the treatment outcomes of an organisation's patients.
	Outcomes(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Outcomes, error)
	// Population returns the population health of an organisation's patients.
	Population(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Population, error)
}

// contents is a report with its data.
type contents interface {
	WritePDF(w io.Writer) error
	writeJSON(w io.Writer) error
	grids() []grid.Table
	head() *Head
}

// read reads the data of a report, all as of one time. progress is called with
// values from 0 to 1.
func read(ctx context.Context, analyst Analyst, o store.Org, q *store.ReportRequest, progress func(float64)) (contents, error) {
	p, err := paramsOf(q)
	if err != nil {
		return nil, err
	}
	h, err := headOf(ctx, o, q, &p)
	if err != nil {
		return nil, err
	}
	switch q.Type {
	case store.PatientSummaryReport:
		chart, err := o.Chart(ctx, q.Patient)
		if err != nil {
			return nil, err
		}
		s, err := summary.Over(&chart, p.Period(), q.AsOf)
		return &PatientSummary{Head: h, Chart: &chart, Summary: &s}, err
	case store.OutcomesReport:
		result, err := analyst.Outcomes(ctx, o, &p, q.AsOf)
		return &Outcomes{Head: h, Result: result}, err
	case store.PopulationReport:
		result, err := analyst.Population(ctx, o, &p, q.AsOf)
		return &Population{Head: h, Result: result}, err
	case store.StewardshipReport:
		return readStewardship(ctx, o, h, &p, progress)
	}
	return nil, fmt.Errorf("there is no report of type %q", q.Type)
}

// headOf returns the head of a document. It omits the report's identifier, so
// that the same data as of the same time gives the same bytes.
func headOf(ctx context.Context, o store.Org, q *store.ReportRequest, p *analytics.Params) (Head, error) {
	name, err := o.OrgName(ctx)
	period := p.Period()
	h := Head{Title: q.Title, Organisation: name, From: pain.DateOfDay(period.First), To: pain.DateOfDay(period.Last), AsOf: q.AsOf}
	for _, numbers := range []bool{false, true} { // words first
		for of := range analytics.ParametersFor(takes[q.Type]) {
			if (of.Type == analytics.Whole) == numbers {
				h.add(of, p)
			}
		}
	}
	return h, err
}

// add says a parameter in force. The period has its own place, and a number that
// is its default goes without saying.
func (h *Head) add(of *analytics.Parameter, p *analytics.Params) {
	switch value := of.Value(p).(type) {
	case string:
		if of.Type != analytics.Day || !of.Repeated {
			h.Filters = append(h.Filters, Filter{Name: of.Name, Value: value})
		}
	case int:
		text := strconv.Itoa(value)
		if of.Type == analytics.Whole && text == of.Default {
			return
		}
		if of.Unit != "" {
			text += " " + of.Unit
		}
		h.Filters = append(h.Filters, Filter{Name: of.Name, Value: text, Number: &value})
	}
}

func (h *Head) head() *Head { return h }

// writeTo writes a report in a format.
func writeTo(w io.Writer, d contents, format store.ReportFormat) error {
	switch format {
	case store.PDF:
		return d.WritePDF(w)
	case store.CSV:
		if list, ok := d.(interface{ listGrid() grid.Table }); ok {
			return grid.WriteCSV(w, []grid.Table{list.listGrid()})
		}
		return grid.WriteCSV(w, d.grids())
	case store.XLSX:
		return grid.WriteXLSX(w, grid.Book{Title: d.head().Title, Created: d.head().AsOf}, d.grids())
	case store.JSON:
		return d.writeJSON(w)
	}
	return fmt.Errorf("there is no format %q", format)
}

// encode writes a value in the format of API responses.
func encode(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// The JSON form of these reports is the response of the API.

func (d *PatientSummary) writeJSON(w io.Writer) error { return encode(w, d.Summary) }
func (d *Outcomes) writeJSON(w io.Writer) error       { return encode(w, d.Result) }
func (d *Population) writeJSON(w io.Writer) error     { return encode(w, d.Result) }
