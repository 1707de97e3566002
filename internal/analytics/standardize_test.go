package analytics

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// person is somebody of a gender and an age at the end of 2024 with one score.
func person(gender Gender, age, score int, codes ...string) *Patient {
	p := scores(300, score)
	p.Gender, p.Born, p.Codes = gender, bornBy(lastDay, age), codes
	return p
}

// fourStrata are 60 patients with a condition. Severe pain:
//
//	           18-29          65+
//	female   2 of 10  0.2   10 of 20  0.5
//	male     8 of 20  0.4    6 of 10  0.6      together 26 of 60
//
// and 40 without it, 20 women of 20 and 20 men of 70, so that the organisation
// has 30, 20, 20 and 30.
func fourStrata() (list []*Patient) {
	for _, s := range []struct {
		gender       Gender
		age, yes, no int
	}{{Female, 20, 2, 8}, {Female, 70, 10, 10}, {Male, 20, 8, 12}, {Male, 70, 6, 4}} {
		for i := range s.yes + s.no {
			score := 8
			if i >= s.yes {
				score = 2
			}
			list = append(list, person(s.gender, s.age, score, "M54.50"))
		}
	}
	for range 20 {
		list = append(list, person(Female, 20, 2), person(Male, 70, 8))
	}
	return list
}

func TestStandardizationByHand(t *testing.T) {
	t.Parallel()
	patients := fourStrata()
	severe := func(r Request) StandardizedRate {
		r.Condition = "M54"
		return population(t, r, patients...).Standardized.Rates[severePain]
	}
	crude := `"crude":{"definition":"severity_prevalence","denominator":"patients with an average or current pain score in the period","count":26,"n":60,"proportion":0.4333,"percent":43.33,"ci95":{"low":0.3157,"high":0.559},"unstable":false,"suppressed":false,"undetermined":null}`
	// 0.3·0.2 + 0.2·0.5 + 0.4·0.4 + 0.1·0.6 = 0.06 + 0.10 + 0.16 + 0.06 = 0.38.
	// Wilson: 2/10 0.0567-0.5098, 10/20 0.2993-0.7007, 8/20 0.2188-0.6134, 6/10 0.3127-0.8318.
	// Low:  0.38 − √((0.3·0.1433)² + (0.2·0.2007)² + (0.4·0.1812)² + (0.1·0.2873)²)
	//     = 0.38 − √(0.001848 + 0.001611 + 0.005253 + 0.000826) = 0.38 − 0.0977 = 0.2823.
	// High: 0.38 + √((0.3·0.3098)² + (0.2·0.2007)² + (0.4·0.2134)² + (0.1·0.2318)²)
	//     = 0.38 + √(0.008640 + 0.001611 + 0.007288 + 0.000537) = 0.38 + 0.1344 = 0.5144.
	is(t, "given", severe(Request{Standard: "female/18-29:3,female/65+:2,male/18-29:4,male/65+:1"}),
		`{"measure":"severe_pain",`+crude+`,"standardized":0.38,"ci95":{"low":0.2823,"high":0.5144},"reason":null,"empty_strata":[]}`)
	// The organisation: 0.3·0.2 + 0.2·0.5 + 0.2·0.4 + 0.3·0.6 = 0.06 + 0.10 + 0.08 + 0.18 = 0.42.
	is(t, "organisation", severe(Request{}), `{"measure":"severe_pain",`+crude+`,"standardized":0.42,"ci95":{"low":0.3095,"high":0.55},"reason":null,"empty_strata":[]}`)
	// By age alone, 10 of 30 and 16 of 30; the organisation has half of each: 0.5·1/3 + 0.5·16/30 = 13/30.
	near(t, "by age", *severe(Request{Standard: "age"}).Standardized, 0.4333, 1e-9)
	// By gender alone, 12 of 30 and 14 of 30, and half of each: the same 13/30.
	near(t, "by gender", *severe(Request{Standard: "gender"}).Standardized, 0.4333, 1e-9)
	near(t, "one age", *severe(Request{Standard: "65:7"}).Standardized, 0.5333, 1e-9)
	is(t, "nobody there", severe(Request{Standard: "female/18-29:1,female/30-44:1,other/65+:1"}),
		`{"measure":"severe_pain",`+crude+`,"standardized":null,"ci95":null,"reason":"empty_stratum","empty_strata":["female 30-44","other 65+"]}`)
}

