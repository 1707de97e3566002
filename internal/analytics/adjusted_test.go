package analytics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// The speed of cars and the distance they took to stop (Ezekiel 1930), as R has
// them: dist ~ speed gives −17.5791 (se 6.7584) and 3.9324 (se 0.4155), with a
// residual standard error of 15.38 on 48 degrees of freedom.
var (
	carSpeed = []float64{4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25}
	carDist  = []float64{2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85}
)

func TestLeastSquaresOfCars(t *testing.T) {
	t.Parallel()
	var list []observation
	squares := 0.0
	for i, speed := range carSpeed {
		list = append(list, observation{x: []float64{1, speed}, n: 1, total: carDist[i]})
		squares += carDist[i] * carDist[i]
	}
	f := leastSquares(list, 2, squares)
	for i, want := range []float64{-17.5791, 3.9324} {
		near(t, "coefficient", f.beta[i], want, 5e-5)
		near(t, "standard error", f.se[i], []float64{6.7584, 0.4155}[i], 5e-5)
	}
	near(t, "sigma", f.sigma, 15.38, 5e-3)
	near(t, "df", float64(f.df), 48, 0)
	is(t, "too few", leastSquares(list[:19], 2, squares).reason, `"too_few_patients"`)
	for i := range list {
		list[i].x = append(list[i].x, 3*list[i].x[1]-2)
	}
	is(t, "singular", leastSquares(list, 3, squares).reason, `"singular"`)
}

// Of two groups the maximum likelihood is known: log odds of 20/40 are
// ln 0.5 = −0.6931, se √(1/20+1/40) = 0.2739; against 30/30 ln 2 = 0.6931, se
// √(1/20+1/40+1/30+1/30) = 0.3764.
func TestLogisticOfTwoGroups(t *testing.T) {
	t.Parallel()
	list := []observation{{x: []float64{1, 0}, known: 60, yes: 20}, {x: []float64{1, 1}, known: 60, yes: 30}}
	f := logistic(list, 2)
	near(t, "intercept", f.beta[0], -math.Ln2, 1e-9)
	near(t, "slope", f.beta[1], math.Ln2, 1e-9)
	near(t, "se", f.se[0], math.Sqrt(0.075), 1e-9)
	near(t, "se", f.se[1], math.Sqrt(0.075+1.0/15), 1e-9)
	list[1].yes = 60
	is(t, "separation", logistic(list, 2).reason, `"separation"`)
	list[1].yes, list[1].x[1] = 30, 0
	is(t, "singular", logistic(list, 2).reason, `"singular"`)
	list[0].yes, list[1].yes = 10, 9
	is(t, "too few", logistic(list, 2).reason, `"too_few_patients"`)
	list[0].yes, list[1].yes = 55, 46
	is(t, "too few who did not", logistic(list, 2).reason, `"too_few_patients"`)
}

// followed is somebody with a score at the beginning and after 90 days, and a
// PHQ-9 on the first day; less than 0 is none.
func followed(before, after, phq int, codes ...string) *Patient {
	p := scores(0, before, 90, after)
	p.Codes = codes
	if phq >= 0 {
		p.Series.Assessments = []series.Assessment{{At: p.Series.Scores[0].At, Instrument: phq9, Score: series.Value{Number: float64(phq), Known: true}}}
	}
	return p
}

func copies(list []*Patient, n int, p *Patient) []*Patient {
	for range n {
		list = append(list, p)
	}
	return list
}

