package analytics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// equal compares a sum with the numbers that should be in it.
func equal(t *rapid.T, what string, got *sum, want []float64) {
	t.Helper()
	if got.n != len(want) {
		t.Fatalf("%s: %d patients, want %d", what, got.n, len(want))
	}
	if got.n == 0 {
		return
	}
	mean, sd := naiveStats(want)
	if math.Abs(got.mean()-mean) > 1e-7 || got.n > 1 && math.Abs(got.sd()-sd) > 1e-5 {
		t.Fatalf("%s: mean %v, sd %v; want %v, %v", what, got.mean(), got.sd(), mean, sd)
	}
}

func count(t *rapid.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %d, want %d", what, got, want)
	}
}

// pairs compares what was paired, and how many responded.
func pairs(t *rapid.T, what string, got *comparison, list []change) {
	t.Helper()
	var before, after, moved []float64
	r30, r50, zero := 0, 0, 0
	for _, c := range list {
		before, after, moved = append(before, c.before), append(after, c.after), append(moved, c.after-c.before)
		if c.before == 0 {
			zero++
			continue
		}
		if fell := 1 - c.after/c.before; fell > 0.3-1e-11 {
			r30++
			if fell > 0.5-1e-11 {
				r50++
			}
		}
	}
	equal(t, what+" before", got.before(), before)
	equal(t, what+" after", got.after(), after)
	equal(t, what+" change", got.change(), moved)
	count(t, what+" responders", got.r30(), r30)
	count(t, what+" half", got.r50(), r50)
	count(t, what+" zero", got.zero(), zero)
}

// TestOutcomesAreThoseOfTheRecords compares the tally with a naive computation
// of the same measures.
func TestOutcomesAreThoseOfTheRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(50)
		holdOutcomes(rt, patients, ask(t, random.request()))
	})
}

func holdOutcomes(rt *rapid.T, patients []*Patient, q *Params) {
	tally := NewOutcomesTally(q)
	for _, p := range patients {
		tally.Add(p)
	}
	var kept []*Patient
	for _, p := range patients {
		if naivePasses(p, q) {
			kept = append(kept, p)
		}
	}
	count(rt, "patients", tally.patients, len(kept))
	maybe, unsure := 0, 0
	for _, p := range patients {
		if naiveMayPass(p, q) {
			maybe++
		}
		if naivePasses(p, q) && naiveMay(p, q.Start-90, q.AsOf, unknown) {
			unsure++
		}
	}
	count(rt, "may pass", tally.undetermined, maybe)
	count(rt, "unsure", tally.unsure, unsure)
	checkPain(rt, tally, kept, q)
	for code := range tally.instruments {
		checkInstrument(rt, tally, kept, q, series.Instrument(code))
	}
	for code := range tally.procedures() {
		index := func(p *Patient) int64 {
			for _, done := range p.Series.Procedures {
				if done.Type == series.ProcedureType(code) && within(done.At, q.Start, q.AsOf) {
					return done.At
				}
			}
			return 0
		}
		checkTreatment(rt, fmt.Sprint("procedure ", code), &tally.procedures()[code], kept, q, index)
	}
	for code := range tally.classes() {
		checkTreatment(rt, fmt.Sprint("class ", code), &tally.classes()[code], kept, q, func(p *Patient) int64 { return startOf(naiveBegan(p, series.Class(code), q)) })
	}
}

