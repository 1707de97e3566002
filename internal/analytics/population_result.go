package analytics

import (
	"slices"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
)

// Result returns the response, generated now. It ends adding and merging: the
// figures are computed once, and several goroutines may ask for them.
func (t *PopulationTally) Result(now time.Time) *Population {
	t.printed.Do(func() {
		t.Close()
		t.figures = t.print()
	})
	out := *t.figures
	out.GeneratedAt = now.UTC().Format(time.RFC3339)
	return &out
}

func (t *PopulationTally) print() *Population {
	out := &Population{Parameters: *t.params}
	out.Parameters.Interval, out.Parameters.FollowUp, out.Parameters.Adjust = "", 0, nil // they only apply to outcomes
	l := &ledger{min: t.params.MinCellSize}
	patients, active, inactive := l.cell(t.patients), l.cell(t.active), l.cell(t.patients-t.active)
	l.sum(patients, active, inactive)
	out.Cohort.Definition = defPopulation
	l.count(&out.Cohort.Patients, patients)
	l.count(&out.Cohort.Active, active)
	l.count(&out.Cohort.Inactive, inactive)

	var c comparisons
	c.everybody, c.present = l.groups(&t.everybody, patients), l.groups(&t.present, active)
	for i := range c.present {
		for group := range c.present[i] {
			l.within(c.everybody[i][group], c.present[i][group])
		}
	}
	l.split(&out.Genders, defGender, ofActive, active, genderNames[:], c.present[byGender])
	l.split(&out.AgeBands, defAge, ofActive, active, ageBandNames, c.present[byAge])
	t.printSeverity(l, out, active, &c)
	t.printOpioids(l, &out.Opioids, active, &c)
	t.printTreatments(l, &out.Treatments, active, &c.totals[exposure])
	l.count(&out.Cohort.Undetermined, l.cell(t.undetermined))
	t.printGap(l, &out.FollowUpGap, patients, &c)
	z := t.standardize(l, &out.Standardized, patients, &c)
	out.Disparities = t.printDisparities(l, &c, z)
	z.rates(l, t, out)
	out.Measures = t.aligned.print(l, patients, active, &c)
	l.settle()
	out.Insights = insights(out)
	return out
}

func (t *PopulationTally) printSeverity(l *ledger, out *Population, active *cell, c *comparisons) {
	scored, average, current := l.cell(t.byAverage+t.byCurrent), l.cell(t.byAverage), l.cell(t.byCurrent)
	bands := l.cellsOf(t.severity[:])
	l.within(active, scored)
	l.sum(scored, average, current)
	out.Severity.Scheme = pain.DefaultScheme.Name
	l.split(&out.Severity.Bands, defSeverity, ofScored, scored, severities, bands)
	l.count(&out.Severity.ByAverage, average)
	l.count(&out.Severity.ByCurrent, current)
	c.totals[severePain] = totals{yes: bands[3], n: scored}
}

func (t *PopulationTally) printOpioids(l *ledger, out *Opioids, active *cell, c *comparisons) {
	o := &t.opioid
	exposed, long, longN := l.cell(o.exposed), l.cell(o.longTerm), l.cell(o.longTermN)
	known := l.cell(t.active - o.maybe)
	l.proportion(&out.Exposure, defExposure, ofActiveKnown, exposed, known)
	maybe := l.undetermined(&out.Exposure, active, known)
	possible := l.silent(o.exposed + o.maybe)
	l.sum(possible, exposed, maybe)
	l.proportion(&out.LongTerm, defLongTerm, ofActiveKnown, long, longN)
	longOpen := l.undetermined(&out.LongTerm, active, longN)
	high := t.printMME(l, &out.MME, active, exposed, possible)
	n50, n90 := l.cell(o.at50N), l.cell(o.at90N)
	l.proportion(&out.AtLeast50, defAtLeast50, ofExposedKnown, high[0], n50)
	open50 := l.undetermined(&out.AtLeast50, possible, n50)
	l.proportion(&out.AtLeast90, defAtLeast90, ofExposedKnown, high[1], n90)
	l.undetermined(&out.AtLeast90, possible, n90)
	overlap := func(into *Proportion, definition string, of overlapTally) *cell {
		yes, n := l.cell(of.yes), l.cell(of.n)
		l.proportion(into, definition, ofExposedKnown, yes, n)
		l.undetermined(into, possible, n)
		return yes
	}
	benzo := overlap(&out.BenzodiazepineOverlap, defBenzo, o.benzo)
	overlap(&out.GabapentinoidOverlap, defGabapentinoid, o.gabapentinoid)
	overlap(&out.NaloxoneCoverage, defNaloxone, o.naloxone)

	out.OutOfScope.Definition = defOutOfScope
	outside := func(into *Count, n int, of *cell) *cell {
		cell := l.cell(n)
		l.within(of, cell)
		l.count(into, cell)
		return cell
	}
	all := outside(&out.OutOfScope.Exposure, o.outOfScope, exposed)
	out50 := outside(&out.OutOfScope.AtLeast50, o.out50, high[0])
	out90 := outside(&out.OutOfScope.AtLeast90, o.out90, high[1])
	outBenzo := outside(&out.OutOfScope.BenzodiazepineOverlap, o.outBenzo, benzo)
	l.within(all, out50)
	l.within(out50, out90)
	l.within(all, outBenzo)
	l.within(active, outside(&out.OutOfScope.Undetermined, o.outOpen, possible)) // possible may be hidden
	c.totals[exposure] = totals{exposed, known, maybe}
	c.totals[longTerm] = totals{long, longN, longOpen}
	c.totals[atLeast50] = totals{high[0], n50, open50}
}

