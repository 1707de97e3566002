package analytics

import (
	"math"
	"time"

	"anodyne.example/anodyne/internal/pain/drug"
)

// earlier reads the dates of the earlier period to compare with. By default it
// is as long as the period itself and ends on the day before it.
func (c checker) earlier(p *Params) {
	r := c.request
	if r.CompareStart == "" && r.CompareEnd == "" {
		return
	}
	end, okEnd := c.date("compare_end_date", r.CompareEnd, p.Start-1)
	start, okStart := c.date("compare_start_date", r.CompareStart, end-(p.End-p.Start))
	if !okStart || !okEnd {
		return
	}
	switch {
	case start > end:
		c.Add("compare_start_date", valueOf(r.CompareStart), "compare_start_date must not be after compare_end_date, nor on or after start_date.")
	case end >= p.Start:
		c.Add("compare_end_date", valueOf(r.CompareEnd), "compare_end_date must be before start_date: the comparison period must be earlier.")
	case int(end-start)+1 > maxPeriodDays:
		c.Add("compare_start_date", valueOf(r.CompareStart), "The earlier period must not be longer than 100 years.")
	}
	p.CompareStartDate, p.CompareEndDate = new(dateOf(start)), new(dateOf(end))
	p.earlier = drug.Span{First: start, Last: end}
}

// Earlier returns the same query for the earlier period, or nil without a
// comparison.
func (p *Params) Earlier() *Params {
	if p.CompareStartDate == nil {
		return nil
	}
	q := *p
	q.Start, q.End = p.earlier.First, p.earlier.Last
	q.AsOf = max(q.Start, min(q.End, p.AsOf))
	q.StartDate, q.EndDate, q.AsOfDate = dateOf(q.Start), dateOf(q.End), dateOf(q.AsOf)
	q.Interval = ByMonth // few enough buckets
	q.StandardAsked, q.standard, q.Adjust = nil, standard{}, nil
	q.CompareStartDate, q.CompareEndDate, q.earlier = nil, nil, drug.Span{}
	return &q
}

// Comparison compares the main figures with those of an earlier period.
type Comparison struct {
	Definition string `json:"definition"`
	Label      string `json:"label"` // what the intervals do not account for
	StartDate  string `json:"start_date"`
	EndDate    string `json:"end_date"`
	AsOf       string `json:"as_of"`
	Patients   Count  `json:"patients"` // matching the filters in the earlier period
	// Undetermined counts further patients who may match a medication class
	// filter in the earlier period.
	Undetermined Count          `json:"undetermined"`
	Rates        []ComparedRate `json:"rates"`
	Means        []ComparedMean `json:"means"`

	hidden bool // the whole earlier period
}

// ComparedRate is a proportion in both periods. The difference is current
// minus earlier, with Newcombe's interval; it is null if either is hidden or
// has fewer than 11 patients.
type ComparedRate struct {
	Figure     string     `json:"figure"`
	Current    Proportion `json:"current"`
	Earlier    Proportion `json:"earlier"`
	Difference *float64   `json:"difference"`
	DiffCI95   *Bounds    `json:"difference_ci95"`
	Reason     *string    `json:"reason"` // why the difference is missing
}

// ComparedMean is a mean in both periods. Difference is current minus earlier,
// with Welch's interval.
type ComparedMean struct {
	Figure     string   `json:"figure"`
	Current    Mean     `json:"current"`
	Earlier    Mean     `json:"earlier"`
	Difference *float64 `json:"difference"`
	DiffCI95   *Bounds  `json:"difference_ci95"`
	Reason     *string  `json:"reason"`
}

// The reasons for missing figures.
const (
	reasonHidden      = "suppressed"
	reasonTooFew      = "too_few_patients"
	reasonEmpty       = "empty_stratum"
	reasonNoDimension = "standard_without_that_dimension"
	reasonNobody      = "nobody"
	reasonSingular    = "singular"
	reasonSeparation  = "separation"
)

// notPaired is shown with every comparison of periods.
const notPaired = "The two periods are treated as independent groups. A patient can be in both, in which case the interval is usually wider than necessary. Nothing is adjusted for."

// newComparison starts a comparison with the counts of patients who match the
// filters in both periods. They are often the same patients: if one of the
// counts is hidden, the whole earlier period is hidden, because the other
// count would reveal it.
func newComparison(p *Params, current, earlier, undetermined Count) *Comparison {
	c := &Comparison{Definition: defEarlier, Label: notPaired, StartDate: p.StartDate, EndDate: p.EndDate, AsOf: p.AsOfDate, Rates: []ComparedRate{}, Means: []ComparedMean{}}
	c.Patients, c.Undetermined = earlier, undetermined
	if c.hidden = current.Suppressed || earlier.Suppressed; c.hidden {
		c.Patients, c.Undetermined = Count{Suppressed: true}, Count{Suppressed: true}
	}
	return c
}

// rate adds a proportion of both responses.
func (c *Comparison) rate(figure string, current, earlier *Proportion) {
	if c.hidden {
		earlier = &Proportion{Definition: earlier.Definition, Denominator: earlier.Denominator, Suppressed: true}
	}
	r := ComparedRate{Figure: figure, Current: *current, Earlier: *earlier}
	switch {
	case current.Count == nil || current.N == nil || earlier.Count == nil || earlier.N == nil:
		r.Reason = new(reasonHidden)
	case *current.N < minToCompare || *earlier.N < minToCompare:
		r.Reason = new(reasonTooFew)
	default:
		difference, ci := Newcombe(*current.Count, *current.N, *earlier.Count, *earlier.N)
		r.Difference, r.DiffCI95 = rounded(difference, 4), ci.rounded()
	}
	c.Rates = append(c.Rates, r)
}