func TestStandardOfTheOrganisation(t *testing.T) {
	t.Parallel()
	p := population(t, Request{Condition: "M54", Standard: "gender"}, fourStrata()...)
	is(t, "strata", p.Standardized.Strata, `[{"gender":"female","age_band":null,"count":50,"weight":0.5},{"gender":"male","age_band":null,"count":50,"weight":0.5},{"gender":"other","age_band":null,"count":0,"weight":0},{"gender":"unknown","age_band":null,"count":0,"weight":0}]`)
	// Who is asked for by gender or age is compared with such people: women of
	// the organisation are 30 and 20, so 0.6·0.2 + 0.4·0.5 = 0.32.
	women := population(t, Request{Condition: "M54", Gender: "female"}, fourStrata()...)
	near(t, "women", *women.Standardized.Rates[severePain].Standardized, 0.32, 1e-9)
	nobody := population(t, Request{})
	is(t, "nobody", nobody.Standardized.Rates[gap].Reason, `"nobody"`)
	given := population(t, Request{Standard: "65+:1.5,<18:0.5"}, fourStrata()...)
	is(t, "given", []any{given.Standardized.Standard, given.Standardized.Strata[0], given.Standardized.Strata[4], given.Parameters.StandardAsked},
		`["given",{"gender":null,"age_band":"\u003c18","count":null,"weight":0.25},{"gender":null,"age_band":"65+","count":null,"weight":0.75},"65+:1.5,\u003c18:0.5"]`)
}

// A group by gender is standardised by age, and one by age by gender.
func TestGroupsAreStandardizedByTheOther(t *testing.T) {
	t.Parallel()
	of := func(standard string) []Disparity {
		return population(t, Request{Condition: "M54", Standard: standard}, fourStrata()...).Disparities
	}
	// 7 of 10 are young: women 0.7·0.2 + 0.3·0.5 = 0.29, men 0.7·0.4 + 0.3·0.6 = 0.46.
	// Women: low 0.29 − √((0.7·0.1433)² + (0.3·0.2007)²) = 0.173, high 0.29 + √((0.7·0.3098)² + (0.3·0.2007)²) = 0.5151.
	by := of("18-29:7,65+:3")
	is(t, "women", by[0].Groups[0].Standardized, `{"rate":0.29,"ci95":{"low":0.173,"high":0.5151},"reason":null}`)
	is(t, "men", by[0].Groups[1].Standardized, `{"rate":0.46,"ci95":{"low":0.3066,"high":0.6248},"reason":null}`)
	is(t, "other", by[0].Groups[2].Standardized, `{"rate":null,"ci95":null,"reason":"empty_stratum"}`)
	is(t, "ages", by[1].Groups[1].Standardized, `{"rate":null,"ci95":null,"reason":"standard_without_that_dimension"}`)
	// A quarter are women: the young 0.25·0.2 + 0.75·0.4 = 0.35.
	is(t, "the young", of("female:1,male:3")[1].Groups[1].Standardized.Rate, `0.35`)
	is(t, "genders", of("female:1,male:3")[0].Groups[1].Standardized.Reason, `"standard_without_that_dimension"`)
	// Of both, the margins count: 30+20 women of 100, 30+20 young.
	is(t, "both", []any{of("")[0].Groups[0].Standardized.Rate, of("")[1].Groups[4].Standardized.Rate}, `[0.35,0.55]`)
}

// If a stratum reveals a small group, nothing standardised is shown.
func TestStandardizationHidesFew(t *testing.T) {
	t.Parallel()
	for least, want := range map[string]string{"2": "null", "3": `"suppressed"`} { // 2 of 10 young women
		r := population(t, Request{Condition: "M54", MinCellSize: least}, fourStrata()...).Standardized.Rates[severePain]
		is(t, least, r.Reason, want)
		if (r.Standardized == nil) != (r.Reason != nil) {
			t.Errorf("%s: %+v", least, r)
		}
	}
	few := append(fourStrata(), person(OtherGender, 40, 5))
	p := population(t, Request{MinCellSize: "2"}, few...)
	if !p.Standardized.Suppressed || len(p.Standardized.Strata) > 0 || *p.Standardized.Rates[severePain].Reason != reasonHidden {
		t.Errorf("%+v", p.Standardized)
	}
}

