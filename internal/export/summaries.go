package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
)

// summaryColumn is a column of the table of summaries.
type summaryColumn struct {
	pain.Column
	cell func(s *summary.Summary) pain.Cell
}

// kept returns a column of the summary that does not identify a patient.
func kept(name string, t pain.ColumnType, about string, cell func(s *summary.Summary) pain.Cell) summaryColumn {
	return summaryColumn{pain.Column{Name: name, Type: t, Privacy: pain.Kept, About: about}, cell}
}

// upToToday returns a column that counts days up to the day of the export, or
// is a fact of that day. It is removed from de-identified data: from the days on
// which a medicine starts and ends, it tells how many days ago they were.
func upToToday(name string, t pain.ColumnType, about string, cell func(s *summary.Summary) pain.Cell) summaryColumn {
	return ofToday(kept(name, t, about, cell))
}

func ofToday(c summaryColumn) summaryColumn {
	c.Privacy = pain.Removed
	return c
}

// dated returns a column of the summary with a date or a time.
func dated(name string, t pain.ColumnType, about string, cell func(s *summary.Summary) pain.Cell) summaryColumn {
	return summaryColumn{pain.Column{Name: name, Type: t, Privacy: pain.DaysOnly, About: about}, cell}
}

// summaryColumns are the columns of the table of summaries. There are columns
// for every instrument and every flag, also for patients without them.
var summaryColumns = slices.Concat(painColumns, mmeColumns, instrumentColumns(), flagColumns())

var painColumns = []summaryColumn{
	kept("pain_aspect", pain.TextColumn, "of the primary outcome", func(s *summary.Summary) pain.Cell { return textOrNull(s.Pain.Aspect) }),
	kept("pain_scale", pain.TextColumn, "", func(s *summary.Summary) pain.Cell { return textOrNull(s.Pain.Scale) }),
	kept("pain_body_site", pain.TextColumn, "", func(s *summary.Summary) pain.Cell { return textOrNull(s.Pain.BodySite) }),
	kept("pain_laterality", pain.TextColumn, "", func(s *summary.Summary) pain.Cell { return textOrNull(s.Pain.Laterality) }),
	kept("pain_scores", pain.IntegerColumn, "the number of comparable scores", func(s *summary.Summary) pain.Cell { return count(s.Pain.Scores) }),
	dated("pain_index_date", pain.DateColumn, "the day of the first comparable score", ofPart(baseline, func(b *summary.Baseline) pain.Cell { return day(b.IndexDate) })),
	kept("pain_baseline", pain.NumberColumn, "0 to 10", ofPart(baseline, func(b *summary.Baseline) pain.Cell { return numberOrNull(b.Score) })),
	kept("pain_latest", pain.NumberColumn, "0 to 10", ofPart(latest, func(p *summary.Point) pain.Cell { return numberOrNull(p.Score) })),
	dated("pain_latest_at", pain.MomentColumn, "", ofPart(latest, func(p *summary.Point) pain.Cell { return moment(p.RecordedAt) })),
	ofChange("pain_change", pain.NumberColumn, "latest score minus baseline; negative is better", func(c *summary.Change) pain.Cell { return numberOrNull(c.Points) }),
	ofChange("pain_change_percent", pain.NumberColumn, "", func(c *summary.Change) pain.Cell { return numberOrNull(c.Percent) }),
	ofChange("responder_30", pain.BooleanColumn, "pain fell by 30 % or more", func(c *summary.Change) pain.Cell { return flagOrNull(c.Responder30) }),
	ofChange("responder_50", pain.BooleanColumn, "pain fell by 50 % or more", func(c *summary.Change) pain.Cell { return flagOrNull(c.Responder50) }),
	ofChange("low_baseline", pain.BooleanColumn, "the baseline is below 4, so percentages are misleading", func(c *summary.Change) pain.Cell { return pain.BooleanCell(c.LowBaseline) }),
}

