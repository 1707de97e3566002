package export

import (
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
)

// subject is a patient while its data is being written.
type subject struct {
	patient pain.Patient
	series  *series.Series
	// chart has the records that a summary needs.
	chart []pain.Record
	// bytes is about how much memory the chart and the medical history take.
	bytes int
	// records counts the active records, from first to last. They are zero
	// until there is one.
	records     int64
	first, last int64 // clinical times in milliseconds
	// firstDay is the day of the first record, from which de-identified dates
	// are counted. It is set, with begun, before the first row is written, and
	// not changed after that, while the figures above are.
	firstDay int64
	begun    bool
	// changed is set if anything of the patient is new since the time asked.
	changed bool

	summarizing sync.Once
	summary     summary.Summary
	failed      error
}

// summarize returns the summary as of the end of a day. It is computed once,
// for the tables made from it.
func (s *subject) summarize(asOf time.Time) (*summary.Summary, error) {
	s.summarizing.Do(func() {
		chart := summary.Chart{Patient: s.patient, Records: s.chart}
		if s.series != nil {
			chart.Series = *s.series
		}
		s.summary, s.failed = summary.Of(&chart, pain.DateOf(asOf), asOf)
	})
	return &s.summary, s.failed
}

// item is what rows are made from: a patient, and a record in the tables of
// data types.
type item struct {
	who *subject
	rec *pain.Record
}

// table is a table of an export.
type table struct {
	name    string
	about   string
	columns []pain.Column
	// rows calls emit with the rows of an item. row is memory to use.
	rows func(it item, row []pain.Cell, emit func([]pain.Cell) error) error
}

// Part is a part of the data that an export can include.
type Part struct {
	Name  string
	About string
	// Scopes are those of the data in it. They are required to create the
	// export and to download its files.
	Scopes access.Scopes
}

// The parts. clinical_data stands for all data types, each of which can also
// be included by its own name.
const (
	patientsPart  = "patients"
	clinicalPart  = "clinical_data"
	summariesPart = "summaries"
)

// Parts lists what an export can include.
func Parts() []Part {
	parts := []Part{
		{patientsPart, "one row for each patient", access.PatientsRead},
		{clinicalPart, "one table for each data type, with one row for each active record", access.ClinicalDataRead},
		{summariesPart, "one row for each patient with the figures of the patient summary, and the daily opioid dose", access.PatientsRead | access.ClinicalDataRead},
	}
	for _, t := range pain.DataTypes() {
		parts = append(parts, Part{t.Name, t.About, access.ClinicalDataRead})
	}
	return parts
}

// partNames lists the names of the parts.
func partNames() (names []string) {
	for _, p := range Parts() {
		names = append(names, p.Name)
	}
	return names
}

// tables returns the tables of an export in the order of their files, and those
// of the data types by type.
func (o *Options) tables() (patients, summaries []*table, records map[pain.DataType]*table) {
	records = map[pain.DataType]*table{}
	all := slices.Contains(o.Include, clinicalPart)
	for _, t := range pain.DataTypes() {
		if all || slices.Contains(o.Include, t.Name) {
			records[t.Type] = recordTable(t, o.Deidentify)
		}
	}
	if slices.Contains(o.Include, patientsPart) {
		patients = []*table{patientTable(o.asOf, o.Scopes().Has(access.ClinicalDataRead))}
	}
	if slices.Contains(o.Include, summariesPart) {
		summaries = []*table{summaryTable(o.asOf), doseTable(o.asOf, o.Deidentify)}
	}
	return patients, summaries, records
}