// 20 patients go from 4 to 3, and of those who began at 8 ten with back pain to
// 4 and ten others to 6. Their means, −1 at 4 and −3 at 8, make the line
// 1 − 0.5·baseline. What is not explained is 10·1² + 10·1² = 20 over 38 degrees
// of freedom: sigma √(20/38) = 0.7255. Sxx = 40·2² = 160, so the slope has the
// standard error 0.7255/√160 = 0.0574, and the intercept, 6 away from the mean,
// 0.7255·√(1/40+36/160) = 0.3627. t(38) = 2.0244.
//
// All have a mean of (−20 − 40 − 20)/40 = −2. Those with back pain have −4
// where −3 is expected: adjusted −2 − 4 + 3 = −3, ± 2.0244·0.7255/√10 = 0.4644.
func TestAdjustedChangeByHand(t *testing.T) {
	t.Parallel()
	patients := copies(copies(copies(nil, 20, followed(4, 3, 3)), 10, followed(8, 4, 3, "M54.50")), 10, followed(8, 6, 3))
	patients = append(patients, followed(8, 4, -1, "M54.50")) // nobody knows about depression
	a := outcomes(t, Request{Adjust: "case_mix", Condition: "M54"}, patients...).Adjusted
	is(t, "who", []Count{a.Patients, a.WithoutPHQ9, a.OpioidUndetermined}, `[{"count":10,"suppressed":false},{"count":1,"suppressed":false},{"count":0,"suppressed":false}]`)
	c := &a.Change
	is(t, "crude", []any{c.Crude.N, c.Crude.Mean, c.Organization.N, c.Organization.Mean, c.Method}, `[10,-4,40,-2,"ordinary_least_squares"]`)
	is(t, "adjusted", []any{c.Expected, c.Adjusted, c.CI95, c.Reason, c.Unstable}, `[-3,-3,{"low":-3.4644,"high":-2.5356},null,false]`)
	is(t, "coefficients", c.Coefficients, `[`+
		`{"term":"intercept","status":"estimated","estimate":1,"standard_error":0.3627,"ci95":{"low":0.2657,"high":1.7343},"odds_ratio":null},`+
		`{"term":"baseline_pain","status":"estimated","estimate":-0.5,"standard_error":0.0574,"ci95":{"low":-0.6161,"high":-0.3839},"odds_ratio":null},`+
		`{"term":"age_band 65+","status":"reference","estimate":null,"standard_error":null,"ci95":null,"odds_ratio":null},`+
		`{"term":"gender female","status":"reference","estimate":null,"standard_error":null,"ci95":null,"odds_ratio":null},`+
		`{"term":"depression","status":"constant","estimate":null,"standard_error":null,"ci95":null,"odds_ratio":null},`+
		`{"term":"opioid_use","status":"constant","estimate":null,"standard_error":null,"ci95":null,"odds_ratio":null}]`)
	is(t, "responders", []any{a.Responder30.Reason, a.Responder30.Crude.Count, a.Responder30.Organization.N}, `["too_few_patients",10,40]`)
	is(t, "not asked for", outcomes(t, Request{}, patients...).Adjusted, `null`)
}

// Without depression 40 of 80 respond, with a PHQ-9 of 12, the third of its
// bands, 20 of 80: log odds 0 and ln(1/3) = −1.0986, so −0.5493 a band, an odds
// ratio of 0.5774; their standard errors are √(1/40+1/40) = 0.2236 and
// √(1/40+1/40+1/20+1/60)/2 = 0.1708. Of those with depression 30 have back pain,
// and 15 of them respond, where 0.25 are expected; of all it is 60/160 = 0.375:
// adjusted 0.375 + 0.5 − 0.25 = 0.625. Wilson's interval of 15/30, 0.3315-0.6685,
// moves by 0.125.
func TestAdjustedRespondersByHand(t *testing.T) {
	t.Parallel()
	var patients []*Patient
	for _, g := range []struct {
		n, after, phq int
		code          string
	}{{40, 3, 0, ""}, {40, 6, 4, ""}, {15, 3, 12, "M54.2"}, {15, 6, 12, "M54.2"}, {5, 3, 14, ""}, {45, 6, 10, ""}} {
		patients = copies(patients, g.n, followed(6, g.after, g.phq, g.code))
	}
	r := outcomes(t, Request{Adjust: "case_mix", Condition: "M54"}, patients...).Adjusted.Responder30
	is(t, "adjusted", []any{r.Method, r.Expected, r.Adjusted, r.CI95, r.Reason, r.Crude.Proportion, r.Organization.Proportion},
		`["logistic_regression",0.25,0.625,{"low":0.4565,"high":0.7935},null,0.5,0.375]`)
	is(t, "intercept", r.Coefficients[0], `{"term":"intercept","status":"estimated","estimate":0,"standard_error":0.2236,"ci95":{"low":-0.4383,"high":0.4383},"odds_ratio":null}`)
	is(t, "depression", r.Coefficients[4], `{"term":"depression","status":"estimated","estimate":-0.5493,"standard_error":0.1708,"ci95":{"low":-0.884,"high":-0.2146},"odds_ratio":0.5774}`)
}

