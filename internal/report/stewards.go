package report

import (
	"cmp"
	"context"
	"math"
	"slices"

	"anodyne/internal/analytics"
	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/summary"
	"anodyne/internal/store"
)

// readStewardship lists who takes opioids, in one snapshot.
func readStewardship(ctx context.Context, o store.Org, h Head, p *analytics.Params, progress func(float64)) (*Stewardship, error) {
	d := &Stewardship{Head: h}
	period := p.Period()
	var err error
	d.Patients, err = o.OpioidCharts(ctx, store.OpioidQuery{
		Period: period, Wants: wants(p), Seen: func(n, of int64) { progress(float64(n) / float64(of)) },
	}, func(c *summary.Chart) error {
		row, err := stewardshipRow(c, period)
		d.Rows = append(d.Rows, row)
		return err
	})
	slices.SortFunc(d.Rows, func(a, b StewardshipRow) int {
		return cmp.Or(-cmp.Compare(orNone(a.MME), orNone(b.MME)), -cmp.Compare(orNone(a.Peak), orNone(b.Peak)), cmp.Compare(a.PatientID, b.PatientID))
	})
	return d, err
}

// orNone orders what is not known behind zero.
func orNone(f *float64) float64 {
	if f == nil {
		return -1
	}
	return *f
}

// wants is the filter of the parameters; nil when everybody passes.
func wants(p *analytics.Params) func(*pain.Patient) bool {
	if p.Gender == nil && p.AgeMin == nil && p.AgeMax == nil && p.Condition == nil {
		return nil
	}
	filter := p.Filter()
	return func(patient *pain.Patient) bool {
		a := analytics.Patient{Born: patient.DateOfBirth.DayNumber(), Gender: analytics.FoldGender(patient.Gender)}
		patient.MedicalHistory.Codes(func(c pain.Coded) {
			if c.Own() {
				a.Codes = append(a.Codes, c.ICD10Code)
			}
		})
		return filter.Admits(&a)
	}
}

func stewardshipRow(c *summary.Chart, period drug.Span) (StewardshipRow, error) {
	u, err := summary.OpioidsOver(c, period)
	if err != nil {
		return StewardshipRow{}, err
	}
	row := StewardshipRow{
		PatientID: c.Patient.ID.String(), Name: c.Patient.Name, DateOfBirth: c.Patient.DateOfBirth, Age: u.Age,
		Opioids: u.Names, Current: u.Current, MME: u.MME, Incomplete: u.Incomplete, Peak: u.Peak, Average: u.Average, OpioidDays: u.Days,
		Overlap: u.Overlap, OverlapDays: u.OverlapDays,
		NaloxoneGap: u.NaloxoneGap, NaloxoneReasons: u.NaloxoneReasons, LastNaloxone: dateOrNone(u.LastNaloxone), LastPEG: dateOrNone(u.LastPEG),
		Prescribers: u.Prescribers, Pharmacies: u.Pharmacies, OutOfScope: u.OutOfScope,
	}
	screen, err := summary.LastDrugScreen(c.Records, period.Last)
	if screen != nil {
		row.LastUDS, row.UnexpectedUDS = pain.DateOfDay(screen.Day), screen.Unexpected
	}
	return row, err
}

func dateOrNone(d *drug.Day) pain.Date {
	if d == nil {
		return pain.Date{}
	}
	return pain.DateOfDay(*d)
}

// atLeast says whether the current dose reaches a threshold; nil when the dose
// is below it and not all of it is known.
func (r *StewardshipRow) atLeast(threshold float64) *bool {
	switch {
	case r.MME != nil && drug.AtLeast(*r.MME, threshold):
		return new(true)
	case r.Incomplete || r.MME == nil:
		return nil
	}
	return new(false)
}

// band is the exposure band of the current dose; nil when it is not known.
func (r *StewardshipRow) band() *string {
	if r.MME == nil {
		return nil
	}
	return new(drug.Band(*r.MME))
}

// withinYear reports whether a day lies in the 12 months up to the last day.
func (d *Stewardship) withinYear(day pain.Date) bool {
	last := d.To.DayNumber()
	return day != (pain.Date{}) && day.DayNumber() > last-summary.Window && day.DayNumber() <= last
}

// lacks reports whether a patient with a current opioid has not had something
// for 12 months.
func (d *Stewardship) lacks(r *StewardshipRow, last pain.Date) bool {
	return r.Current && !d.withinYear(last)
}

func oneDecimal(f *float64) *float64 {
	if f == nil {
		return nil
	}
	return new(math.Round(*f*10)/10 + 0)
}
