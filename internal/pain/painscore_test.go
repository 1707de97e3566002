package pain

import "testing"

const (
	nowDefaults = `,"aspect":"current","recall":"now"`
	onNRS       = " value.score must be a whole number from 0 to 10 on the scale nrs."
	sites       = "head, face, jaw, neck, shoulder, upper arm, elbow, forearm, wrist, hand, chest, upper back, lower back, abdomen, pelvis, buttock, " +
		"hip, groin, thigh, knee, lower leg, ankle, foot, widespread, other."
	qualities = "aching, dull, sharp, throbbing, cramping, stiff, burning, painful_cold, electric_shock, tingling, pins_and_needles, numbness, itching, shooting, allodynia."
)

func derivedPain(normalized, severity, scheme string) string {
	return `,"derived":{"normalized":` + normalized + `,"severity":"` + severity + `","scheme":"` + scheme + `"}}`
}

var painScoreCases = []valueCase{
	{`7`, `{"scale":"nrs","score":7` + nowDefaults + derivedPain("7", "severe", "default"), false},
	{`0`, `{"scale":"nrs","score":0` + nowDefaults + derivedPain("0", "none", "default"), false},
	{`-0`, `{"scale":"nrs","score":0` + nowDefaults + derivedPain("0", "none", "default"), false},
	{`7.5`, `value 7.5 value must be a whole number from 0 to 10 on the scale nrs.`, false},
	{`11`, `value 11 value must be a whole number from 0 to 10 on the scale nrs.`, false},
	{`1e400`, `value 1e400 value must be an object, or a number from 0 to 10 on the scale nrs.`, false},
	{`{"score":0}`, `{"scale":"nrs","score":0` + nowDefaults + derivedPain("0", "none", "default"), false},
	{`{"score":1.0}`, `{"scale":"nrs","score":1` + nowDefaults + derivedPain("1", "mild", "default"), false},
	{`{"score":3}`, `{"scale":"nrs","score":3` + nowDefaults + derivedPain("3", "mild", "default"), false},
	{`{"score":4}`, `{"scale":"nrs","score":4` + nowDefaults + derivedPain("4", "moderate", "default"), false},
	{`{"score":6}`, `{"scale":"nrs","score":6` + nowDefaults + derivedPain("6", "moderate", "default"), false},
	{`{"score":1e1}`, `{"scale":"nrs","score":10` + nowDefaults + derivedPain("10", "severe", "default"), false},
	{`{"score":-1}`, `value.score -1` + onNRS, false},
	{`{"score":11}`, `value.score 11` + onNRS, false},
	{`{"score":6.5}`, `value.score 6.5` + onNRS, false},
	{`{"score":1e300}`, `value.score 1e300` + onNRS, false},
	{`{"score":"7"}`, `value.score "7" value.score must be a number.`, false},
	{`{"score":true}`, `value.score true value.score must be a number.`, false},
	{`{}`, `value.score null value.score is required.`, false},
	{`{"score":null}`, `value.score null value.score is required.`, false},
	{`{"scale":"","score":7,"body_site":null,"aspect":""}`, `{"scale":"nrs","score":7` + nowDefaults + derivedPain("7", "severe", "default"), true},
	{`{"scale":"vas","score":39}`, `{"scale":"vas","score":39` + nowDefaults + derivedPain("3.9", "mild", "default"), false},
	{`{"scale":"vas","score":100}`, `{"scale":"vas","score":100` + nowDefaults + derivedPain("10", "severe", "default"), false},
	{`{"scale":"vas","score":101}`, `value.score 101 value.score must be a whole number from 0 to 100 on the scale vas.`, false},
	{`{"scale":"vas","score":12.5}`, `value.score 12.5 value.score must be a whole number from 0 to 100 on the scale vas.`, false},
	{`{"scale":"vrs4","score":2}`, `{"scale":"vrs4","score":2` + nowDefaults + derivedPain("null", "moderate", "vrs4"), false},
	{`{"scale":"vrs4","score":0}`, `{"scale":"vrs4","score":0` + nowDefaults + derivedPain("null", "none", "vrs4"), false},
	{`{"scale":"vrs4","score":1}`, `{"scale":"vrs4","score":1` + nowDefaults + derivedPain("null", "mild", "vrs4"), false},
	{`{"scale":"vrs4","score":3}`, `{"scale":"vrs4","score":3` + nowDefaults + derivedPain("null", "severe", "vrs4"), false},
	{`{"scale":"vrs4","score":4}`, `value.score 4 value.score must be a whole number from 0 to 3 on the scale vrs4.`, false},
	{`{"scale":"fps_r","score":8}`, `{"scale":"fps_r","score":8` + nowDefaults + derivedPain("8", "severe", "default"), false},
	{`{"scale":"fps_r","score":7}`, `value.score 7 value.score must be an even number from 0 to 10 on the scale fps_r.`, false},
	{`{"scale":"fps_r","score":12}`, `value.score 12 value.score must be an even number from 0 to 10 on the scale fps_r.`, false},
	{`{"scale":"NRS","score":70}`, `value.scale "NRS" value.scale must be one of nrs, vas, vrs4, fps_r. Did you mean "nrs"?`, false},
	{`{"scale":4,"score":7}`, `value.scale 4 value.scale must be a string.`, false},

	{`{"score":5,"aspect":"average","recall":"7d","body_site":"lower back","laterality":"midline","context":"movement"}`,
		`{"scale":"nrs","score":5,"aspect":"average","recall":"7d","body_site":"lower back","laterality":"midline","context":"movement"` + derivedPain("5", "moderate", "default"), false},
	{`{"score":5,"aspect":"worst"}`, `{"scale":"nrs","score":5,"aspect":"worst"` + derivedPain("5", "moderate", "default"), false},
	{`{"score":5,"recall":"now"}`, `{"scale":"nrs","score":5` + nowDefaults + derivedPain("5", "moderate", "default"), false},
	{`{"score":5,"aspect":"current","recall":"24h"}`, `value.recall "24h" value.recall must be now or omitted if the aspect is current.`, false},
	{`{"score":5,"aspect":"least","recall":"now"}`, `value.recall "now" value.recall must not be now unless the aspect is current.`, false},
	{`{"score":5,"aspect":"mean","recall":"24h"}`, `value.aspect "mean" value.aspect must be one of current, average, worst, least.`, false},
	{`{"score":5,"aspect":"worst","recall":"1d"}`, `value.recall "1d" value.recall must be one of now, 24h, 7d, 30d. Did you mean "7d"?`, false},
	{`{"score":5,"body_site":"lower_back"}`, `value.body_site "lower_back" value.body_site must be one of ` + sites + ` Did you mean "lower back"?`, false},
	{`{"score":5,"laterality":"both"}`, `value.laterality "both" value.laterality must be one of left, right, bilateral, midline, na.`, false},
	{`{"score":5,"context":"walking"}`, `value.context "walking" value.context must be one of rest, movement, post_procedure.`, false},

	{`{"score":5,"quality":["burning","dull","itching"]}`, `{"scale":"nrs","score":5` + nowDefaults +
		`,"quality":["burning","dull","itching"],"derived":{"normalized":5,"severity":"moderate","scheme":"default","neuropathic_descriptor_count":2}}`, false},
	{`{"score":5,"quality":[]}`, `{"scale":"nrs","score":5` + nowDefaults + derivedPain("5", "moderate", "default"), false},
	{`{"score":5,"quality":"burning"}`, `value.quality "burning" value.quality must be an array.`, false},
	{`{"score":5,"quality":["dull","burnin",7]}`, `value.quality[1] "burnin" value.quality[1] must be one of ` + qualities + ` Did you mean "burning"?; value.quality[2] 7 value.quality[2] must be one of ` + qualities, false},
	{`{"score":5,"quality":["dull","dull"]}`, `value.quality[1] "dull" value.quality[1] must not be repeated.`, false},
	{`{"score":5,"quality":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}`, `value.quality [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16] value.quality must have at most 15 different values.`, false},

	{`{"score":5,"breakthrough":{"trigger":"incident","peak":9,"episodes_24h":0,"duration_min":0.5}}`, `{"scale":"nrs","score":5` + nowDefaults +
		`,"breakthrough":{"episodes_24h":0,"peak":9,"duration_min":0.5,"trigger":"incident"}` + derivedPain("5", "moderate", "default"), false},
	{`{"score":5,"breakthrough":{}}`, `value.breakthrough {} value.breakthrough must have at least one of episodes_24h, peak, duration_min, trigger.`, false},
	{`{"score":5,"breakthrough":true}`, `value.breakthrough true value.breakthrough must be an object.`, false},
	{`{"score":5,"breakthrough":{"peak":10.5}}`, `value.breakthrough.peak 10.5 value.breakthrough.peak must be a whole number from 0 to 10.`, false},
	{`{"score":5,"breakthrough":{"episodes_24h":-1}}`, `value.breakthrough.episodes_24h -1 value.breakthrough.episodes_24h must be a whole number from 0 to 100.`, false},
	{`{"score":5,"breakthrough":{"duration_min":0}}`, `value.breakthrough.duration_min 0 value.breakthrough.duration_min must be a number above 0 and up to 1440 (minutes).`, false},
	{`{"score":5,"breakthrough":{"trigger":"x"}}`, `value.breakthrough.trigger "x" value.breakthrough.trigger must be one of spontaneous, incident, end_of_dose.`, false},
	{`{"score":5,"breakthrough":{"peek":9}}`, `value.breakthrough {"peek":9} value.breakthrough must have at least one of episodes_24h, peak, duration_min, trigger.; ` +
		`value.breakthrough.peek 9 Unknown field. Did you mean "peak"?`, false},

	{`{"scroe":5}`, `value.score null value.score is required.; value.scroe 5 Unknown field. Did you mean "score"?`, false},
	{`{"score":5,"derived":{"severity":"none"}}`, `value.derived {"severity":"none"} value.derived is computed by the service; omit it.`, false},
}