// Covariates at baseline: the rule of baselines for PHQ-9, and of what is taken
// on the index date for opioids.
func TestCaseMixAtBaseline(t *testing.T) {
	t.Parallel()
	first := day(t, "2024-01-02")
	answer := func(days drug.Day, score float64) Answer { return Answer{score, first + days, phq9, true} }
	for name, c := range map[string]struct {
		answers []Answer
		want    float64 // less than 0: none
	}{
		"mean of 14 days":      {[]Answer{answer(-13, 4), answer(0, 8), answer(1, 20)}, 6},
		"the latest within 30": {[]Answer{answer(-30, 3), answer(-14, 9)}, 9},
		"longer ago":           {[]Answer{answer(-31, 3), answer(1, 3)}, -1},
		"another one":          {[]Answer{{5, first, pgic, true}, {5, first, phq9, false}}, -1},
	} {
		got, ok := baselineScore(c.answers, phq9, first)
		if ok != (c.want >= 0) || ok && got != c.want {
			t.Errorf("%s: %v %v", name, got, ok)
		}
	}
	levels := ""
	for _, score := range []float64{0, 4.9, 5, 9.9, 10, 14, 15, 19, 20, 27} {
		levels += fmt.Sprint(depressionLevel(score))
	}
	is(t, "levels", levels, `"0011223344"`)
	for name, c := range map[string]struct {
		list []series.Medication
		want string
	}{
		"none":         {nil, "false true"},
		"covered":      {[]series.Medication{prescription(t, drug.Opioid, "2023-12-20", 14, 30)}, "true true"},
		"over":         {[]series.Medication{prescription(t, drug.Opioid, "2023-12-20", 13, 30)}, "false true"},
		"later":        {[]series.Medication{prescription(t, drug.Opioid, "2024-01-03", 13, 30)}, "false true"},
		"another":      {[]series.Medication{prescription(t, drug.NSAID, "2023-12-20", 30, 0)}, "false true"},
		"may be one":   {[]series.Medication{prescription(t, drug.Unclassified, "2023-12-20", 30, 0)}, "false false"},
		"one for sure": {[]series.Medication{prescription(t, drug.Opioid, "2024-01-02", 1, 30), prescription(t, drug.Unclassified, "2023-12-20", 30, 0)}, "true true"},
	} {
		var g Gist
		GistOf(&series.Series{Medications: c.list}, &g)
		yes, ok := opioidOn(g.Medications, first)
		if got := fmt.Sprint(yes, ok); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for i := range mixCells {
		if m := mixAt(i); m.index() != i || m.pain >= painLevels || m.opioid != (i%2 == 1) {
			t.Fatalf("%d is %+v, and that %d", i, m, m.index())
		}
	}
}

// mixed returns a clinic whose patients have all data that the models need.
func (d dice) mixed(n int) (list []*Patient) {
	for range n {
		before := 3 + d.IntN(8)
		p := followed(before, max(0, before-d.IntN(6)), d.IntN(28), oneOf(d, "M54.50", "G89.29"))
		p.Gender, p.Born = oneOf(d, Female, Male, Male, UnknownGender), bornBy(lastDay, 20+d.IntN(60))
		if d.IntN(3) == 0 {
			p.Series.Medications = []series.Medication{{Span: drug.Span{First: 19700, Last: 19730}, Class: oneOf(d, opioid, opioid, opioid, series.Unclassified), MME: 30}}
		}
		list = append(list, p)
	}
	return list
}

// TestAdjustedOfAllIsCrude: when everybody is asked for, what is expected is what
// was observed. Patients in another order change nothing, and min_cell_size only
// hides.
func TestAdjustedOfAllIsCrude(t *testing.T) {
	models := 0
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.mixed(150 + random.IntN(450))
		text := func(r Request, list []*Patient) (string, *Adjusted) {
			r.Adjust = "case_mix"
			a := outcomes(t, r, list...).Adjusted
			b, err := json.Marshal(a)
			if err != nil {
				rt.Fatal(err)
			}
			return string(b), a
		}
		all, a := text(Request{}, patients)
		if c := &a.Change; c.Adjusted != nil {
			models++
			if math.Abs(*c.Adjusted-*c.Crude.Mean) > 0.0501 || math.Abs(*c.Adjusted-*c.Expected) > 1.0001e-4 {
				rt.Fatalf("%s", all)
			}
		}
		if r := &a.Responder30; r.Adjusted != nil && (math.Abs(*r.Adjusted-*r.Crude.Proportion) > 1.0001e-4 || math.Abs(*r.Expected-*r.Crude.Proportion) > 1.0001e-4) {
			rt.Fatalf("%s", all)
		}
		other := slices.Clone(patients)
		random.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
		for _, r := range []Request{{}, {Gender: "male"}, {Condition: "M54", MinCellSize: "11"}} {
			one, _ := text(r, patients)
			if two, _ := text(r, other); one != two {
				rt.Fatalf("%s\n%s", one, two)
			}
		}
	})
	if models == 0 {
		t.Error("no model was fitted")
	}
}

