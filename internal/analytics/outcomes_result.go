package analytics

import (
	"math"
	"time"

	"anodyne.example/anodyne/internal/decimal"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/pain/series"
)

// Result returns the response, generated now. It ends adding and merging: the
// figures are computed once, and several goroutines may ask for them.
func (t *OutcomesTally) Result(now time.Time) *Outcomes {
	t.printed.Do(func() { t.figures = t.print() })
	out := *t.figures
	out.GeneratedAt = now.UTC().Format(time.RFC3339)
	return &out
}

func (t *OutcomesTally) print() *Outcomes {
	out := &Outcomes{Parameters: *t.params}
	out.Parameters.StandardAsked = nil // outcomes have no standardised rates
	l := &ledger{min: t.params.MinCellSize}
	patients := l.cell(t.patients)
	scored := t.printCohort(l, out, patients)
	t.printTrend(l, &out.Trend, scored)
	averaged := l.cell(t.course.average.n)
	l.within(scored, averaged)
	l.mean(&out.TimeWeightedAverage, defTimeWeighted, averaged, &t.course.average, 1, painScale)
	t.printTimeToResponse(l, &out.TimeToResponse, scored)
	t.printInstruments(l, out, patients)
	out.Procedures = t.printTreatments(l, t.procedures(), patients, defProcedure, func(i int) string { return series.ProcedureType(i).String() })
	out.MedicationClasses = t.printTreatments(l, t.classes(), patients, defClass, func(i int) string { return series.Class(i).String() })
	unsure := l.cell(t.unsure)
	l.within(patients, unsure)
	l.count(&out.ClassesUndetermined, unsure)
	l.count(&out.Cohort.Undetermined, l.cell(t.undetermined))
	l.settle()
	return out
}

// printCohort prints the cohort and returns the count of patients with an
// index date.
func (t *OutcomesTally) printCohort(l *ledger, out *Outcomes, patients *cell) (scored *cell) {
	c := &out.Cohort
	c.Definition, c.PrimaryOutcome = defIndexDate, primaryRule
	scored = l.cell(t.baseline.n)
	without, average, current := l.cell(t.patients-t.baseline.n), l.cell(t.byAverage), l.cell(t.byCurrent)
	notDue, due := l.cell(t.notDue), l.cell(t.baseline.n-t.notDue)
	followed, missing := l.cell(t.followed.n), l.cell(t.missing)
	l.sum(patients, scored, without)
	l.sum(scored, average, current)
	l.sum(scored, notDue, due)
	l.sum(due, followed, missing)
	l.count(&c.Patients, patients)
	l.count(&c.WithScores, scored)
	l.count(&c.WithoutScores, without)
	l.count(&c.ByAverage, average)
	l.count(&c.ByCurrent, current)
	t.printPlaces(l, &c.BySite, scored)
	l.count(&c.NotYetDue, notDue)
	l.count(&c.Due, due)
	l.count(&c.FollowedUp, followed)
	l.proportion(&c.Missing, defMissing, ofDue, missing, due)
	l.mean(&out.Baseline, defBaseline, scored, &t.baseline, 1, painScale)
	t.printFollowUp(l, out, followed, due)
	return scored
}

