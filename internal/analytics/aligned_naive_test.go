package analytics

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// outcome is what the measures say of one patient: for each crowd whether it is
// considered and why it is excluded, and for each measure what is decided.
type outcome struct {
	considered [crowds]bool
	excluded   [crowds]string
	decided    [alignedCount]string
}

var verdictNames = [verdicts]string{"undecided", "unrecorded", "no", "yes"}

// judged is the outcome of the tally.
func judged(tb testing.TB, q *Params, p *Patient) (o outcome) {
	tb.Helper()
	t := NewPopulationTally(q)
	t.Add(p)
	for c := range crowds {
		o.considered[c] = t.aligned.considered[c] > 0
		for why, n := range t.aligned.excluded[c] {
			if n > 0 {
				o.excluded[c] += exclusionNames[why]
			}
		}
	}
	for m := range t.aligned.decided {
		for v, n := range t.aligned.decided[m] {
			if n > 0 {
				o.decided[m] += verdictNames[v]
			}
		}
	}
	return o
}

// calendarOf is what a patient certainly takes and may take on each day. It
// only uses days and records.
type calendarOf struct{ p *Patient }

func (c calendarOf) takes(d drug.Day, classes ...series.Class) bool {
	return anyOn(c.p, d, classes...)
}

func days(first, last drug.Day, holds func(drug.Day) bool) (n int) {
	for d := first; d <= last; d++ {
		if holds(d) {
			n++
		}
	}
	return n
}

func (c calendarOf) begins(q *Params, classes ...series.Class) int {
	return days(q.Start, q.AsOf, func(d drug.Day) bool { return c.beginsOn(d, classes...) })
}

// beginsOn is whether one that counts on any day was prescribed on a day.
func (c calendarOf) beginsOn(d drug.Day, classes ...series.Class) bool {
	return slices.ContainsFunc(courses(c.p), func(n naiveCourse) bool {
		return slices.Contains(classes, n.Class) && n.First == d && n.counts()
	})
}

// counts is whether there is a day on which it counts.
func (c *naiveCourse) counts() bool {
	for _, is := range c.days {
		if is {
			return true
		}
	}
	return false
}

func word(is, may bool) string {
	switch {
	case is:
		return "yes"
	case may:
		return "undecided"
	}
	return "no"
}

// naiveAligned is the outcome, day by day.
func naiveAligned(p *Patient, q *Params) (o outcome) {
	if !naivePasses(p, q) {
		return o
	}
	adult := naiveAge(p.Born, q.Start) >= 18
	active := naiveActive(p, q)
	var frequency, limits series.Level
	for _, i := range p.Series.Impacts {
		if within(i.At, q.AsOf-91, q.AsOf) {
			if i.Asks == series.Frequency {
				frequency = i.Level
			} else {
				limits = i.Level
			}
		}
	}
	if active || frequency > 0 || limits > 0 {
		o.considered[asked] = true
		switch {
		case !adult:
			o.excluded[asked] = "under_18"
		case frequency > 0 && limits > 0:
			o.decided[highImpact] = word(frequency >= 3 && limits >= 3, false)
		default:
			o.decided[highImpact], o.considered[unasked] = "undecided", true
			quarter := *q
			quarter.Start = q.AsOf - 91
			band, scored := naiveSeverity(p, &quarter)
			rare := frequency > 0 && frequency < 3 || limits > 0 && limits < 3
			o.decided[highImpactProxy] = word(!rare && band == pain.Severe, !rare && !scored)
		}
	}
	if active {
		naiveOpioidMeasures(p, q, &o, adult)
	}
	return o
}

// naiveActive reports whether a patient has something in the period.
func naiveActive(p *Patient, q *Params) bool {
	in := func(at int64) bool { return within(at, q.Start, q.AsOf) }
	return slices.ContainsFunc(p.Series.Scores, func(s series.Score) bool { return in(s.At) }) ||
		slices.ContainsFunc(p.Series.Assessments, func(a series.Assessment) bool { return in(a.At) }) ||
		slices.ContainsFunc(p.Series.Procedures, func(a series.Procedure) bool { return in(a.At) }) ||
		slices.ContainsFunc(courses(p), func(c naiveCourse) bool { return naiveTook(c, q.Start, q.AsOf) })
}