// mean adds a mean of both responses, with its sums.
func (c *Comparison) mean(figure string, current, earlier *Mean, these, those *sum, scale Bounds) {
	if c.hidden {
		earlier = &Mean{Definition: earlier.Definition, Suppressed: true}
	}
	m := ComparedMean{Figure: figure, Current: *current, Earlier: *earlier}
	switch {
	case current.N == nil || earlier.N == nil:
		m.Reason = new(reasonHidden)
	case these.n < minToCompare || those.n < minToCompare:
		m.Reason = new(reasonTooFew)
	default:
		difference, ci := welch(these.mean(), these.sd(), these.n, those.mean(), those.sd(), those.n)
		m.Difference, m.DiffCI95 = rounded(difference, 4), ci.within(scale.changes()).rounded()
	}
	c.Means = append(c.Means, m)
}

// welch returns the difference of two means, the first minus the second, with
// Welch's interval: Student's quantile at Satterthwaite's degrees of freedom,
// rounded down. Both groups need two patients or more.
func welch(mean1, sd1 float64, n1 int, mean2, sd2 float64, n2 int) (difference float64, _ Bounds) {
	v1, v2 := sd1*sd1/float64(n1), sd2*sd2/float64(n2)
	d := mean1 - mean2
	if v1+v2 == 0 {
		return d, Bounds{d, d}
	}
	df := (v1 + v2) * (v1 + v2) / (v1*v1/float64(n1-1) + v2*v2/float64(n2-1))
	half := student(int(df+tolerance)) * math.Sqrt(v1+v2)
	return d, Bounds{d - half, d + half}
}

// ResultAgainst returns the response, compared with the main figures of an
// earlier period if its tally is given.
func (t *OutcomesTally) ResultAgainst(earlier *OutcomesTally, now time.Time) *Outcomes {
	out := t.Result(now)
	if earlier != nil {
		out.against(t, earlier.Result(now), earlier)
	}
	return out
}

// ResultAgainst returns the response, compared with the main figures of an
// earlier period if its tally is given.
func (t *PopulationTally) ResultAgainst(earlier *PopulationTally, now time.Time) *Population {
	out := t.Result(now)
	if earlier != nil {
		out.against(earlier.Result(now), earlier.params)
	}
	return out
}

// against adds the comparison with the response for an earlier period.
func (o *Outcomes) against(t *OutcomesTally, earlier *Outcomes, before *OutcomesTally) {
	c := newComparison(before.params, o.Cohort.Patients, earlier.Cohort.Patients, earlier.Cohort.Undetermined)
	for _, f := range []struct {
		name        string
		now, before *Proportion
	}{
		{defMissing, &o.Cohort.Missing, &earlier.Cohort.Missing},
		{defResponder30, &o.Response.Responder30, &earlier.Response.Responder30},
		{defResponder50, &o.Response.Responder50, &earlier.Response.Responder50},
		{defNRS2, &o.Response.NRSAtLeast2, &earlier.Response.NRSAtLeast2},
		{defWorsened30, &o.Response.Worsened30, &earlier.Response.Worsened30},
	} {
		c.rate(f.name, f.now, f.before)
	}
	c.mean("baseline", &o.Baseline, &earlier.Baseline, &t.baseline, &before.baseline, painScale)
	c.mean("follow_up_pain", &o.FollowUp.Pain, &earlier.FollowUp.Pain, t.followed.after(), before.followed.after(), painScale)
	c.mean("change", &o.FollowUp.Change, &earlier.FollowUp.Change, t.followed.change(), before.followed.change(), painScale.changes())
	c.mean(defTimeWeighted, &o.TimeWeightedAverage, &earlier.TimeWeightedAverage, &t.course.average, &before.course.average, painScale)
	o.Comparison = c
}

// against adds the comparison with the response for an earlier period.
func (p *Population) against(earlier *Population, of *Params) {
	c := newComparison(of, p.Cohort.Patients, earlier.Cohort.Patients, earlier.Cohort.Undetermined)
	c.rate("severe_pain", p.Severity.severe(), earlier.Severity.severe())
	now, before := &p.Opioids, &earlier.Opioids
	for _, f := range []struct {
		name        string
		now, before *Proportion
	}{
		{defExposure, &now.Exposure, &before.Exposure}, {defLongTerm, &now.LongTerm, &before.LongTerm}, {defAtLeast50, &now.AtLeast50, &before.AtLeast50},
		{defAtLeast90, &now.AtLeast90, &before.AtLeast90}, {defBenzo, &now.BenzodiazepineOverlap, &before.BenzodiazepineOverlap},
		{defGabapentinoid, &now.GabapentinoidOverlap, &before.GabapentinoidOverlap}, {defNaloxone, &now.NaloxoneCoverage, &before.NaloxoneCoverage},
		{defGap, &p.FollowUpGap.Gap, &earlier.FollowUpGap.Gap},
	} {
		c.rate(f.name, f.now, f.before)
	}
	p.Comparison = c
}

// severe returns the proportion with severe pain.
func (s *Severity) severe() *Proportion {
	out := &Proportion{Definition: s.Bands.Definition, Denominator: s.Bands.Denominator, N: s.Bands.N, Suppressed: true}
	if last := len(s.Bands.Groups) - 1; last >= 0 {
		out.Count = s.Bands.Groups[last].Count
	}
	if out.Count != nil && out.N != nil {
		out.Suppressed, out.Unstable = false, *out.N < stableFrom
		out.Proportion, out.Percent, out.CI95 = share(*out.Count, *out.N)
	}
	return out
}