func checkPain(t *rapid.T, tally *OutcomesTally, kept []*Patient, q *Params) {
	var base, percent, slopes, averages []float64
	var followed []change
	average, notDue, missing, worse, two, low, zero := 0, 0, 0, 0, 0, 0, 0
	buckets := map[string][]float64{}
	type ending struct {
		days  int
		event bool
	}
	endings := map[ending]int{}
	places := map[string]int{}
	for _, p := range kept {
		scores, kind, index := naivePrimary(p, q)
		if len(scores) == 0 {
			continue
		}
		if kind.Aspect == series.Average {
			average++
		}
		places[strings.TrimSuffix(cmp.Or(kind.Site.String(), "not stated")+", "+kind.Side.String(), ", ")]++
		all := pointsOf(scores)
		inside := slices.DeleteFunc(slices.Clone(all), func(p point) bool { return !within(p.at, q.Start, q.AsOf) })
		c, due := naiveChange(all, index, q)
		base = append(base, c.before)
		mine := map[string][]float64{}
		for _, p := range inside {
			mine[naiveBucket(q, p.at)] = append(mine[naiveBucket(q, p.at)], p.score)
		}
		for name, list := range mine {
			mean, _ := naiveStats(list)
			buckets[name] = append(buckets[name], mean)
		}
		if slope, ok := naiveSlope(inside); ok {
			slopes = append(slopes, slope)
		}
		if mean, ok := naiveAverage(inside); ok {
			averages = append(averages, mean)
		}
		if c.before > 0 {
			days, event := naiveResponse(inside, index, c.before)
			endings[ending{days, event}]++
		} else {
			zero++
		}
		switch {
		case !due:
			notDue++
		case math.IsNaN(c.after):
			missing++
		default:
			followed = append(followed, c)
			if c.before < 4 {
				low++
			}
			if c.before-c.after > 2-1e-9 {
				two++
			}
			if c.before > 0 {
				percent = append(percent, 100*(c.after/c.before-1))
				if c.after/c.before > 1.3-1e-11 {
					worse++
				}
			}
		}
	}
	equal(t, "baseline", &tally.baseline, base)
	count(t, "by average", tally.byAverage, average)
	for _, g := range tally.Result(now).Cohort.BySite.Groups {
		if q.MinCellSize == 0 {
			count(t, g.Group, *g.Count, places[g.Group])
		}
		delete(places, g.Group)
	}
	count(t, "places", len(places), 0)
	count(t, "not due", tally.notDue, notDue)
	count(t, "missing", tally.missing, missing)
	count(t, "zero", tally.zeroBaseline, zero)
	pairs(t, "follow-up", &tally.followed, followed)
	equal(t, "percent", &tally.percent, percent)
	count(t, "worsened", tally.worsened, worse)
	count(t, "two points", tally.improved2, two)
	count(t, "low", tally.low, low)
	equal(t, "slope", &tally.course.slope, slopes)
	equal(t, "time-weighted", &tally.course.average, averages)
	for i, span := range tally.calendar.buckets {
		b, want := &tally.course.buckets[i], buckets[naiveBucket(q, startOf(span.First))]
		count(t, "bucket", int(b.n), len(want))
		if len(want) == 0 {
			continue
		}
		if mean, _ := naiveStats(want); math.Abs(b.mean()-mean) > 1e-7 || math.Abs(b.min-slices.Min(want)) > 1e-9 || math.Abs(b.max-slices.Max(want)) > 1e-9 {
			t.Fatalf("bucket %v is %+v, want %v", span, b, want)
		}
	}
	for days := range tally.course.events {
		count(t, fmt.Sprint("events on day ", days), int(tally.course.events[days]), endings[ending{days, true}])
		count(t, fmt.Sprint("censored on day ", days), int(tally.course.censored[days]), endings[ending{days, false}])
	}
}

func checkTreatment(t *rapid.T, what string, got *treatmentTally, kept []*Patient, q *Params, index func(*Patient) int64) {
	treated, notDue, noBaseline, missing := 0, 0, 0, 0
	var list []change
	for _, p := range kept {
		began := index(p)
		if began == 0 {
			continue
		}
		treated++
		scores, _, _ := naivePrimary(p, q)
		index := dayOf(began)
		c := change{naiveBaseline(pointsOf(naiveBefore(scores, began)), index), naiveFollowUp(pointsOf(scores), index, q)}
		switch due := naiveDue(index, q); {
		case !due:
			notDue++
		case math.IsNaN(c.before):
			noBaseline++
		case math.IsNaN(c.after):
			missing++
		default:
			list = append(list, c)
		}
	}
	count(t, what, got.patients, treated)
	count(t, what+" not due", got.notDue, notDue)
	count(t, what+" no baseline", got.noBaseline, noBaseline)
	count(t, what+" missing", got.missing, missing)
	pairs(t, what, &got.comparison, list)
}

