package report

import (
	"fmt"
	"io"
	"strings"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
)

// PatientSummary is the summary of one patient, on a single page if possible.
type PatientSummary struct {
	Head
	// Chart is the patient's data; history and medications are printed by name.
	Chart *summary.Chart
	// Summary is the summary of the chart as of Head.To.
	Summary *summary.Summary
}

// WritePDF writes the one-page summary that a clinician can hand to a
// colleague, and further pages if needed.
func (d *PatientSummary) WritePDF(w io.Writer) error {
	s := newSheet(&d.Head, "Pain summary")
	p := patientPages{sheet: s, PatientSummary: d}
	if err := p.read(); err != nil {
		return err
	}
	s.running = fmt.Sprintf("%s · born %s · %s · %s", d.Chart.Patient.ID, d.Chart.Patient.DateOfBirth, d.Chart.Patient.Name, s.title)
	p.header()
	p.tiles()

	// What must be on the first page is at its foot. The medicines fill the
	// space above it and continue on the next page if needed.
	definitions := p.definitions()
	foot := floor - blockHeight(fullWidth, definitions, small, 30)
	safety := foot - 8 - p.safetyHeight()
	p.curves(safety - 6 - p.leastMedications())
	rest := p.medications(safety - 6)
	p.safety(safety)
	s.block(margin, foot, fullWidth, definitions, small, 30)
	s.y = floor

	p.moreMedications(rest)
	p.instruments()
	p.procedures()
	p.diagnoses()
	return s.finish(w)
}

// patientPages writes the pages of a patient summary.
type patientPages struct {
	*sheet
	*PatientSummary
	history   []pain.HistoryEntry
	medicines map[string]pain.Medication // by record identifier
	drawn     figure.Curves
}

func (p *patientPages) read() (err error) {
	if p.history, err = p.Chart.Patient.MedicalHistory.Entries(); err != nil {
		return err
	}
	if p.drawn, err = figure.CurvesOf(p.Chart, p.Summary, p.From, p.To); err != nil {
		return err
	}
	p.medicines = map[string]pain.Medication{}
	for i := range p.Chart.Records {
		if rec := &p.Chart.Records[i]; rec.Type == pain.TypeMedications {
			if p.medicines[rec.ID.String()], err = pain.ReadMedication(rec.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *patientPages) header() {
	patient := &p.Chart.Patient
	const side = 150.0
	p.fitted(margin, p.y+6, fullWidth-side-16, strings.ToUpper(p.title), caption)
	height := p.heading(p.y+11, fullWidth-side-16, patient.Name)
	right := margin + fullWidth
	p.text(right, p.y+6, "PERIOD", caption.at(chart.End))
	p.text(right, p.y+18, fmt.Sprintf("%s to %s", p.From, p.To), strong.at(chart.End))
	p.text(right, p.y+32, "FIGURES AS OF", caption.at(chart.End))
	p.text(right, p.y+44, p.To.String(), strong.at(chart.End))
	p.y += 11 + height
	line := fmt.Sprintf("Born %s (%d years)", patient.DateOfBirth, patient.DateOfBirth.Age(p.To))
	for _, f := range pain.TextFields() {
		if text := f.Of(patient); f.Listed && text != "" {
			line += " · " + strings.TrimPrefix(f.Label+": "+text, ": ")
		}
	}
	p.fitted(margin, p.y+bodySize, fullWidth-side-16, line, body)
	p.fitted(margin, p.y+2.4*bodySize, fullWidth-side-16, patient.ID.String(), small)
	p.y += 3 * bodySize
	p.rule(p.y, chart.Grid)
	p.y += 8
}

// The heights of the charts. The pain chart shrinks to make room for what is
// below.
const (
	painHeight, leastPainHeight = 188.0, 105.0
	mmeHeight                   = 84.0
)

// curves draws the pain and dose charts so that they end above limit, if
// possible.
func (p *patientPages) curves(limit float64) {
	room := limit - p.y - mmeHeight - 2*figureFrame
	p.figure(fmt.Sprintf("Pain (%s)", p.drawn.Kind), p.drawn.Pain, min(max(room, leastPainHeight), painHeight))
	p.figure("Opioid dose (MME a day)", p.drawn.MME, mmeHeight)
}
