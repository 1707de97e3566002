package analytics

import "testing"

// Sixteen patients each, with standard deviations of 3 and 4: variances of the
// means 9/16 and 1, together 1.5625, the root of which is 1.25. Degrees of
// freedom 1.5625² / ((0.5625² + 1²)/15) = 2.44140625/0.08776 = 27.8, rounded down
// 27; t(27) = 2.0518. So 1 ± 2.5648.
func TestWelchByHand(t *testing.T) {
	t.Parallel()
	d, ci := welch(5, 3, 16, 4, 4, 16)
	near(t, "difference", d, 1, 0)
	near(t, "low", ci.Low, -1.5648, 5e-5)
	near(t, "high", ci.High, 3.5648, 5e-5)
	_, ci = welch(5, 0, 16, 4, 0, 16)
	is(t, "no spread", ci, `{"low":1,"high":1}`)
}

// 30 of 60 have severe pain in the period and 20 of 60 in the one before: the
// vector 19 of the domain reference, 0.1667 (−0.0092 to 0.3288).
func TestComparisonByHand(t *testing.T) {
	t.Parallel()
	var patients []*Patient
	for i := range 60 {
		now, before := 2, 2
		if i < 30 {
			now = 8
		}
		if i >= 40 {
			before = 8
		}
		patients = append(patients, scores(-100, before, 100, now))
	}
	p := population(t, Request{CompareStart: "2023-01-01"}, patients...)
	c := p.Comparison
	is(t, "period", []any{c.Definition, c.StartDate, c.EndDate, c.AsOf, len(c.Means)}, `["earlier_period","2023-01-01","2024-01-01","2024-01-01",0]`)
	severe := &c.Rates[0]
	is(t, "severe", []any{severe.Figure, severe.Current.Count, severe.Current.N, severe.Earlier.Count, severe.Earlier.N, severe.Difference, severe.DiffCI95, severe.Reason},
		`["severe_pain",30,60,20,60,0.1667,{"low":-0.0092,"high":0.3288},null]`)
	is(t, "nobody exposed", []any{c.Rates[3].Figure, c.Rates[3].Current.N, c.Rates[3].Difference, c.Rates[3].Reason}, `["ge_50",0,null,"too_few_patients"]`)
	is(t, "not asked for", population(t, Request{}, patients...).Comparison, `null`)

	// 20 of 60 is hidden when fewer than 21 are, and with it the difference.
	hidden := population(t, Request{CompareStart: "2023-01-01", MinCellSize: "21"}, patients...).Comparison.Rates[0]
	is(t, "hidden", []any{hidden.Current.Count, hidden.Earlier.Count, hidden.Earlier.Suppressed, hidden.Difference, hidden.DiffCI95, hidden.Reason}, `[30,null,true,null,null,"suppressed"]`)
	few := population(t, Request{CompareStart: "2023-01-01"}, patients[:10]...).Comparison.Rates[0]
	is(t, "few", []any{few.Current.N, few.Difference, few.Reason}, `[10,null,"too_few_patients"]`)
}

// Baselines 4 and 6 of eight patients each in the period, 6 and 8 of as many in
// the year before: means 5 and 7, both with a standard deviation of
// √(16·1/15) = 1.0328; difference −2, standard error √(2·1.0667/16) = 0.3651, 30
// degrees of freedom, t = 2.0423: ± 0.7457.
func TestOutcomesComparedByHand(t *testing.T) {
	t.Parallel()
	var patients []*Patient
	for i := range 16 {
		patients = append(patients, scores(-300, 6+2*(i%2), -210, 3, 0, 4+2*(i%2), 90, 3))
	}
	o := outcomes(t, Request{CompareEnd: "2024-01-01"}, patients...)
	c := o.Comparison
	is(t, "period", []string{c.StartDate, c.EndDate}, `["2023-01-02","2024-01-01"]`)
	baseline := &c.Means[0]
	is(t, "baseline", []any{baseline.Figure, baseline.Current.Mean, baseline.Earlier.Mean, baseline.Difference, baseline.DiffCI95, baseline.Reason}, `["baseline",5,7,-2,{"low":-2.7457,"high":-1.2543},null]`)
	// From 4 to 3 is 25 %, from 6 to 3 and from 8 to 3 is more: 8 of 16 and 16 of 16.
	r30 := &c.Rates[1]
	is(t, "response", []any{r30.Figure, r30.Current.Count, r30.Earlier.Count, r30.Difference}, `["responder_30",8,16,-0.5]`)
	is(t, "change", []any{c.Means[2].Figure, c.Means[2].Difference}, `["change",2]`)
	is(t, "twice", []any{len(c.Rates), len(c.Means)}, `[5,4]`)
}
