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
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/reports"
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

// asked is what a report is made from: the organisation's data and the
// parameters.
type asked struct {
	*reports.ReportRequest
	org      store.Org
	analyst  Analyst
	head     Head
	params   analytics.Params
	progress func(float64) // called with the progress, from 0 to 1
}

// makers read the data of a report, by type.
var makers = map[reporttype.Type]func(context.Context, *asked) (contents, error){
	reporttype.PatientSummary: readSummary,
	reporttype.Outcomes:       readOutcomes,
	reporttype.Population:     readPopulation,
	reporttype.Stewardship:    readStewardship,
}

// read reads the data of a report, all as of one time. progress is called with
// values from 0 to 1.
func read(ctx context.Context, analyst Analyst, o store.Org, q *reports.ReportRequest, progress func(float64)) (contents, error) {
	p, err := paramsOf(q)
	if err != nil {
		return nil, err
	}
	h, err := headOf(ctx, o, q, &p)
	if err != nil {
		return nil, err
	}
	maker := makers[q.Type]
	if maker == nil {
		return nil, fmt.Errorf("there is no report of type %q", q.Type)
	}
	return maker(ctx, &asked{q, o, analyst, h, p, progress})
}

func readSummary(ctx context.Context, a *asked) (contents, error) {
	chart, err := a.org.Chart(ctx, a.Patient)
	if err != nil {
		return nil, err
	}
	s, err := summary.Over(&chart, a.params.Period(), a.AsOf)
	return &PatientSummary{Head: a.head, Chart: &chart, Summary: &s}, err
}

func readOutcomes(ctx context.Context, a *asked) (contents, error) {
	result, err := a.analyst.Outcomes(ctx, a.org, &a.params, a.AsOf)
	return &Outcomes{Head: a.head, Result: result}, err
}

func readPopulation(ctx context.Context, a *asked) (contents, error) {
	result, err := a.analyst.Population(ctx, a.org, &a.params, a.AsOf)
	return &Population{Head: a.head, Result: result}, err
}

// headOf returns the head of a document. It omits the report's identifier, so
// that the same data as of the same time gives the same bytes.
func headOf(ctx context.Context, o store.Org, q *reports.ReportRequest, p *analytics.Params) (Head, error) {
	name, err := o.OrgName(ctx)
	period := p.Period()
	h := Head{Title: q.Title, Organisation: name, From: pain.DateOfDay(period.First), To: pain.DateOfDay(period.Last), AsOf: q.AsOf}
	declared, _ := reporttype.Of(q.Type)
	for _, numbers := range []bool{false, true} { // words first
		for of := range analytics.ParametersFor(declared.Takes) {
			if (of.Type == analytics.Whole) == numbers {
				h.add(of, p)
			}
		}
	}
	return h, err
}

// add adds an effective parameter. The period is shown elsewhere, and a number
// equal to its default is omitted.
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
func writeTo(w io.Writer, d contents, format reports.ReportFormat) error {
	switch format {
	case reports.PDF:
		return d.WritePDF(w)
	case reports.CSV:
		if list, ok := d.(interface{ listGrid() grid.Table }); ok {
			return grid.WriteCSV(w, []grid.Table{list.listGrid()})
		}
		return grid.WriteCSV(w, d.grids())
	case reports.XLSX:
		return grid.WriteXLSX(w, grid.Book{Title: d.head().Title, Created: d.head().AsOf}, d.grids())
	case reports.JSON:
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