var mmeColumns = []summaryColumn{
	upToToday("current_medications", pain.IntegerColumn, "the number of medicines taken on the day", func(s *summary.Summary) pain.Cell { return count(len(s.Medications.Current)) }),
	upToToday("current_drug_classes", pain.TextsColumn, "their classes", func(s *summary.Summary) pain.Cell { return pain.TextsCell(classes(s)) }),
	ofToday(ofMME("mme_current", pain.NumberColumn, "on the day", func(m *summary.MME) pain.Cell { return numberOrNull(m.Current) })),
	upToToday("mme_current_band", pain.TextColumn, "0, >0-<20, 20-<50, 50-<90, >=90 or unknown", func(s *summary.Summary) pain.Cell { return textOrNull(s.MME.CurrentBand) }),
	ofMME("mme_peak", pain.NumberColumn, "the highest day of the last 365 days", func(m *summary.MME) pain.Cell { return numberOrNull(m.Peak) }),
	ofMME("mme_average", pain.NumberColumn, "over the covered days of the last 365 days", func(m *summary.MME) pain.Cell { return numberOrNull(m.Average) }),
	upToToday("opioid_days", pain.IntegerColumn, "days of the last 365 with an opioid of known dose", func(s *summary.Summary) pain.Cell { return count(s.MME.CoveredDays) }),
	upToToday("days_ge_50_mme", pain.IntegerColumn, "", func(s *summary.Summary) pain.Cell { return count(s.MME.DaysFrom50) }),
	upToToday("days_ge_90_mme", pain.IntegerColumn, "", func(s *summary.Summary) pain.Cell { return count(s.MME.DaysFrom90) }),
	kept("mme_incomplete", pain.BooleanColumn, "a dose or its days are unknown, so the figures may be too low", func(s *summary.Summary) pain.Cell { return pain.BooleanCell(s.MME.Incomplete) }),
	kept("mme_incomplete_reasons", pain.TextsColumn, "", func(s *summary.Summary) pain.Cell { return pain.TextsCell(s.MME.IncompleteReasons) }),
}

// The parts of a summary that a patient without comparable scores lacks.
func baseline(s *summary.Summary) *summary.Baseline { return s.Pain.Baseline }
func latest(s *summary.Summary) *summary.Point      { return s.Pain.Latest }
func change(s *summary.Summary) *summary.Change     { return s.Pain.Change }

// ofPart returns the cell of a part, which is null if there is no such part.
func ofPart[T any](part func(s *summary.Summary) *T, cell func(*T) pain.Cell) func(s *summary.Summary) pain.Cell {
	return func(s *summary.Summary) pain.Cell {
		if p := part(s); p != nil {
			return cell(p)
		}
		return pain.Cell{}
	}
}

// ofChange returns a column of the change in pain.
func ofChange(name string, t pain.ColumnType, about string, cell func(c *summary.Change) pain.Cell) summaryColumn {
	return kept(name, t, about, ofPart(change, cell))
}

// ofMME returns a column with a dose.
func ofMME(name string, t pain.ColumnType, about string, cell func(m *summary.MME) pain.Cell) summaryColumn {
	c := kept(name, t, about, func(s *summary.Summary) pain.Cell { return cell(&s.MME) })
	c.Unit = "MME/d"
	return c
}

func instrumentColumns() (list []summaryColumn) {
	for _, info := range pain.Instruments() {
		of := func(s *summary.Summary) *summary.Instrument {
			for i := range s.Instruments {
				if s.Instruments[i].Instrument == info.Name {
					return &s.Instruments[i]
				}
			}
			return nil
		}
		column := func(suffix string, t pain.ColumnType, cell func(in *summary.Instrument) pain.Cell) summaryColumn {
			return kept(info.Name+suffix, t, "the latest "+info.Title, ofPart(of, cell))
		}
		at := column("_at", pain.MomentColumn, func(in *summary.Instrument) pain.Cell { return moment(in.RecordedAt) })
		at.Privacy = pain.DaysOnly
		list = append(list,
			column("_score", pain.NumberColumn, func(in *summary.Instrument) pain.Cell { return numberOrNull(in.Score) }),
			column("_band", pain.TextColumn, func(in *summary.Instrument) pain.Cell { return pain.TextCell(in.Band) }),
			at)
	}
	return list
}