func checkInstrument(t *rapid.T, tally *OutcomesTally, kept []*Patient, q *Params, code series.Instrument) {
	got := &tally.instruments[code]
	used, notDue, missing, met, latestGood, latestAny := 0, 0, 0, 0, 0, 0
	var moved []float64
	for _, p := range kept {
		var list []point
		index, latest := drug.Day(0), 0.0
		for _, a := range p.Series.Assessments {
			if a.Instrument != code || !a.Score.Known || a.At >= startOf(q.AsOf+1) {
				continue
			}
			list = append(list, point{a.At, a.Score.Number})
			if index == 0 && within(a.At, q.Start, q.AsOf) {
				index = dayOf(a.At)
			}
			if within(a.At, q.Start, q.AsOf) {
				latest = a.Score.Number
			}
		}
		if index == 0 {
			continue
		}
		if code == pgic {
			if latest > 0 { // the least answer is 1
				latestAny++
			}
			if latest > 0 && latest <= 2 {
				latestGood++
			}
			continue
		}
		used++
		switch c, due := naiveChange(list, index, q); {
		case !due:
			notDue++
		case math.IsNaN(c.after):
			missing++
		default:
			moved = append(moved, c.after-c.before)
			if naiveMet(code.String(), c) {
				met++
			}
		}
	}
	what := "instrument " + code.String()
	count(t, what, got.patients, used)
	count(t, what+" not due", got.notDue, notDue)
	count(t, what+" missing", got.missing, missing)
	count(t, what+" met", got.met, met)
	equal(t, what, got.change(), moved)
	if code == pgic {
		count(t, "impressions", tally.impressions, latestAny)
		count(t, "impressed", tally.impressed, latestGood)
	}
}

// TestPopulationIsThatOfTheRecords does the same for the other tally.
func TestPopulationIsThatOfTheRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(50)
		q := ask(t, random.request())
		tally := NewPopulationTally(q)
		want := map[string]int{}
		var peaks, averages []float64
		for _, p := range patients {
			tally.Add(p)
			if naiveMayPass(p, q) {
				want["may pass"]++
			}
			if naivePasses(p, q) {
				peaks, averages = naivePopulation(p, q, want, peaks, averages)
			}
		}
		o := &tally.opioid
		for what, got := range map[string]int{
			"patients": tally.patients, "active": tally.active, "by average": tally.byAverage, "by current": tally.byCurrent,
			"gap": tally.last[1], "never": tally.last[2], "severe": tally.severity[3], "mild": tally.severity[1], "none": tally.severity[0],
			"took 1": tally.treated[1], "took 4": tally.treated[4], "opioid only": tally.exclusive[0], "non-opioid only": tally.exclusive[1], "both": tally.exclusive[2],
			"assumed": tally.assumed, "dose assumed": o.assumed, "surely 90 overlapped": o.surely90Overlapped, "exposed": o.exposed, "long": o.longTerm, "long known": o.longTermN, "incomplete": o.incomplete, "50": o.at50, "50 known": o.at50N, "90": o.at90, "90 known": o.at90N,
			"benzo": o.benzo.yes, "benzo known": o.benzo.n, "gaba": o.gabapentinoid.yes, "gaba known": o.gabapentinoid.n, "naloxone": o.naloxone.yes, "naloxone known": o.naloxone.n,
			"may pass": tally.undetermined, "maybe": o.maybe, "undetermined mix": tally.exclusive[4], "undetermined exposed": tally.unsureExposed, "maybe nsaid": tally.unsure[4],
			"surely 90": o.surely90, "surely 50": o.surely50, "out open": o.outOpen, "exposure known male": tally.measures[exposure].n.genders()[Male],
			"exposure open male": tally.measures[exposure].open.genders()[Male], "50 open male": tally.measures[atLeast50].open.genders()[Male], "long open male": tally.measures[longTerm].open.genders()[Male],
			"out": o.outOfScope, "out 50": o.out50, "out 90": o.out90, "out benzo": o.outBenzo, "65+": tally.present.ages()[4], "18-29": tally.present.ages()[1],
			"male": tally.present.genders()[Male], "unknown": tally.present.genders()[UnknownGender], "severe male": tally.measures[severePain].yes.genders()[Male],
		} {
			count(rt, what, got, want[what])
		}
		var carried, doubled []float64
		for i := 0; i < len(peaks); i += 2 {
			carried, doubled = append(carried, peaks[i]), append(doubled, peaks[i+1])
		}
		numbers := func(lists ...*doses) (all []float64) {
			for _, list := range lists {
				for _, one := range list.own {
					all = append(all, one.mme())
				}
			}
			return all
		}
		for what, lists := range map[string][2][]float64{"peak": {numbers(&o.peaks, &o.carried), carried}, "overlapped": {numbers(&o.peaks, &o.uncarried), doubled}, "average": {numbers(&o.averages), averages}} {
			count(rt, what, len(lists[0]), len(lists[1]))
			slices.Sort(lists[0])
			slices.Sort(lists[1])
			for i := range lists[0] {
				if math.Abs(lists[0][i]-lists[1][i]) > 1e-6 {
					rt.Fatalf("%s is %v, want %v", what, lists[0], lists[1])
				}
			}
		}
	})
}

