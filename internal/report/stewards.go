package report

import (
	"cmp"
	"context"
	"slices"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/decimal"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/patients"
)

// readStewardship lists the patients who take opioids, in one snapshot.
func readStewardship(ctx context.Context, a *asked) (contents, error) {
	d := &Stewardship{Head: a.head}
	period := a.params.Period()
	tally := analytics.NewPopulationTally(&a.params)
	var err error
	d.Patients, err = a.org.OpioidCharts(ctx, patients.OpioidQuery{
		Period: period, Wants: wants(&a.params), Seen: func(n, of int64) { a.progress(float64(n) / float64(of)) },
	}, func(c *summary.Chart) error {
		row, err := stewardshipRow(c, period)
		d.Rows = append(d.Rows, row)
		who := analytics.PatientOf(&c.Patient)
		who.Series = &c.Series
		tally.Add(&who)
		return err
	})
	d.Measures = analytics.OpioidMeasures(tally.Result(a.head.AsOf).Measures)
	slices.SortFunc(d.Rows, func(a, b StewardshipRow) int {
		return cmp.Or(-cmp.Compare(orNone(a.MME), orNone(b.MME)), -cmp.Compare(orNone(a.Peak), orNone(b.Peak)), cmp.Compare(a.PatientID, b.PatientID))
	})
	return d, err
}

// orNone sorts unknown values after zero.
func orNone(f *float64) float64 {
	if f == nil {
		return -1
	}
	return *f
}

// wants returns the filter of the parameters, or nil if all patients match.
func wants(p *analytics.Params) func(*pain.Patient) bool {
	filter := p.Filter()
	if !filter.Any() {
		return nil
	}
	return func(patient *pain.Patient) bool {
		who := analytics.PatientOf(patient)
		return filter.Admits(&who)
	}
}

func stewardshipRow(c *summary.Chart, period drug.Span) (StewardshipRow, error) {
	u, err := summary.OpioidsOver(c, period)
	if err != nil {
		return StewardshipRow{}, err
	}
	row := StewardshipRow{
		PatientID: c.Patient.ID.String(), Name: c.Patient.Name, DateOfBirth: c.Patient.DateOfBirth, Age: u.Age,
		Opioids: u.Names, Exposed: u.Exposed, Current: u.Current, Unclassified: u.Unclassified, MME: u.MME, MMEIncomplete: u.MMEIncomplete,
		Incomplete: u.Incomplete, Peak: u.Peak, PeakOverlapped: u.PeakOverlapped, Average: u.Average, MMEAssumed: u.MMEAssumed, AssumedDays: u.AssumedDays, OpioidDays: u.Days, MostOpioidDays: u.MostDays,
		Overlap: u.Overlap, OverlapDays: u.OverlapDays,
		NaloxoneGap: u.NaloxoneGap, NaloxoneReasons: u.NaloxoneReasons, LastNaloxone: dateOrNone(u.LastNaloxone), LastPEG: dateOrNone(u.LastPEG),
		Prescribers: u.Prescribers, Pharmacies: u.Pharmacies, MostPrescribers: u.MostPrescribers, OutOfScope: u.OutOfScope,
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

// atLeast returns whether the current dose reaches a threshold, as in the
// flags of the patient summary. It is nil if the known dose is below it and
// incomplete.
func (r *StewardshipRow) atLeast(threshold float64) *bool {
	switch {
	case r.MME != nil && drug.AtLeast(*r.MME, threshold):
		return new(true)
	case r.MMEIncomplete:
		return nil
	}
	return new(false)
}

// band returns the exposure band of the current dose. It is unknown if the
// dose is incomplete and below the highest band, and nil if no dose counts.
func (r *StewardshipRow) band() *string {
	switch {
	case r.MMEIncomplete && !is(r.atLeast(90)):
		return new(summary.UnknownBand)
	case r.MME == nil:
		return nil
	}
	return new(drug.Band(*r.MME))
}

// withinYear reports whether a day is in the 12 months up to the last day.
func (d *Stewardship) withinYear(day pain.Date) bool {
	last := d.To.DayNumber()
	return day != (pain.Date{}) && day.DayNumber() > last-summary.Window && day.DayNumber() <= last
}

// lacks returns whether a patient with a current opioid has not had something
// for 12 months. It is nil for a patient who has not and who may take an
// opioid.
func (d *Stewardship) lacks(r *StewardshipRow, last pain.Date) *bool {
	if d.withinYear(last) {
		return new(false)
	}
	return r.Current
}

// severalPrescribers returns whether a patient's opioids come from many
// prescribers. It is nil if that depends on a medicine that may be an opioid.
func (r *StewardshipRow) severalPrescribers() *bool {
	return r.reaches(r.Prescribers, r.MostPrescribers, ManyPrescribers)
}

// longTerm returns whether opioids were taken on many days.
func (r *StewardshipRow) longTerm() *bool { return r.reaches(r.OpioidDays, r.MostOpioidDays, LongTerm) }

func (r *StewardshipRow) reaches(certain, most, limit int) *bool {
	if certain < limit && most >= limit {
		return nil
	}
	return new(certain >= limit)
}

func oneDecimal(f *float64) *float64 {
	if f == nil {
		return nil
	}
	return new(decimal.Round(*f, 1))
}