// flagColumns has a column for each flag. The summary of an empty chart names
// them all.
func flagColumns() (list []summaryColumn) {
	empty, err := summary.Of(&summary.Chart{}, pain.Date{Year: 2000, Month: 1, Day: 1}, time.Unix(0, 0))
	if err != nil {
		panic(err) // there is nothing to read
	}
	for i, f := range empty.Flags {
		list = append(list, kept("flag_"+f.Flag, pain.BooleanColumn, "a prompt for review; null if the data does not decide it",
			func(s *summary.Summary) pain.Cell { return flagOrNull(s.Flags[i].Active) }))
	}
	return list
}

// summaryTable is the table of summaries.
func summaryTable(asOf time.Time) *table {
	t := &table{name: summariesPart, about: "One row for each patient, as of the day of the export. See GET /v1/patients/{id}/summary."}
	t.columns = append(t.columns, patientID)
	for i := range summaryColumns {
		t.columns = append(t.columns, summaryColumns[i].Column)
	}
	t.rows = func(it item, row []pain.Cell, emit func([]pain.Cell) error) error {
		s, err := it.who.summarize(asOf)
		if err != nil {
			return fmt.Errorf("patient %s: %w", it.who.patient.ID, err)
		}
		row = append(row, pain.TextCell(it.who.patient.ID.String()))
		for i := range summaryColumns {
			row = append(row, summaryColumns[i].cell(s))
		}
		return emit(row)
	}
	return t
}

// doseTable is the table of daily opioid doses. In de-identified data, there is
// no dose of the last day and the start of the 365 days is null, because they
// tell how many days ago the others are.
func doseTable(asOf time.Time, deidentify bool) *table {
	t := &table{name: "opioid_doses", about: "Days of the last 365 on which a patient takes, or may take, an opioid: one row for each range of days with the same dose."}
	t.columns = []pain.Column{
		patientID,
		{Name: "first_day", Type: pain.DateColumn, Privacy: pain.DaysOnly},
		{Name: "last_day", Type: pain.DateColumn, Privacy: pain.DaysOnly},
		{Name: "mme", Type: pain.NumberColumn, Unit: "MME/d", Privacy: pain.Kept, About: "null if no dose is known"},
		{Name: "incomplete", Type: pain.BooleanColumn, Privacy: pain.Kept, About: "the dose of an opioid, or of a medicine that may be one, is missing from mme"},
		{Name: "assumed", Type: pain.BooleanColumn, Privacy: pain.Kept, About: "an opioid without supply and end date is assumed to be taken"},
	}
	t.rows = func(it item, row []pain.Cell, emit func([]pain.Cell) error) error {
		s, err := it.who.summarize(asOf)
		if err != nil {
			return fmt.Errorf("patient %s: %w", it.who.patient.ID, err)
		}
		for _, run := range s.MME.Timeline {
			if deidentify && run.To == s.MME.To {
				continue
			}
			from, to := day(run.From), day(run.To)
			if deidentify && run.From == s.MME.From {
				from = pain.Cell{}
			}
			if err := emit(append(row[:0], pain.TextCell(it.who.patient.ID.String()), from, to, numberOrNull(run.MME),
				pain.BooleanCell(run.Incomplete), pain.BooleanCell(run.Assumed))); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// classes returns the distinct classes of the current medicines.
func classes(s *summary.Summary) (list []string) {
	for _, m := range s.Medications.Current {
		if !slices.Contains(list, m.DrugClass) {
			list = append(list, m.DrugClass)
		}
	}
	slices.SortFunc(list, strings.Compare)
	return list
}

func count(n int) pain.Cell { return pain.NumberCell(float64(n)) }

func textOrNull(s *string) pain.Cell {
	if s == nil {
		return pain.Cell{}
	}
	return pain.TextCell(*s)
}

func numberOrNull(f *float64) pain.Cell {
	if f == nil {
		return pain.Cell{}
	}
	return pain.NumberCell(*f)
}

func flagOrNull(yes *bool) pain.Cell {
	if yes == nil {
		return pain.Cell{}
	}
	return pain.BooleanCell(*yes)
}

// day and moment parse the dates and times of a summary.
func day(text string) pain.Cell {
	d, err := pain.ParseDate(text)
	if err != nil {
		return pain.Cell{}
	}
	return pain.DateCell(d)
}

func moment(text string) pain.Cell {
	at, ok := pain.ParseMoment(text)
	if !ok {
		return pain.Cell{}
	}
	return momentCell(at)
}