// naivePopulation counts one patient by the names of what it is.
func naivePopulation(p *Patient, q *Params, want map[string]int, peaks, averages []float64) (_, _ []float64) {
	is := func(what string, yes bool) bool {
		if yes {
			want[what]++
		}
		return yes
	}
	is("patients", true)
	last := int64(math.MinInt64)
	active := false
	for _, s := range p.Series.Scores {
		if s.At < startOf(q.AsOf+1) {
			last = max(last, s.At)
		}
		active = active || within(s.At, q.Start, q.AsOf)
	}
	is("never", last == math.MinInt64)
	is("gap", last != math.MinInt64 && date(q.AsOf).Sub(date(dayOf(last))) > 90*24*time.Hour)
	for _, a := range p.Series.Assessments {
		active = active || within(a.At, q.Start, q.AsOf)
	}
	for _, a := range p.Series.Procedures {
		active = active || within(a.At, q.Start, q.AsOf)
	}
	took := map[string]bool{}
	supposed := false
	for _, c := range courses(p) {
		if naiveTook(c, q.Start, q.AsOf) {
			took[c.Class.String()], active = true, true
		}
		for d := q.Start; d <= q.AsOf; d++ {
			supposed = supposed || c.Open && c.days[d] && d > c.First
		}
	}
	if !is("active", active) {
		return peaks, averages
	}
	age := naiveAge(p.Born, q.AsOf)
	is("65+", age >= 65)
	is("18-29", age >= 18 && age < 30)
	is("male", p.Gender == Male)
	is("unknown", p.Gender == UnknownGender)
	if band, ok := naiveSeverity(p, q); ok {
		is(string(band), true)
		is("severe male", band == pain.Severe && p.Gender == Male)
		average := slices.ContainsFunc(p.Series.Scores, func(s series.Score) bool {
			_, can := s.Normalized()
			return can && s.Aspect == series.Average && within(s.At, q.Start, q.AsOf)
		})
		is("by average", average)
		is("by current", !average)
	}
	is("assumed", supposed)
	exposed, others := took["opioid"], took["gabapentinoid"] || took["nsaid"]
	is("took 1", exposed)
	is("took 4", took["nsaid"])
	male := p.Gender == Male
	open := naiveMay(p, q.Start, q.AsOf, unknown)
	maybe := !exposed && open
	outside := false
	for e, since := range p.Exempt.since {
		outside = outside || p.Exempt.has>>e&1 != 0 && since <= q.AsOf
	}
	is("maybe", maybe)
	is("exposure known male", male && !maybe)
	is("exposure open male", male && maybe)
	is("maybe nsaid", open && !took["nsaid"])
	mixed := !open && !maybe
	is("opioid only", mixed && exposed && !others)
	is("non-opioid only", mixed && !exposed && others)
	is("both", exposed && others)
	is("undetermined mix", !mixed && !(exposed && others))
	is("undetermined exposed", !mixed && exposed && !others)
	sure, possible := 0, 0
	for d := q.AsOf - 364; d <= q.AsOf; d++ {
		if anyOn(p, d, opioid) {
			sure++
		}
		if anyOn(p, d, opioid, unknown) {
			possible++
		}
	}
	is("long", sure >= 90)
	is("long known", sure >= 90 || possible < 90)
	is("long open male", male && sure < 90 && possible >= 90)
	if !is("exposed", exposed) {
		is("50 open male", maybe && male)
		is("out open", maybe && outside)
		return peaks, averages
	}
	is("out", outside)
	var peak, doubled, total float64
	days, incomplete, supposed := 0, false, false
	for d := q.Start; d <= q.AsOf; d++ {
		mme, overlapped, known, missing, assumed := naiveDose(p, d)
		incomplete, supposed, doubled = incomplete || missing, supposed || assumed, max(doubled, overlapped, mme)
		if known {
			peak, total, days = max(peak, mme), total+mme, days+1
		}
	}
	is("incomplete", incomplete)
	is("dose assumed", supposed)
	complete := days > 0 && !incomplete
	is("surely 90", !complete && peak > 90-1e-9)
	is("surely 90 overlapped", !complete && days > 0 && doubled > 90-1e-9)
	is("surely 50", !complete && peak > 50-1e-9 && peak < 90-1e-9)
	is("50 open male", male && !complete && peak < 50-1e-9)
	if complete {
		peaks, averages = append(peaks, peak, doubled), append(averages, total/float64(days))
	}
	for name, limit := range map[string]float64{"50": 50, "90": 90} {
		is(name, peak > limit-1e-9)
		is(name+" known", peak > limit-1e-9 || complete)
		is("out "+name, outside && peak > limit-1e-9)
	}
	for name, class := range map[string]series.Class{"benzo": benzodiazepine, "gaba": gabapentinoid} {
		yes, maybe := naiveOverlap(p, class, q)
		is("out open", name == "benzo" && outside && (!complete || maybe && !yes))
		is(name, yes)
		is(name+" known", yes || !maybe)
		is("out "+name, yes && outside)
	}
	naloxoned := is("naloxone", slices.ContainsFunc(courses(p), func(c naiveCourse) bool {
		given := c.First > q.AsOf-365 && c.First <= q.AsOf
		return c.Ingredient == naloxone && (naiveTook(c, q.AsOf-364, q.AsOf) && !c.Open || given && (c.Open || len(c.days) == 0))
	}))
	is("naloxone known", naloxoned || !naiveMay(p, q.AsOf-364, q.AsOf, unknown))
	return peaks, averages
}