var bandNames = []string{"0", ">0-<20", "20-<50", "50-<90", ">=90", "unknown"}

// printMME prints the doses, and returns the counts of those with at least 50
// and at least 90 MME on a day.
func (t *PopulationTally) printMME(l *ledger, out *MME, active, exposed, possible *cell) (high [2]*cell) {
	o := &t.opioid
	out.Table, out.Caveat = drug.MMETable, summary.Caveat
	dosed, none := l.cell(o.averages.n), l.cell(t.active-possible.value)
	l.sum(active, possible, none)
	l.within(exposed, dosed)
	distribution := func(into *Distribution, definition string, values *doses, surely90 int) []*cell {
		counts := values.bands(len(bandNames), func(mme float64) int { return slices.Index(bandNames, drug.Band(mme)) })
		highest := l.cell(counts[4]) // of those with a fully known dose
		unknown := l.cell(possible.value - values.n - surely90)
		bands := []*cell{none, l.cell(counts[1]), l.cell(counts[2]), l.cell(counts[3]), highest, unknown}
		l.sum(dosed, bands[1:5]...)
		if surely90 > 0 {
			highest.silent = true
			bands[4] = l.cell(counts[4] + surely90)
			l.sum(bands[4], highest, l.silent(surely90))
		}
		l.sum(possible, bands[1:]...)
		l.after(func() {
			*into = Distribution{Definition: definition, N: dosed.shown(), Suppressed: dosed.hidden}
			if values.n > 0 && !dosed.hidden {
				into.Mean, into.Q1, into.Median = rounded(values.mean(), 1), rounded(values.quantile(0.25), 1), rounded(values.quantile(0.5), 1)
				into.Q3, into.P90 = rounded(values.quantile(0.75), 1), rounded(values.quantile(0.9), 1)
			}
		})
		l.split(&into.Bands, defBands, ofActive, active, bandNames, bands)
		return bands
	}
	peak := distribution(&out.Peak, defPeak, o.peaks.with(&o.carried), o.surely90)
	overlapped := distribution(&out.PeakOverlapped, defPeakOverlapped, o.peaks.with(&o.uncarried), o.surely90Overlapped)
	// Without carrying supply forward a peak is never lower. The difference
	// must not reveal who changes band.
	l.within(overlapped[4], peak[4])
	l.within(peak[5], overlapped[5])
	distribution(&out.Average, defAverage, &o.averages, 0)
	incomplete, assumed := l.cell(o.incomplete), l.cell(o.assumed)
	l.within(exposed, incomplete)
	l.count(&out.Incomplete, incomplete)
	l.within(exposed, assumed)
	l.count(&out.Assumed, assumed)
	high50 := l.cell(o.at50)
	parts := peak[3:5]
	if o.surely50 > 0 { // in the band unknown, because it may be above 90
		surely50 := l.silent(o.surely50)
		l.within(peak[5], surely50)
		parts = append(slices.Clone(parts), surely50)
	}
	l.sum(high50, parts...)
	return [2]*cell{high50, peak[4]}
}

func (t *PopulationTally) printTreatments(l *ledger, out *Treatments, active *cell, exposed *totals) {
	names := classNames()
	out.Classes = make([]Proportion, len(names))
	for i, name := range names {
		into, definition := &out.Classes[i], defTreatment+"."+name
		switch class := series.ClassOf(drug.Class(name)); class {
		case opioid:
			l.proportion(into, definition, ofActiveKnown, exposed.yes, exposed.n)
			l.after(func() {
				into.Undetermined, into.Suppressed = exposed.open.shown(), into.Suppressed || exposed.open.hidden
			})
		case series.Unclassified: // they are the undetermined ones
			l.proportion(into, definition, ofActive, l.cell(t.treated[class]), active)
		default:
			known := l.cell(t.active - t.unsure[class])
			l.proportion(into, definition, ofActiveKnown, l.cell(t.treated[class]), known)
			l.undetermined(into, active, known)
		}
	}
	assumed := l.cell(t.assumed)
	l.within(active, assumed)
	l.count(&out.Assumed, assumed)
	mix := l.cellsOf(t.exclusive[:])
	unsure := l.silent(t.unsureExposed)
	l.within(mix[4], unsure)
	l.sum(exposed.yes, mix[0], mix[2], unsure)
	l.split(&out.Exclusive, defTreatment, ofActive, active, mixes, mix)
}

func (t *PopulationTally) printGap(l *ledger, out *FollowUpGap, patients *cell, c *comparisons) {
	last := l.cellsOf(t.last[:])
	without := l.cell(t.last[1] + t.last[2])
	l.sum(without, last[1], last[2])
	l.proportion(&out.Gap, defGap, ofPatients, without, patients)
	l.split(&out.Last, defGap, ofPatients, patients, lastScores, last)
	c.totals[gap] = totals{yes: without, n: patients}
}