// TestStandardizedToItselfIsCrude takes the make-up of those whom a rate is of
// as the standard.
func TestStandardizedToItselfIsCrude(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(120)
		r := random.request()
		r.Standard = ""
		counted := populationTally(ask(t, r), patients)
		for m := range measures + moreMeasures {
			rates := &counted.more[max(0, m-measures)]
			if m < measures {
				rates = &counted.measures[m]
			}
			var weights []string
			for g := range rates.n {
				for a, n := range rates.n[g] {
					weights = append(weights, fmt.Sprintf("%s/%s:%d", genderNames[g], ageBandNames[a], n))
				}
			}
			if rates.n.sum() == 0 {
				continue
			}
			r.Standard = strings.Join(weights, ",")
			got := population(t, r, patients...).Standardized.Rates[m]
			if got.Standardized == nil || *got.Standardized != *got.Crude.Proportion {
				rt.Fatalf("%s: %+v", got.Measure, got)
			}
			if got.CI95.Low < 0 || got.CI95.High > 1 || got.CI95.Low > *got.Standardized || got.CI95.High < *got.Standardized {
				rt.Fatalf("%s: %+v around %v", got.Measure, *got.CI95, *got.Standardized)
			}
		}
	})
}

// TestStandardizedRatesAreThoseOfTheRecords compares them with strata counted
// in a naive way.
func TestStandardizedRatesAreThoseOfTheRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		patients := random.patients(80)
		r := random.request()
		r.Standard = ""
		q := ask(t, r)
		type stratum struct{ standard, n, yes float64 }
		table := map[[2]int]*stratum{}
		total := 0.0
		for _, p := range patients {
			age := naiveAge(p.Born, q.AsOf)
			if q.Gender != nil && p.Gender.String() != *q.Gender || q.AgeMin != nil && (age < *q.AgeMin || age > *q.AgeMax) {
				continue
			}
			key := [2]int{int(p.Gender), 0}
			for _, from := range []int{18, 30, 45, 65} {
				if age >= from {
					key[1]++
				}
			}
			if table[key] == nil {
				table[key] = &stratum{}
			}
			table[key].standard++
			total++
			if !naivePasses(p, q) {
				continue
			}
			last := q.AsOf - 1000
			for _, s := range p.Series.Scores {
				if day := dayOf(s.At); day <= q.AsOf {
					last = max(last, day)
				}
			}
			table[key].n++
			if q.AsOf-last > 90 {
				table[key].yes++
			}
		}
		want, empty := 0.0, false
		for _, s := range table {
			if empty = empty || s.n == 0; s.n > 0 {
				want += s.standard / total * s.yes / s.n
			}
		}
		got := population(t, r, patients...).Standardized.Rates[gap]
		switch {
		case total == 0:
			is(t, "nobody", got.Reason, `"nobody"`)
		case empty:
			if got.Standardized != nil || *got.Reason != reasonEmpty || len(got.EmptyStrata) == 0 {
				rt.Fatalf("%+v", got)
			}
		case got.Standardized == nil || math.Abs(*got.Standardized-want) > 6e-5:
			b, _ := json.Marshal(got)
			rt.Fatalf("%s, want %v", b, want)
		}
	})
}

// TestStandardizedRatesTellOfNoFew: a standardised rate is only shown if its
// strata could be shown themselves.
func TestStandardizedRatesTellOfNoFew(t *testing.T) {
	shown := 0
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		var patients []*Patient
		for range 20 + random.IntN(400) {
			patients = append(patients, person(oneOf(random, Female, Female, Male, Male, Male, OtherGender), oneOf(random, 20, 35, 50, 70, 70), oneOf(random, 2, 5, 8)))
		}
		least := oneOf(random, 2, 5, 11)
		r := Request{MinCellSize: fmt.Sprint(least), Standard: oneOf(random, "", "age", "gender", "female/18-29:1,male/65+:2")}
		p := population(t, r, patients...)
		cells := &populationTally(ask(t, r), patients).measures[severePain]
		small := func(n int) bool { return n > 0 && n < least }
		few := func(yes, n int) bool { return small(n) || small(yes) || small(n-yes) }
		s := standard{noGender: r.Standard == "age", noAge: r.Standard == "gender"}
		yes, n := s.fold(&cells.yes), s.fold(&cells.n)
		tells := false
		for g := range n {
			for a := range n[g] {
				weighs := p.Standardized.Standard == "organization" || g == 0 && a == 1 || g == 1 && a == 4
				tells = tells || weighs && few(yes[g][a], n[g][a])
			}
		}
		if got := p.Standardized.Rates[severePain]; got.Standardized != nil {
			shown++
			if tells || got.Crude.Suppressed || p.Standardized.Suppressed {
				rt.Fatalf("%+v is shown of %v in %v", got, yes, n)
			}
		}
		for i, g := range p.Disparities[0].Groups {
			for a := range ageBands {
				if g.Standardized.Rate != nil && r.Standard == "age" && few(cells.yes[i][a], cells.n[i][a]) {
					rt.Fatalf("%s is shown", g.Group)
				}
			}
		}
	})
	if shown == 0 {
		t.Error("nothing was shown")
	}
}