func naiveOverlap(p *Patient, class series.Class, q *Params) (yes, maybe bool) {
	for d := q.Start; d <= q.AsOf; d++ {
		of := map[series.Class]int{}
		for _, c := range courses(p) {
			if c.days[d] {
				of[c.Class]++
			}
		}
		yes = yes || of[opioid] > 0 && of[class] > 0
		maybe = maybe || min(1, of[opioid])+min(1, of[class])+of[unknown] >= 2 // each unknown is one or the other
	}
	return yes, maybe
}

// TestWorkersDoNotMatter cuts patients up among workers in any way and merges
// the tallies in any order: the answer is the same to the last bit.
func TestWorkersDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(50)
		r := random.request()
		r.MinCellSize = oneOf(random, "", "5", "11")
		q := ask(t, r)
		workers := 1 + random.IntN(5)
		one, otherOne := NewOutcomesTally(q), NewPopulationTally(q)
		many, otherMany := make([]*OutcomesTally, workers), make([]*PopulationTally, workers)
		for i := range many {
			many[i], otherMany[i] = NewOutcomesTally(q), NewPopulationTally(q)
		}
		for _, p := range patients {
			one.Add(p)
			otherOne.Add(p)
			worker := random.IntN(workers)
			many[worker].Add(p)
			otherMany[worker].Add(p)
		}
		for i := workers - 1; i > 0; i-- {
			many[0].Merge(many[i])
			otherMany[i].Close()
			otherMany[0].Merge(otherMany[i])
		}
		for what, answers := range map[string][2]any{"outcomes": {one.Result(now), many[0].Result(now)}, "population": {otherOne.Result(now), otherMany[0].Result(now)}} {
			a, errA := json.Marshal(answers[0])
			b, errB := json.Marshal(answers[1])
			if errA != nil || errB != nil || string(a) != string(b) {
				rt.Fatalf("%s:\n%s\n%s\n%v %v", what, a, b, errA, errB)
			}
		}
		for i := range one.course.buckets { // not only as far as it is printed
			if one.course.buckets[i] != many[0].course.buckets[i] {
				rt.Fatalf("bucket %d is %+v and %+v", i, one.course.buckets[i], many[0].course.buckets[i])
			}
		}
	})
}