func naiveOpioidMeasures(p *Patient, q *Params, o *outcome, adult bool) {
	c := calendarOf{p}
	sureDay := func(d drug.Day) bool { return c.takes(d, opioid) }
	mayDay := func(d drug.Day) bool { return c.takes(d, opioid, unknown) }
	why := ""
	switch {
	case !adult:
		why = "under_18"
	case exemptOn(p, pain.Cancer, q.AsOf):
		why = "cancer"
	case exemptOn(p, pain.SickleCell, q.AsOf):
		why = "sickle_cell"
	case exemptOn(p, pain.Palliative, q.AsOf):
		why = "palliative_care"
	case naiveOnlyOUD(p, q) == "yes":
		why = "oud_treatment"
	}
	known := naiveOnlyOUD(p, q) != "undecided"
	enter := func(of crowd, why string) bool {
		o.considered[of], o.excluded[of] = true, why
		return why == ""
	}
	sureDays, mayDays := days(q.Start, q.AsOf, sureDay), days(q.Start, q.AsOf, mayDay)
	sure := c.begins(q, opioid) >= 2 && sureDays >= 15
	if (sure || c.begins(q, opioid, unknown) >= 2 && mayDays >= 15) && enter(treated, why) {
		for _, m := range []int{highDose, highDosePeriod, concurrent, manyPrescribers, manyPharmacies, manyBoth} {
			o.decided[m] = "undecided"
		}
		if sure && known {
			naiveTreated(p, q, o)
		}
	}
	if mayDays >= 90 && enter(longUsed, why) {
		screened := slices.ContainsFunc(p.Series.Screens, func(d drug.Day) bool { return d >= q.Start && d <= q.AsOf })
		o.decided[monitored] = word(known && sureDays >= 90 && screened, !known || sureDays < 90)
	}
	naiveEpisode(c, q, o, why, known, enter)
}

func exemptOn(p *Patient, e pain.Exemption, on drug.Day) bool {
	return p.Exempt.has>>e&1 == 1 && p.Exempt.since[e] <= on
}

func naiveOnlyOUD(p *Patient, q *Params) string {
	some, counted, doubt := false, false, false
	for _, m := range courses(p) {
		took := naiveTook(m, q.Start, q.AsOf)
		prescribed := m.counts() && m.First >= q.Start && m.First <= q.AsOf
		switch {
		case m.Class == unknown:
			doubt = doubt || took
		case m.Class != opioid || !took && !prescribed:
		case m.Reason == 1: // buprenorphine
			some = true
		default:
			counted = true
		}
	}
	return word(some && !counted && !doubt, some && !counted)
}

func naiveTreated(p *Patient, q *Params, o *outcome) {
	c := calendarOf{p}
	var total float64
	first, last, mayFirst, mayLast := drug.Day(0), drug.Day(0), drug.Day(0), drug.Day(0)
	dosed, mayDosed, lacking := 0, 0, false
	for d := q.Start; d <= q.AsOf; d++ {
		mme, _, known, missing, _ := naiveDose(p, d)
		lacking = lacking || missing
		total += mme
		if known {
			dosed++
		}
		if known || missing {
			mayDosed++
		}
		if c.takes(d, opioid) {
			if first == 0 {
				first = d
			}
			last = d
		}
		if c.takes(d, opioid, unknown) {
			if mayFirst == 0 {
				mayFirst = d
			}
			mayLast = d
		}
	}
	high := func(days int) bool { return days > 0 && total/float64(days) > 90-1e-9 }
	decide := func(known, most int) string {
		if !lacking {
			return word(high(known), false)
		}
		return word(high(most), true)
	}
	o.decided[highDose] = decide(dosed, mayDosed)
	o.decided[highDosePeriod] = decide(int(last-first)+1, int(mayLast-mayFirst)+1)

	shared := days(q.Start, q.AsOf, func(d drug.Day) bool { return c.takes(d, opioid) && c.takes(d, benzodiazepine) })
	mayShare := days(q.Start, q.AsOf, func(d drug.Day) bool {
		n := 0
		if c.takes(d, opioid) {
			n++
		}
		if c.takes(d, benzodiazepine) {
			n++
		}
		for _, m := range courses(p) {
			if m.Class == unknown && m.days[d] {
				n++
			}
		}
		return n >= 2
	})
	o.decided[concurrent] = word(c.begins(q, benzodiazepine) >= 2 && shared >= 30, c.begins(q, benzodiazepine, unknown) >= 2 && mayShare >= 30)

	sources := func(of func(series.Medication) uint32) string {
		named, all, blank, blanks := map[uint32]bool{}, map[uint32]bool{}, 0, 0
		for _, m := range courses(p) {
			if m.Class != opioid && m.Class != unknown || m.First < q.Start || m.First > q.AsOf || !m.counts() {
				continue
			}
			switch source := of(m.Medication); {
			case source == 0 && m.Class == opioid:
				blank++
				blanks++
			case source == 0:
				blanks++
			case m.Class == opioid:
				named[source], all[source] = true, true
			default:
				all[source] = true
			}
		}
		if len(named) < 4 && len(named)+blank >= 4 {
			return "unrecorded"
		}
		return word(len(named) >= 4, len(all)+blanks >= 4)
	}
	prescribers, pharmacies := sources(func(m series.Medication) uint32 { return m.Prescriber }), sources(func(m series.Medication) uint32 { return m.Pharmacy })
	o.decided[manyPrescribers], o.decided[manyPharmacies] = prescribers, pharmacies
	two := []string{prescribers, pharmacies}
	for _, answer := range []string{"no", "undecided", "unrecorded", "yes"} { // the first that either has
		if slices.Contains(two, answer) {
			o.decided[manyBoth] = answer
			break
		}
	}
}

