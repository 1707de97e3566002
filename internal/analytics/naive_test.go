package analytics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/pain/series"
)

// The same measures once more, in the plainest words: everything is looked at
// day by day, from the beginning, for each figure anew.

func date(d drug.Day) time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

func within(at int64, first, last drug.Day) bool {
	t := time.UnixMilli(at)
	return !t.Before(date(first)) && t.Before(date(last).AddDate(0, 0, 1))
}

func naiveTook(c naiveCourse, first, last drug.Day) bool {
	for d := first; d <= last; d++ {
		if c.days[d] {
			return true
		}
	}
	return false
}

func naiveAge(born, on drug.Day) int {
	age := 0
	for b := date(born); ; age++ {
		birthday := time.Date(b.Year()+age+1, b.Month(), b.Day(), 0, 0, 0, 0, time.UTC) // 29 February becomes 1 March
		if birthday.After(date(on)) {
			return age
		}
	}
}

// naiveMay reports whether a medicine of some classes is taken on a day of some.
func naiveMay(p *Patient, first, last drug.Day, classes ...series.Class) bool {
	for d := first; d <= last; d++ {
		if anyOn(p, d, classes...) {
			return true
		}
	}
	return false
}

// unknown is the class of what is not understood.
const unknown series.Class = 12

// naiveMayPass reports whether a patient does not pass by the class that is
// asked for, but might.
func naiveMayPass(p *Patient, q *Params) bool {
	if q.MedicationClass == nil || naivePasses(p, q) {
		return false
	}
	all := *q
	all.MedicationClass = nil
	return naivePasses(p, &all) && naiveMay(p, q.Start, q.AsOf, unknown)
}

func naivePasses(p *Patient, q *Params) bool {
	age := naiveAge(p.Born, q.AsOf)
	if q.AgeMin != nil && age < *q.AgeMin || q.AgeMax != nil && age > *q.AgeMax || q.Gender != nil && *q.Gender != p.Gender.String() {
		return false
	}
	if q.Condition != nil && !slices.ContainsFunc(p.Codes, func(c string) bool { return strings.HasPrefix(c, *q.Condition) }) {
		return false
	}
	return q.MedicationClass == nil || slices.ContainsFunc(courses(p), func(c naiveCourse) bool {
		return c.Class.String() == *q.MedicationClass && naiveTook(c, q.Start, q.AsOf)
	})
}

