package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"anodyne/internal/chart"
	"anodyne/internal/pain"
	"anodyne/internal/pain/summary"
)

// PatientSummary is one patient, on one page as far as it goes.
type PatientSummary struct {
	Head
	// Chart is what was read of the patient; its history and its medications
	// are printed by name.
	Chart *summary.Chart
	// Summary is the chart summed up as of Head.To.
	Summary *summary.Summary
}

// WritePDF writes the page that a clinician hands to a colleague, and what
// does not fit on it.
func (d *PatientSummary) WritePDF(w io.Writer) error {
	s := newSheet(&d.Head, "Pain summary")
	p := patientPages{sheet: s, PatientSummary: d}
	if err := p.read(); err != nil {
		return err
	}
	s.running = fmt.Sprintf("%s · born %s · %s · %s", d.Chart.Patient.ID, d.Chart.Patient.DateOfBirth, d.Chart.Patient.Name, s.title)
	p.header()
	p.tiles()

	// What must be on the first page stands at its foot. The medicines get the
	// room above it, and go on behind when that is not enough.
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

// patientPages are the pages of a patient's summary.
type patientPages struct {
	*sheet
	*PatientSummary
	history     []pain.HistoryEntry
	medicines   map[string]pain.Medication // by the id of their record
	from, to    time.Time                  // the days of the curves
	events      []chart.Event
	inThePeriod []chart.PainPoint
	leftOut     int // scores before the period
}

func (p *patientPages) read() (err error) {
	if p.history, err = p.Chart.Patient.MedicalHistory.Entries(); err != nil {
		return err
	}
	p.to = dayOf(p.To)
	p.from = dayOf(p.From)
	p.medicines = map[string]pain.Medication{}
	if err := p.readRecords(); err != nil {
		return err
	}
	p.readScores()
	return nil
}

// readScores takes the scores of the summary's series, all of them: the
// summary itself lists only the newest.
func (p *patientPages) readScores() {
	sum := &p.Summary.Pain
	if sum.Aspect == nil {
		return
	}
	before := p.to.AddDate(0, 0, 1).UnixMilli()
	for i := range p.Chart.Series.Scores {
		s := &p.Chart.Series.Scores[i]
		score, ok := s.Normalized()
		if !ok || s.At >= before || s.Aspect.String() != *sum.Aspect || s.Scale.String() != *sum.Scale || s.Site.String() != *sum.BodySite {
			continue
		}
		if s.At < p.from.UnixMilli() {
			p.leftOut++
			continue
		}
		p.inThePeriod = append(p.inThePeriod, chart.PainPoint{At: time.UnixMilli(s.At).UTC(), Score: score})
	}
}

func dayOf(d pain.Date) time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

func (p *patientPages) header() {
	patient := &p.Chart.Patient
	const side = 150.0
	p.fitted(margin, p.y+6, fullWidth-side-16, strings.ToUpper(p.title), caption)
	height := p.heading(p.y+11, fullWidth-side-16, patient.Name)
	right := margin + fullWidth
	p.text(right, p.y+6, "PERIOD", caption.at(chart.End))
	p.text(right, p.y+18, fmt.Sprintf("%s to %s", p.From, p.To), strong.at(chart.End))
	p.text(right, p.y+32, "AS OF", caption.at(chart.End))
	p.text(right, p.y+44, moment(p.AsOf), strong.at(chart.End))
	p.y += 11 + height
	line := fmt.Sprintf("Born %s (%d years)", patient.DateOfBirth, age(patient.DateOfBirth, p.To))
	if patient.Gender != "" {
		line += " · " + patient.Gender
	}
	p.fitted(margin, p.y+bodySize, fullWidth-side-16, line, body)
	p.fitted(margin, p.y+2.4*bodySize, fullWidth-side-16, patient.ID.String(), small)
	p.y += 3 * bodySize
	p.rule(p.y, chart.Grid)
	p.y += 8
}

// age is in whole years on a day.
func age(born, on pain.Date) int {
	years := on.Year - born.Year
	if on.Month < born.Month || on.Month == born.Month && on.Day < born.Day {
		years--
	}
	return years
}

// The heights of the curves. That of pain gives way to what is below.
const (
	painHeight, leastPainHeight = 188.0, 105.0
	mmeHeight                   = 84.0
)

// curves draws pain and dose so that they end above a height, if they can.
func (p *patientPages) curves(limit float64) {
	scheme := pain.DefaultScheme
	c := &chart.Pain{Title: "Pain", From: p.from, To: p.to, Points: p.inThePeriod, Bands: chart.Bands{Moderate: scheme.Moderate, Severe: scheme.Severe}, Events: p.events}
	if base := p.Summary.Pain.Baseline; base != nil {
		c.Baseline = base.Score
	}
	room := limit - p.y - mmeHeight - 2*figureFrame
	p.figure(fmt.Sprintf("Pain (%s)", p.kind()), c, min(max(room, leastPainHeight), painHeight))
	m := &chart.MME{Title: "MME a day", From: p.from, To: p.to}
	if window, err := time.Parse(time.DateOnly, p.Summary.MME.From); err == nil && m.From.Before(window) {
		m.From = window // nothing is known of the days before
	}
	for _, run := range p.Summary.MME.Timeline {
		from, errFrom := time.Parse(time.DateOnly, run.From)
		to, errTo := time.Parse(time.DateOnly, run.To)
		if errFrom == nil && errTo == nil && !to.Before(m.From) {
			m.Runs = append(m.Runs, chart.MMERun{From: from, To: to, MME: run.MME, Incomplete: run.Incomplete})
		}
	}
	p.figure("Opioid dose (MME a day)", m, mmeHeight)
}

// kind is what the scores are, in words.
func (p *patientPages) kind() string {
	sum := &p.Summary.Pain
	if sum.Aspect == nil {
		return "no comparable scores"
	}
	text := words(*sum.Aspect) + " pain, scale " + words(*sum.Scale)
	if *sum.BodySite != "" {
		text += ", " + words(*sum.BodySite)
	}
	return text
}
