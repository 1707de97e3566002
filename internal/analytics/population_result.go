package analytics

import (
	"slices"
	"time"

	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
	"anodyne/internal/pain/summary"
)

// Result is the answer. The tally may be added to afterwards.
func (t *PopulationTally) Result(now time.Time) *Population {
	t.Close()
	out := &Population{GeneratedAt: now.UTC().Format(time.RFC3339), Parameters: *t.params}
	out.Parameters.Interval, out.Parameters.FollowUp = "", 0 // there is no course here
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
	t.printTreatments(l, &out.Treatments, active, c.totals[exposure].yes)
	t.printGap(l, &out.FollowUpGap, patients, &c)
	out.Disparities = t.printDisparities(l, &c)
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
	c.totals[severePain] = totals{bands[3], scored}
}

func (t *PopulationTally) printOpioids(l *ledger, out *Opioids, active *cell, c *comparisons) {
	o := &t.opioid
	exposed, long, longN := l.cell(o.exposed), l.cell(o.longTerm), l.cell(o.longTermN)
	l.proportion(&out.Exposure, defExposure, ofActive, exposed, active)
	l.proportion(&out.LongTerm, defLongTerm, ofActive, long, longN)
	l.undetermined(&out.LongTerm, active, longN)
	high := t.printMME(l, &out.MME, active, exposed)
	n50, n90 := l.cell(o.at50N), l.cell(o.at90N)
	l.proportion(&out.AtLeast50, defAtLeast50, ofExposed, high[0], n50)
	l.undetermined(&out.AtLeast50, exposed, n50)
	l.proportion(&out.AtLeast90, defAtLeast90, ofExposed, high[1], n90)
	l.undetermined(&out.AtLeast90, exposed, n90)
	overlap := func(into *Proportion, definition string, of overlapTally) *cell {
		yes, n := l.cell(of.yes), l.cell(of.n)
		l.proportion(into, definition, ofExposed, yes, n)
		l.undetermined(into, exposed, n)
		return yes
	}
	benzo := overlap(&out.BenzodiazepineOverlap, defBenzo, o.benzo)
	overlap(&out.GabapentinoidOverlap, defGabapentinoid, o.gabapentinoid)
	l.proportion(&out.NaloxoneCoverage, defNaloxone, ofExposed, l.cell(o.naloxone), exposed)

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
	c.totals[exposure] = totals{exposed, active}
	c.totals[longTerm] = totals{long, longN}
	c.totals[atLeast50] = totals{high[0], n50}
}

var bandNames = []string{"0", ">0-<20", "20-<50", "50-<90", ">=90", "unknown"}

// printMME prints the doses, and gives the numbers of those with 50 MME and
// more and with 90 and more on a day.
func (t *PopulationTally) printMME(l *ledger, out *MME, active, exposed *cell) (high [2]*cell) {
	o := &t.opioid
	out.Table, out.Caveat = drug.MMETable, summary.Caveat
	dosed, unknown, none := l.cell(o.peaks.n), l.cell(o.exposed-o.peaks.n), l.cell(t.active-o.exposed)
	l.sum(exposed, dosed, unknown)
	l.sum(active, exposed, none)
	distribution := func(into *Distribution, definition string, values *doses) []*cell {
		counts := values.bands(len(bandNames), func(mme float64) int { return slices.Index(bandNames, drug.Band(mme)) })
		bands := []*cell{none, l.cell(counts[1]), l.cell(counts[2]), l.cell(counts[3]), l.cell(counts[4]), unknown}
		l.sum(dosed, bands[1:5]...)
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
	peak := distribution(&out.Peak, defPeak, &o.peaks)
	distribution(&out.Average, defAverage, &o.averages)
	incomplete := l.cell(o.incomplete)
	l.within(exposed, incomplete)
	l.count(&out.Incomplete, incomplete)
	high50 := l.cell(o.at50)
	l.sum(high50, peak[3], peak[4])
	return [2]*cell{high50, peak[4]}
}

func (t *PopulationTally) printTreatments(l *ledger, out *Treatments, active, exposed *cell) {
	names := classNames()
	out.Classes = make([]Proportion, len(names))
	for i, name := range names {
		taken := exposed
		if class := series.ClassOf(drug.Class(name)); class != opioid {
			taken = l.cell(t.treated[class])
		}
		l.proportion(&out.Classes[i], defTreatment+"."+name, ofActive, taken, active)
	}
	mix := l.cellsOf(t.exclusive[:])
	l.sum(exposed, mix[0], mix[2])
	l.split(&out.Exclusive, defTreatment, ofActive, active, mixes, mix)
}

func (t *PopulationTally) printGap(l *ledger, out *FollowUpGap, patients *cell, c *comparisons) {
	last := l.cellsOf(t.last[:])
	without := l.cell(t.last[1] + t.last[2])
	l.sum(without, last[1], last[2])
	l.proportion(&out.Gap, defGap, ofPatients, without, patients)
	l.split(&out.Last, defGap, ofPatients, patients, lastScores, last)
	c.totals[gap] = totals{without, patients}
}
