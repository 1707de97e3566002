package analytics

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// The numbers are worked out independently of this code.

func vector7(t *testing.T) []series.Medication {
	return []series.Medication{prescription(t, drug.Opioid, "2024-01-01", 30, 60), prescription(t, drug.Opioid, "2024-01-21", 15, 30)}
}

func TestVector7And8(t *testing.T) {
	p := population(t, Request{StartDate: "2024-01-01"}, takes(vector7(t)...))
	mme := p.Opioids.MME
	is(t, "peak", []any{mme.Peak.N, mme.Peak.Mean, mme.Peak.Definition, mme.Average.Mean, mme.Average.Definition, mme.Incomplete.Count},
		`[1,90,"mme_peak_definition_4",64.3,"mme_average_definition_2",0]`)
	is(t, "high", []any{p.Opioids.AtLeast50.Count, p.Opioids.AtLeast90.Count, p.Opioids.AtLeast90.Undetermined, p.Opioids.BenzodiazepineOverlap.Count}, `[1,1,0,0]`)
	is(t, "bands", mme.Peak.Bands.Groups[4], `{"group":"\u003e=90","count":1,"percent":100,"suppressed":false}`)

	p = population(t, Request{}, takes(append(vector7(t), prescription(t, drug.Benzodiazepine, "2024-01-10", 30, 0))...))
	is(t, "overlap", p.Opioids.BenzodiazepineOverlap.Count, `1`)
	p = population(t, Request{}, takes(append(vector7(t), prescription(t, drug.Benzodiazepine, "2024-02-05", 30, 0))...))
	is(t, "the day after", p.Opioids.BenzodiazepineOverlap.Count, `0`)
}

func TestVector10(t *testing.T) {
	peg := func(day int64, sum float64) series.Assessment {
		return series.Assessment{At: startOf(19723+drug.Day(day)) + 1000, Instrument: series.InstrumentOf("peg"), Status: 1, Score: series.Value{Number: sum / 3, Known: true}}
	}
	for _, c := range []struct {
		before, after float64
		want          string
	}{
		{20, 13, `[1,6.7,4.3,-2.3,1,1]`},
		{20, 14, `[1,6.7,4.7,-2,1,1]`},
		{20, 18, `[1,6.7,6,-0.7,0,1]`},
	} {
		out := outcomes(t, Request{}, &Patient{Series: &series.Series{Assessments: []series.Assessment{peg(1, c.before), peg(90, c.after)}}})
		got := out.Instruments[0]
		is(t, "PEG", []any{got.Patients.Count, got.Baseline.Mean, got.FollowUp.Mean, got.Change.Mean, got.MCIDMet.Count, got.MCIDMet.N}, c.want)
	}
	if !responded(20.0/3, 13.0/3, 30) || !responded(20.0/3, 14.0/3, 30) || responded(6.7, 4.7, 30) {
		t.Error("30 % must be judged by what is not rounded")
	}
}

func TestVector11And12(t *testing.T) {
	for _, c := range []struct {
		before, after int
		want          string
	}{
		// percent, responder 30 and 50, two points, worsened, low baseline
		{7, 4, `[-42.86,1,0,1,0,0,1]`},
		{2, 1, `[-50,1,1,0,0,1,1]`},
		{4, 6, `[50,0,0,0,1,0,1]`},
		{0, 3, `[null,0,0,0,0,1,0]`},
	} {
		out := outcomes(t, Request{}, scores(0, c.before, 90, c.after))
		r := out.Response
		is(t, "response", []any{out.FollowUp.PercentChange.Mean, r.Responder30.Count, r.Responder50.Count, r.NRSAtLeast2.Count, r.Worsened30.Count, r.LowBaseline.Count, r.Responder30.N}, c.want)
	}
	zero := outcomes(t, Request{}, scores(0, 0, 90, 3))
	is(t, "of a baseline of 0", []any{zero.Response.Responder30.Percent, zero.FollowUp.Change.Mean, zero.TimeToResponse.N}, `[null,3,0]`)
}

func TestVector13(t *testing.T) {
	for _, c := range []struct {
		count, n int
		want     string
	}{{18, 40, `{"low":0.3071,"high":0.6017}`}, {0, 12, `{"low":0,"high":0.2425}`}, {12, 12, `{"low":0.7575,"high":1}`}} {
		is(t, "Wilson", Wilson(c.count, c.n).rounded(), c.want)
	}
}