func TestSchemes(t *testing.T) {
	for _, c := range []struct {
		scheme Scheme
		scores map[float64]Severity
	}{
		{DefaultScheme, map[float64]Severity{0: NoPain, 0.1: Mild, 3: Mild, 3.9: Mild, 4: Moderate, 6.99: Moderate, 7: Severe, 10: Severe}},
		{SerlinScheme, map[float64]Severity{0: NoPain, 1: Mild, 4: Mild, 4.9: Mild, 5: Moderate, 6: Moderate, 7: Severe}},
		{MSKScheme, map[float64]Severity{0: NoPain, 5: Mild, 6: Moderate, 7: Moderate, 8: Severe}},
		{VASInterference, map[float64]Severity{0: NoPain, 34: Mild, 35: Moderate, 64: Moderate, 65: Severe}},
		{VASLabel, map[float64]Severity{0: NoPain, 34: Mild, 35: Moderate, 74: Moderate, 75: Severe, 100: Severe}},
		{VRSScheme, map[float64]Severity{0: NoPain, 1: Mild, 2: Moderate, 3: Severe}},
	} {
		for score, want := range c.scores {
			if got := c.scheme.Of(score); got != want {
				t.Errorf("%s of %v is %s, want %s", c.scheme.Name, score, got, want)
			}
		}
	}
}

func TestPainTables(t *testing.T) {
	if n := len(BodySites()); n != 25 {
		t.Errorf("%d sites", n)
	}
	for _, s := range Scales() {
		if s.Scheme != DefaultScheme.Name && s.Scheme != VRSScheme.Name {
			t.Errorf("scale %s has scheme %q", s.Name, s.Scheme)
		}
	}
	if Schemes()[0] != DefaultScheme {
		t.Error("the default does not stand first")
	}
}