// With patients who are all alike but for how they fared, nothing is adjusted.
func TestNothingToAdjust(t *testing.T) {
	t.Parallel()
	patients := copies(copies(copies(copies(nil, 30, followed(6, 2, 6)), 10, followed(6, 6, 6)), 15, followed(6, 2, 6, "M54.5")), 5, followed(6, 6, 6, "M54.5"))
	a := outcomes(t, Request{Adjust: "case_mix", Condition: "M54"}, patients...).Adjusted
	// 45 of 60 respond, 15 of 20 of the group: nothing is left to explain.
	is(t, "change", []any{a.Change.Crude.Mean, a.Change.Adjusted, a.Change.Expected}, `[-3,-3,-3]`)
	is(t, "responders", []any{a.Responder30.Crude.Proportion, a.Responder30.Adjusted, a.Responder30.Expected}, `[0.75,0.75,0.75]`)
}

// TestAdjustedIsThatOfTheRecords fits the line to every single patient, with
// covariates read from the records, and solves by elimination.
func TestAdjustedIsThatOfTheRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.mixed(200 + random.IntN(200))
		a := outcomes(t, Request{Adjust: "case_mix", Condition: "M54"}, patients...).Adjusted
		type who struct {
			x     []float64
			y     float64
			group bool
		}
		var list []who
		for _, p := range patients {
			if slices.ContainsFunc(p.Series.Medications, func(m series.Medication) bool { return m.Class == series.Unclassified }) {
				continue
			}
			age := naiveAge(p.Born, lastDay)
			before, after := float64(p.Series.Scores[0].Value), float64(p.Series.Scores[1].Value)
			level := 0.0
			for _, from := range []float64{5, 10, 15, 20} {
				level += flag(p.Series.Assessments[0].Score.Number >= from)
			}
			list = append(list, who{[]float64{1, before, flag(age >= 18 && age < 30), flag(age >= 30 && age < 45), flag(age >= 65),
				flag(p.Gender == Female), flag(p.Gender == UnknownGender), level, flag(len(p.Series.Medications) > 0)}, after - before, p.Codes[0] == "M54.50"})
		}
		matrix := square(9)
		for i := range matrix {
			matrix[i] = append(matrix[i], 0)
		}
		total, n := 0.0, 0.0
		for _, w := range list {
			total, n = total+w.y, n+1
			for i, xi := range w.x {
				for k, xk := range w.x {
					matrix[i][k] += xi * xk
				}
				matrix[i][9] += xi * w.y
			}
		}
		for i := range matrix {
			for k := range matrix {
				if factor := matrix[k][i] / matrix[i][i]; k != i {
					for c := range matrix[k] {
						matrix[k][c] -= factor * matrix[i][c]
					}
				}
			}
		}
		observed, expected, members := 0.0, 0.0, 0.0
		for _, w := range list {
			if w.group {
				members++
				observed += w.y
				for i, xi := range w.x {
					expected += xi * matrix[i][9] / matrix[i][i]
				}
			}
		}
		want := total/n + (observed-expected)/members
		if a.Change.Adjusted == nil || math.Abs(*a.Change.Adjusted-want) > 6e-5 || math.Abs(*a.Change.Expected-expected/members) > 6e-5 {
			b, _ := json.Marshal(a.Change)
			rt.Fatalf("%s, want %v of %v", b, want, members)
		}
	})
}

// TestHiddenModels: min_cell_size hides models that reveal small groups, and
// leaves the others unchanged.
func TestHiddenModels(t *testing.T) {
	t.Parallel()
	patients := copies(copies(nil, 60, followed(6, 2, 6)), 30, followed(8, 7, 6))
	for range 12 {
		p := followed(6, 3, 6)
		p.Gender = Male
		patients = append(patients, p)
	}
	for least, want := range map[string]string{"11": "null", "12": "null", "13": `"suppressed"`} {
		a := outcomes(t, Request{Adjust: "case_mix", MinCellSize: least}, patients...).Adjusted
		is(t, least, a.Change.Reason, want)
		if shown := len(a.Change.Coefficients) > 0; shown != (want == "null") {
			t.Errorf("%s: %+v", least, a.Change)
		}
	}
}