// naivePrimary is the scores of the primary outcome up to the last day, where the
// pain is, and the index date: the first day in the period with average pain, or
// else current. Every score of the period is asked in turn whether another kind has
// more scores at baseline, or as many and worse ones.
func naivePrimary(p *Patient, q *Params) (list []series.Score, kind series.Kind, index drug.Day) {
	aspect := ""
	for _, s := range p.Series.Scores {
		if within(s.At, q.Start, q.AsOf) && s.Scale.String() != "vrs4" && (s.Aspect.String() == "average" || s.Aspect.String() == "current" && aspect == "") {
			aspect = s.Aspect.String()
		}
	}
	var candidates []series.Score
	for _, s := range p.Series.Scores {
		if within(s.At, q.Start, q.AsOf) && s.Scale.String() != "vrs4" && s.Aspect.String() == aspect {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) == 0 {
		return nil, series.Kind{}, 0
	}
	index = dayOf(candidates[0].At)
	rank := func(k series.Kind) string {
		n, sum := 0, 0.0
		for _, s := range p.Series.Scores {
			if f, _ := s.Normalized(); s.Kind == k && within(s.At, index-13, index) {
				n, sum = n+1, sum+f
			}
		}
		return fmt.Sprintf("%09d %09.4f %03d %03d %03d", n, sum/max(1, float64(n)), 255-k.Scale, 255-k.Site, 255-k.Side)
	}
	best := slices.MaxFunc(candidates, func(a, b series.Score) int { return strings.Compare(rank(a.Kind), rank(b.Kind)) })
	for _, s := range p.Series.Scores {
		if s.Kind == best.Kind && s.At < startOf(q.AsOf+1) {
			list = append(list, s)
		}
	}
	return list, best.Kind, index
}

func pointsOf(scores []series.Score) (list []point) {
	for _, s := range scores {
		f, _ := s.Normalized()
		list = append(list, point{s.At, f})
	}
	return list
}

func naiveBaseline(list []point, index drug.Day) float64 {
	var sum, n float64
	nearest := math.NaN()
	for _, p := range list {
		if within(p.at, index-13, index) {
			sum, n = sum+p.score, n+1
		}
		if within(p.at, index-30, index) {
			nearest = p.score
		}
	}
	if n > 0 {
		return sum / n
	}
	return nearest
}

// naiveBefore leaves out the scores that are not before a treatment at a time:
// midnight is a time that is not known.
func naiveBefore(scores []series.Score, began int64) (list []series.Score) {
	unknown := func(at int64) bool { return date(dayOf(at)).Equal(time.UnixMilli(at)) }
	for _, s := range scores {
		if sameDay := dayOf(s.At) == dayOf(began); s.After || sameDay && !unknown(began) && !unknown(s.At) && s.At > began {
			continue
		}
		list = append(list, s)
	}
	return list
}

func naiveFollowUp(list []point, index drug.Day, q *Params) float64 {
	off := map[int]int{30: 14, 90: 30, 180: 45, 365: 60}[q.FollowUp]
	for far := 0; far <= off; far++ {
		for _, d := range []drug.Day{index + drug.Day(q.FollowUp-far), index + drug.Day(q.FollowUp+far)} {
			for _, p := range list {
				if within(p.at, d, d) {
					return p.score
				}
			}
		}
	}
	return math.NaN()
}

func naiveDue(index drug.Day, q *Params) bool {
	return int(index)+q.FollowUp+map[int]int{30: 14, 90: 30, 180: 45, 365: 60}[q.FollowUp] <= int(q.AsOf)
}

// change is a patient before and after; NaN is not known.
type change struct{ before, after float64 }

func naiveChange(list []point, index drug.Day, q *Params) (c change, due bool) {
	return change{naiveBaseline(list, index), naiveFollowUp(list, index, q)}, naiveDue(index, q)
}

// naiveStats is the mean and the standard deviation.
func naiveStats(list []float64) (mean, sd float64) {
	for _, f := range list {
		mean += f / float64(len(list))
	}
	for _, f := range list {
		sd += (f - mean) * (f - mean) / float64(len(list)-1)
	}
	return mean, math.Sqrt(sd)
}

func naiveBucket(q *Params, at int64) string {
	t := time.UnixMilli(at).UTC()
	switch q.Interval {
	case ByDay:
		return t.Format(time.DateOnly)
	case ByWeek:
		year, week := t.ISOWeek()
		return fmt.Sprint(year, " ", week)
	}
	return t.Format("2006-01")
}

// naiveSlope is that of the least squares line through points, by its means.
func naiveSlope(list []point) (perWeek float64, ok bool) {
	span := float64(list[len(list)-1].at-list[0].at) / 86400e3
	if len(list) < 3 || span < 14 {
		return 0, false
	}
	var mx, my float64
	for _, p := range list {
		mx += float64(p.at-list[0].at) / (7 * 86400e3) / float64(len(list))
		my += p.score / float64(len(list))
	}
	var xy, xx float64
	for _, p := range list {
		x := float64(p.at-list[0].at)/(7*86400e3) - mx
		xy += x * (p.score - my)
		xx += x * x
	}
	return xy / xx, true
}

func naiveAverage(list []point) (_ float64, ok bool) {
	var area, time float64
	for i := 1; i < len(list); i++ {
		if gap := float64(list[i].at-list[i-1].at) / 86400e3; gap <= 30 {
			area += gap * (list[i].score + list[i-1].score) / 2
			time += gap
		}
	}
	return area / time, time > 0
}

// naiveResponse is the day of the response, or of the last score.
func naiveResponse(list []point, index drug.Day, base float64) (days int, event bool) {
	better := func(i int) bool { return i >= len(list) || (list[i].score-base)/base <= -0.3+1e-11 }
	for i, p := range list {
		days = int(date(dayOf(p.at)).Sub(date(index)).Hours() / 24)
		if days > 0 && better(i) && better(i+1) {
			return days, true
		}
	}
	return days, false
}

func naiveMet(name string, c change) bool {
	info := instrument.Find(name).Change
	fall := c.before - c.after
	return info.Points > 0 && fall > info.Points-1e-9 || info.Percent > 0 && c.before > 0 && c.before > info.PercentFrom-1e-9 && fall/c.before > info.Percent/100-1e-11
}

// naiveBegan is the first day in the period on which a class begins; 0 when
// there is none, or it was taken in the 90 days before.
func naiveBegan(p *Patient, class series.Class, q *Params) (first drug.Day) {
	for _, c := range courses(p) {
		for d := q.Start; c.Class == class && d <= q.AsOf; d++ {
			if c.days[d] && !c.days[d-1] && (first == 0 || d < first) {
				first = d
			}
		}
	}
	for d := first - 90; first > 0 && d < first; d++ {
		if anyOn(p, d, class) {
			return 0
		}
	}
	return first
}

// naiveDose is the dose of a day, and without supply being carried.
func naiveDose(p *Patient, d drug.Day) (mme, overlapped float64, known, incomplete, assumed bool) {
	for _, c := range courses(p) {
		if c.Class == opioid && c.Reason == 0 && c.overlapped[d] {
			overlapped += c.MME
		}
		if !c.days[d] {
			continue
		}
		incomplete = incomplete || c.Class == unknown || c.Class == opioid && c.Reason == 8
		assumed = assumed || c.Class == opioid && c.Open && d > c.First
		if c.Class == opioid && c.Reason == 0 {
			mme, known = mme+c.MME, true
		}
	}
	return mme, overlapped, known, incomplete, assumed
}

func naiveSeverity(p *Patient, q *Params) (band pain.Severity, ok bool) {
	for _, aspect := range []series.Aspect{series.Average, series.Current} {
		for _, s := range slices.Backward(p.Series.Scores) {
			if f, can := s.Normalized(); can && s.Aspect == aspect && within(s.At, q.Start, q.AsOf) {
				return pain.DefaultScheme.Of(f), true
			}
		}
	}
	return "", false
}
