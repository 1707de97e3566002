// Package summary summarises one patient on a day: pain and its change,
// medicines and daily MME, instruments, procedures, and flags for review. It
// has no I/O: it turns a chart into the JSON form of the response.
//
// Unknown values are null, never zero or false. Numbers are only rounded here,
// at the end: scores and MME to one decimal, percentages to two. A flag is a
// prompt for review, not a diagnosis.
package summary

import (
	"time"

	"anodyne.example/anodyne/internal/decimal"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Chart is the data about a patient.
type Chart struct {
	Patient pain.Patient
	// Series covers all years. Its scores and assessments are used.
	Series series.Series
	// Records are the active medications, procedures and adverse events, sorted
	// by clinical time.
	Records []pain.Record
}

// readers read the records of a chart by type.
var readers = []struct {
	of   pain.DataType
	read func(*evidence, *pain.Record) error
}{
	{pain.TypeMedications, (*evidence).readMedicine},
	{pain.TypeProcedures, (*evidence).readProcedure},
	{pain.TypeAdverseEvents, (*evidence).readEvent},
}

// RecordTypes are the types of records that a chart needs.
var RecordTypes = func() (types []pain.DataType) {
	for _, r := range readers {
		types = append(types, r.of)
	}
	return types
}()

// Window is the number of days, up to and including the day of the summary,
// for which medicines are examined.
const Window = 365

const millisecondsPerDay = 24 * 60 * 60 * 1000

// Summary is the summary of a patient. Its JSON form is the response of the
// API.
type Summary struct {
	PatientID   string       `json:"patient_id"`
	GeneratedAt string       `json:"generated_at"`
	AsOf        string       `json:"as_of"`
	Pain        Pain         `json:"pain"`
	Medications Medications  `json:"medications"`
	MME         MME          `json:"mme"`
	Instruments []Instrument `json:"instruments"`
	Procedures  []Procedure  `json:"procedures"`
	Flags       []Flag       `json:"flags"`
}

// Of summarises a chart as of the end of a UTC day. Scores, assessments,
// procedures and events count by clinical time; medicines count by the days on
// which they are taken according to the timeline, whenever they were recorded.
// It returns an error if stored data cannot be read.
func Of(c *Chart, asOf pain.Date, now time.Time) (Summary, error) {
	day := asOf.DayNumber()
	return Over(c, drug.Span{First: day - Window + 1, Last: day}, now)
}

// Over is Of for the last day of a period, with the medicines of the period
// instead of those of the last year.
func Over(c *Chart, period drug.Span, now time.Time) (Summary, error) {
	e := evidenceOf(c, period)
	if err := e.read(); err != nil {
		return Summary{}, err
	}
	s := Summary{
		PatientID: c.Patient.ID.String(), GeneratedAt: now.UTC().Format(time.RFC3339), AsOf: date(e.day),
		Pain: e.pain(), Medications: Medications{Current: e.current()}, MME: e.mme(), Instruments: e.instruments(), Procedures: e.procedures(),
	}
	s.Flags = e.flags()
	return s, nil
}

// evidence is the part of a chart that counts on a day.
type evidence struct {
	*Chart
	day        drug.Day
	from       drug.Day // first day for which medicines are examined
	before     int64    // end of the day, in milliseconds
	history    []pain.HistoryEntry
	medicines  []medicine
	treatments []procedure
	overdoses  int
	doses      []dose // of all days up to the current one
}

func evidenceOf(c *Chart, period drug.Span) *evidence {
	return &evidence{Chart: c, day: period.Last, from: period.First, before: (int64(period.Last) + 1) * millisecondsPerDay}
}

func (e *evidence) read() (err error) {
	if e.history, err = e.Patient.MedicalHistory.Entries(); err != nil {
		return err
	}
	for i := range e.Records {
		rec := &e.Records[i]
		for _, r := range readers {
			if r.of != rec.Type {
				continue
			}
			if err := r.read(e, rec); err != nil {
				return err
			}
		}
	}
	e.layOut()
	e.doses = e.dosesByDay()
	return nil
}

func (e *evidence) readEvent(rec *pain.Record) error {
	v, err := pain.ReadAdverseEvent(rec.Value)
	if err == nil && v.Event == "overdose" && rec.RecordedAt.UnixMilli() < e.before {
		e.overdoses++
	}
	return err
}

// window returns the days for which medicines are examined.
func (e *evidence) window() drug.Span { return drug.Span{First: e.from, Last: e.day} }

func moment(ms int64) string { return pain.Moment(time.UnixMilli(ms)) }

func date(d drug.Day) string { return pain.DateOfDay(d).String() }

// rounded returns a number rounded for output.
func rounded(f float64, decimals int) *float64 {
	return new(decimal.Round(f, decimals))
}

func oneDecimal(v series.Value) *float64 {
	if !v.Known {
		return nil
	}
	return rounded(v.Number, 1)
}

func numberOf(n pain.Number) *float64 {
	f, ok := n.Get()
	if !ok {
		return nil
	}
	return rounded(f, 1)
}