func TestVector14(t *testing.T) {
	var patients []*Patient
	for _, score := range []int{4, 6, 5, 7, 3} {
		patients = append(patients, scores(3, score))
	}
	is(t, "mean", outcomes(t, Request{}, patients...).Baseline,
		`{"definition":"baseline_14_days","n":5,"mean":5,"sd":1.5811,"ci95":{"low":3.0368,"high":6.9632},"unstable":true,"suppressed":false}`)
	for df, want := range map[int]float64{4: 2.7764, 5: 2.5706, 9: 2.2622, 29: 2.0452} {
		near(t, "t", student(df), want, 5e-5)
	}
}

func TestVector15(t *testing.T) {
	out := outcomes(t, Request{}, scores(0, 8, 7, 6, 14, 6, 28, 4))
	is(t, "average and slope", []any{out.TimeWeightedAverage.Mean, out.Trend.Slope.PerWeek.Mean, out.Trend.Slope.Direction}, `[5.8,-0.9143,"improving"]`)
	tally := NewOutcomesTally(ask(t, Request{}))
	tally.Add(scores(0, 8, 7, 6, 14, 6, 28, 4))
	near(t, "time-weighted average", tally.course.average.mean(), 161.0/28, 1e-8)

	// A gap of more than 30 days breaks the curve; one of 30 does not.
	broken := outcomes(t, Request{}, scores(0, 8, 10, 8, 41, 2, 51, 2))
	is(t, "broken", broken.TimeWeightedAverage.Mean, `5`)
	whole := outcomes(t, Request{}, scores(0, 8, 30, 2))
	is(t, "whole", []any{whole.TimeWeightedAverage.Mean, whole.Trend.Slope.PerWeek.N}, `[5,0]`)
	is(t, "too far apart", outcomes(t, Request{}, scores(0, 8, 31, 2)).TimeWeightedAverage, `{"definition":"time_weighted_average","n":0,"mean":null,"sd":null,"ci95":null,"unstable":true,"suppressed":false}`)
}

func TestVector16(t *testing.T) {
	events, censored := make([]int32, 100), make([]int32, 100)
	for _, day := range []int{14, 28, 42, 84} {
		events[day]++
	}
	censored[28]++
	censored[56]++
	curve, median := kaplanMeier(events, censored)
	for i, want := range []float64{0.8333, 0.6667, 0.4444, 0} {
		near(t, "S", curve[i].Survival, want, 5e-5)
	}
	if len(curve) != 4 || *median != 42 {
		t.Errorf("%+v, median %v", curve, median)
	}

	// The same out of scores: pain of 10 falls to 7 and stays there, or does not.
	out := outcomes(t, Request{}, scores(0, 10, 14, 7), scores(0, 10, 28, 5, 35, 7), scores(0, 10, 28, 8), scores(0, 10, 7, 7, 14, 8, 42, 2),
		scores(0, 10, 56, 9), scores(0, 10, 84, 6, 90, 1), scores(0, 0, 84, 6))
	is(t, "time to response", out.TimeToResponse, `{"definition":"time_to_response_30","n":6,"events":4,"censored":2,"median_days":42,"curve":[`+
		`{"day":14,"at_risk":6,"events":1,"censored":0,"survival":0.8333,"ci95":{"low":0.2731,"high":0.9747}},{"day":28,"at_risk":5,"events":1,"censored":0,"survival":0.6667,"ci95":{"low":0.1946,"high":0.9044}},`+
		`{"day":42,"at_risk":3,"events":1,"censored":1,"survival":0.4444,"ci95":{"low":0.0662,"high":0.7849}},{"day":84,"at_risk":1,"events":1,"censored":1,"survival":0,"ci95":null}],"suppressed":false}`)
	few := outcomes(t, Request{}, scores(0, 10, 14, 7), scores(0, 10, 90, 8), scores(0, 10, 91, 8))
	is(t, "less than half", []any{few.TimeToResponse.MedianDays, few.TimeToResponse.Events}, `[null,1]`)
}