func (t *OutcomesTally) printFollowUp(l *ledger, out *Outcomes, followed, due *cell) {
	f := &out.FollowUp
	f.TargetDay, f.ToleranceDays = int(t.window.target), int(t.window.tolerance)
	above := l.cell(t.percent.n)
	l.within(followed, above)
	l.mean(&f.Baseline, defBaseline, followed, t.followed.before(), 1, painScale)
	l.mean(&f.Pain, defFollowUp, followed, t.followed.after(), 1, painScale)
	l.mean(&f.Change, defChange, followed, t.followed.change(), 1, painScale.changes())
	l.mean(&f.PercentChange, defPercentChange, above, &t.percent, 2, Bounds{-100, math.Inf(1)})
	l.effects(&f.SRM, &f.BaselineEffectSize, followed, &t.followed.paired)

	r := &out.Response
	r30, r50 := l.responders(&r.Responder30, &r.Responder50, &t.followed, above)
	worsened := l.cell(t.worsened)
	l.proportion(&r.Worsened30, defWorsened30, ofFollowedAbove, worsened, above)
	neither := l.cell(t.percent.n - t.followed.r30() - t.worsened)
	neither.silent = true
	l.sum(above, r30, worsened, neither)
	l.proportion(&r.NRSAtLeast2, defNRS2, ofFollowed, l.cell(t.improved2), followed)
	l.proportion(&r.LowBaseline, defLowBaseline, ofFollowed, l.cell(t.low), followed)
	dueAbove := l.cell(t.percent.n + t.missingAboveZero)
	l.within(due, dueAbove)
	l.within(dueAbove, above)
	l.proportion(&r.NonresponderImputation.Responder30, defImputation, ofDueAbove, r30, dueAbove)
	l.proportion(&r.NonresponderImputation.Responder50, defImputation, ofDueAbove, r50, dueAbove)
	t.printAdjusted(l, out, followed, above, r30)
}

// responders prints the responders among those with pain above 0 before.
func (l *ledger) responders(into30, into50 *Proportion, c *comparison, above *cell) (r30, r50 *cell) {
	r30, r50 = l.cell(c.r30()), l.cell(c.r50())
	l.within(r30, r50)
	l.proportion(into30, defResponder30, ofFollowedAbove, r30, above)
	l.proportion(into50, defResponder50, ofFollowedAbove, r50, above)
	return r30, r50
}

func (t *OutcomesTally) printTrend(l *ledger, out *Trend, scored *cell) {
	out.Definition, out.Interval = defTrend, t.params.Interval
	out.Buckets = make([]Bucket, len(t.calendar.buckets))
	for i, span := range t.calendar.buckets {
		b, into := &t.course.buckets[i], &out.Buckets[i]
		n := scored // a single bucket has all of them
		if len(out.Buckets) > 1 {
			n = l.cell(int(b.n))
			l.within(scored, n)
		}
		l.after(func() {
			*into = Bucket{From: dateOf(span.First), To: dateOf(span.Last), N: n.shown(), Suppressed: n.hidden}
			if !n.hidden && b.n > 0 {
				into.Mean, into.Min, into.Max = rounded(b.mean(), 1), rounded(b.min, 1), rounded(b.max, 1)
			}
		})
	}
	s := &t.course.slope
	sloped := l.cell(s.n)
	l.within(scored, sloped)
	l.mean(&out.Slope.PerWeek, defSlope, sloped, s, 4, unbounded)
	l.split(&out.Slope.Patients, defDirection, ofSloped, sloped, directions, l.cellsOf(t.course.direction[:]))
	l.after(func() {
		if s.n > 0 && !sloped.hidden {
			out.Slope.Direction = new(directions[direction(s.mean())])
		}
	})
}

func (t *OutcomesTally) printTimeToResponse(l *ledger, out *TimeToResponse, scored *cell) {
	curve, median := kaplanMeier(t.course.events, t.course.censored)
	n, responded, before := t.baseline.n-t.zeroBaseline, 0, 0
	for _, p := range curve {
		responded += p.Events
		before += p.Censored
	}
	followed, events, censored := l.cell(n), l.cell(responded), l.cell(n-responded)
	l.within(scored, followed)
	l.sum(followed, events, censored)
	l.after(func() {
		*out = TimeToResponse{Definition: defTimeToResponse, N: followed.shown(), Events: events.shown(), Censored: censored.shown(), Curve: []SurvivalPoint{}}
		if out.Suppressed = followed.hidden || events.hidden || censored.hidden; out.Suppressed {
			return
		}
		if l.min > 1 {
			steps := coarse(curve, n, n-responded-before, l.min)
			out.Suppressed = len(steps) < len(curve)
			curve = steps
		}
		out.MedianDays = median
		out.Curve = append(out.Curve, curve...)
		for i := range out.Curve {
			p := &out.Curve[i]
			p.Survival = decimal.Round(p.Survival, 4)
			if p.CI95 != nil {
				p.CI95 = p.CI95.rounded()
			}
		}
	})
}