func naiveEpisode(c calendarOf, q *Params, o *outcome, why string, known bool, enter func(crowd, string) bool) {
	clean := func(d drug.Day) bool {
		return days(d-180, d-1, func(d drug.Day) bool { return c.takes(d, opioid) }) == 0
	}
	doubt := func(d drug.Day) bool { return c.takes(d, unknown) }
	first, maybe := drug.Day(0), false
	for d := q.Start; d <= q.AsOf && first == 0; d++ {
		if c.takes(d, opioid) && clean(d) {
			first = d
		}
		for _, m := range courses(c.p) {
			maybe = maybe || m.Class == unknown && m.days[d] && !m.days[d-1] && clean(d)
		}
	}
	sure := known && first != 0 && days(min(q.Start, first-180), first-1, doubt) == 0
	if first == 0 && !maybe {
		return
	}
	if why == "" && sure && first+61 > q.AsOf {
		why = "episode_not_over"
	}
	if !enter(newlyUsed, why) {
		return
	}
	for m, rule := range map[int][2]int{continued15: {30, 15}, continued31: {62, 31}} {
		last := first + drug.Day(rule[0]) - 1
		yes := days(first, last, func(d drug.Day) bool { return c.takes(d, opioid) }) >= rule[1]
		mayBe := days(first, last, func(d drug.Day) bool { return c.takes(d, opioid) || doubt(d) }) >= rule[1]
		o.decided[m] = word(sure && yes, !sure || mayBe)
	}
}

func TestAlignedMeasuresAreThoseOfTheRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		q := ask(t, random.request())
		for _, p := range random.patients(30) {
			for range random.IntN(10) { // more opioids and benzodiazepines
				m := random.medication()
				if m.Class > 2 && (m.Class < 12 || random.IntN(3) > 0) {
					m.Class, m.Ingredient, m.Reason, m.MME = opioid, 0, 0, float64(10*(1+random.IntN(15)))
				}
				p.Series.Medications = append(p.Series.Medications, m)
			}
			p.Series.Sort()
			got, want := judged(t, q, p), naiveAligned(p, q)
			if got != want {
				rt.Fatalf("%v of %+v\nis   %+v\nwant %+v", q.Period(), *p.Series, got, want)
			}
		}
	})
}

// TestUnknownDecidesNothing turns what is not understood into what it may be: of
// what a measure has decided nothing changes.
func TestUnknownDecidesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		q := ask(t, random.request())
		for _, p := range random.patients(20) {
			for range 1 + random.IntN(4) {
				m := random.medication()
				m.Class, m.Reason, m.MME, m.Ingredient = oneOf(random, unknown, opioid), 0, 0, 0
				if m.Class == unknown {
					m.Reason = 9
				} else {
					m.MME = float64(random.IntN(20) * 10)
				}
				p.Series.Medications = append(p.Series.Medications, m)
			}
			p.Series.Sort()
			before := judged(t, q, p)
			revealed := *p.Series
			revealed.Medications = slices.Clone(p.Series.Medications)
			is := map[uint32]series.Class{} // what has one name is one medicine, and none of the others
			for i := range revealed.Medications {
				m := &revealed.Medications[i]
				if m.Class != unknown {
					continue
				}
				if is[m.Drug] == 0 || m.Drug == 0 {
					is[m.Drug] = oneOf[series.Class](random, opioid, opioid, benzodiazepine, 4)
				}
				m.Class, m.Reason = is[m.Drug], 0
				if m.Drug != 0 {
					m.Drug += 1000
				}
				if m.Class == opioid {
					m.MME = oneOf[float64](random, 1, 200)
				}
			}
			revealed.Sort()
			after := *p
			after.Series = &revealed
			if !naivePasses(&after, q) || !naivePasses(p, q) || naiveActive(p, q) != naiveActive(&after, q) {
				continue
			}
			now := judged(t, q, &after)
			for m, was := range before.decided {
				if was == "yes" || was == "no" {
					if now.decided[m] != was && now.decided[m] != "undecided" && now.decided[m] != "unrecorded" {
						rt.Fatalf("%s was %s, is %q\n%+v\n%+v", alignedMeasures[m].ID, was, now.decided[m], p.Series.Medications, revealed.Medications)
					}
				}
				if was == "" && now.decided[m] != "" && before.excluded[alignedMeasures[m].of] == "" {
					rt.Fatalf("%s was not considered, is %q\n%+v\n%+v", alignedMeasures[m].ID, now.decided[m], p.Series.Medications, revealed.Medications)
				}
			}
		}
	})
}