func TestVector17(t *testing.T) {
	before, after := []int{8, 7, 6, 9, 7, 5}, []int{5, 6, 4, 6, 7, 3}
	var patients []*Patient
	for i := range before {
		p := scores(20, before[i], 110, after[i])
		p.Series.Procedures = []series.Procedure{{At: startOf(19724+20) + 13*3600_000, Type: 5}}
		p.Series.Medications = []series.Medication{prescription(t, drug.NSAID, "2024-01-22", 10, 0)}
		patients = append(patients, p)
	}
	out := outcomes(t, Request{}, patients...)
	for _, got := range []BeforeAfter{out.Procedures[0], out.MedicationClasses[0]} {
		is(t, got.Treatment, []any{got.Change, got.SRM, got.EffectSize, got.R30.Count, got.R30.Proportion, got.R30.CI95, got.R50.Count},
			`[{"definition":"change_from_baseline","n":6,"mean":-1.8,"sd":1.169,"ci95":{"low":-3.0602,"high":-0.6065},"unstable":true,"suppressed":false},-1.5682,-1.2964,4,0.6667,{"low":0.3,"high":0.9032},0]`)
	}
	is(t, "names", []any{out.Procedures[0].Treatment, out.Procedures[0].Definition, out.MedicationClasses[0].Treatment, out.MedicationClasses[0].Recorded, out.Procedures[0].Recorded.Change.N},
		`["nerve_block","before_after_procedure","nsaid",null,0]`)
	is(t, "the whole", []any{out.FollowUp.Change.CI95, out.FollowUp.SRM, out.FollowUp.BaselineEffectSize}, `[{"low":-3.0602,"high":-0.6065},-1.5682,-1.2964]`)
	few := outcomes(t, Request{}, patients[:4]...)
	is(t, "too few for an effect size", []any{few.FollowUp.SRM, few.Procedures[0].SRM, few.Procedures[0].Change.N}, `[null,null,4]`)
}

func TestVector19(t *testing.T) {
	difference, ci := Newcombe(30, 60, 20, 60)
	is(t, "Newcombe", []any{rounded(difference, 4), ci.rounded()}, `[0.1667,{"low":-0.0092,"high":0.3288}]`)

	var patients []*Patient
	for i := range 120 {
		p := scores(300, 3)
		if i < 60 {
			p.Gender = Male
		}
		if i < 30 || i >= 100 {
			p.Series.Scores[0].Value = 8
		}
		patients = append(patients, p)
	}
	d := population(t, Request{}, patients...).Disparities[0]
	is(t, "disparity", []any{d.Measure, d.Dimension, *d.Reference, d.Groups[1]}, `["severe_pain","gender","female",{"group":"male","count":30,"n":60,"proportion":0.5,"percent":50,`+
		`"ci95":{"low":0.3774,"high":0.6226},"difference":0.1667,"difference_ci95":{"low":-0.0092,"high":0.3288},"ratio":1.5,"suppressed":false,"undetermined":null,"standardized":{"rate":0.5,"ci95":{"low":0.3774,"high":0.6226},"reason":null}}]`)

	patients = nil
	for _, mme := range []float64{20, 30, 40, 45, 60, 70.5, 105} {
		patients = append(patients, takes(prescription(t, drug.Opioid, "2024-03-01", 10, mme)))
	}
	p := population(t, Request{}, patients...)
	peak := p.Opioids.MME.Peak
	is(t, "MME", []any{peak.N, peak.Mean, peak.Q1, peak.Median, peak.Q3, peak.P90, p.Opioids.AtLeast50.Count, p.Opioids.AtLeast90.Count}, `[7,52.9,35,45,65.3,84.3,3,1]`)
	var seven doses
	for _, mme := range []float64{105, 20, 30, 40, 45, 60, 70.5} {
		seven.add(mme)
	}
	seven.close()
	near(t, "mean", seven.mean(), 52.9286, 5e-5)
	near(t, "third quartile", seven.quantile(0.75), 65.25, 1e-9)
	near(t, "highest", seven.quantile(1), 105, 0)
	one := doses{}
	one.add(7)
	one.close()
	near(t, "of one", one.quantile(0.9), 7, 0)
}

func TestVector20(t *testing.T) {
	var patients []*Patient
	for i := range 42 {
		p := scores(300, 5)
		if i < 8 {
			p.Gender = Male
		}
		patients = append(patients, p)
	}
	p := population(t, Request{MinCellSize: "11"}, patients...)
	is(t, "genders", p.Genders, `{"definition":"gender_folded","denominator":"`+ofActive+`","n":42,"groups":[`+
		`{"group":"female","count":null,"percent":null,"suppressed":true},{"group":"male","count":null,"percent":null,"suppressed":true},`+
		`{"group":"other","count":0,"percent":0,"suppressed":false},{"group":"unknown","count":0,"percent":0,"suppressed":false}],"suppressed":true}`)
	is(t, "all", p.Cohort.Patients, `{"count":42,"suppressed":false}`)
	is(t, "unhidden", population(t, Request{}, patients...).Genders.Groups[1].Count, `8`)

	for end, want := range map[string]string{"2024-04-20": `[1,0,1,0]`, "2024-04-14": `[0,1,0,0]`} {
		gap := population(t, Request{EndDate: end}, scores(13, 5)).FollowUpGap
		is(t, end, []any{gap.Gap.Count, gap.Last.Groups[0].Count, gap.Last.Groups[1].Count, gap.Last.Groups[2].Count}, want)
	}
	is(t, "never", population(t, Request{}, takes()).FollowUpGap.Last.Groups[2].Count, `1`)
}