func (t *OutcomesTally) printInstruments(l *ledger, out *Outcomes, patients *cell) {
	impressions := l.cell(t.impressions)
	l.within(patients, impressions)
	l.proportion(&out.GlobalImpression, defGlobalImpression, ofImpressed, l.cell(t.impressed), impressions)
	used := []instrument.Info{}
	for _, info := range instrument.All() {
		if t.instruments[series.InstrumentOf(info.Name)].patients > 0 {
			used = append(used, info)
		}
	}
	out.Instruments = make([]InstrumentUse, len(used))
	for i := range used {
		info, into := &used[i], &out.Instruments[i]
		tally := &t.instruments[series.InstrumentOf(info.Name)]
		into.Instrument, into.Definition = info.Name, defInstrument
		all, n := l.cell(tally.patients), l.cell(tally.n)
		notDue, missing := l.cell(tally.notDue), l.cell(tally.missing)
		l.within(patients, all)
		l.sum(all, notDue, missing, n)
		l.count(&into.Patients, all)
		l.count(&into.NotYetDue, notDue)
		l.count(&into.Missing, missing)
		scale := Bounds{info.ScoreMin, info.ScoreMax}
		l.mean(&into.Baseline, defBaseline, n, tally.before(), 1, scale)
		l.mean(&into.FollowUp, defFollowUp, n, tally.after(), 1, scale)
		l.mean(&into.Change, defChange, n, tally.change(), 1, scale.changes())
		if c := info.Change; c.Points > 0 || c.Percent > 0 {
			into.ImportantChange = &ImportantChange{positive(c.Points), positive(c.Percent), positive(c.PercentFrom), info.Source}
			into.MCIDMet = new(Proportion)
			l.proportion(into.MCIDMet, defMCID, ofScoredTwice, l.cell(tally.met), n)
		}
	}
}

// positive returns f, or nil if it is 0.
func positive(f float64) *float64 {
	if f == 0 {
		return nil
	}
	return &f
}

// printTreatments prints the treatments that any patient had.
func (t *OutcomesTally) printTreatments(l *ledger, tallies []treatmentTally, patients *cell, definition string, name func(int) string) []BeforeAfter {
	var had []int
	for i := range tallies {
		if tallies[i].patients > 0 && name(i) != "" {
			had = append(had, i)
		}
	}
	out := make([]BeforeAfter, len(had))
	for i, code := range had {
		tally, into := &tallies[code], &out[i]
		into.Treatment, into.Definition, into.Label = name(code), definition, uncontrolled
		all, notDue, noBaseline, missing := l.cell(tally.patients), l.cell(tally.notDue), l.cell(tally.noBaseline), l.cell(tally.missing)
		n, above := l.cell(tally.n), l.cell(tally.n-tally.zero())
		l.within(patients, all)
		l.sum(all, notDue, noBaseline, missing, n)
		l.within(n, above)
		l.count(&into.Patients, all)
		l.count(&into.NotYetDue, notDue)
		l.count(&into.NoBaseline, noBaseline)
		l.count(&into.Missing, missing)
		l.mean(&into.Before, defBaseline, n, tally.before(), 1, painScale)
		l.mean(&into.After, defFollowUp, n, tally.after(), 1, painScale)
		l.mean(&into.Change, defChange, n, tally.change(), 1, painScale.changes())
		l.effects(&into.SRM, &into.EffectSize, n, &tally.paired)
		l.responders(&into.R30, &into.R50, &tally.comparison, above)
		if definition == defProcedure {
			into.Recorded = &Recorded{Definition: defProcedureRecorded}
			recorded := &t.recorded[code]
			n := l.cell(recorded.n)
			l.within(all, n)
			l.mean(&into.Recorded.Before, defProcedureRecorded, n, recorded.before(), 1, painScale)
			l.mean(&into.Recorded.After, defProcedureRecorded, n, recorded.after(), 1, painScale)
			l.mean(&into.Recorded.Change, defProcedureRecorded, n, recorded.change(), 1, painScale.changes())
		}
	}
	return out
}
