package pain

import (
	"fmt"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain/instrument"
)

// ticks is an items object with the same answer to items 1 to n.
func ticks(n int, answer string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d":%s`, i+1, answer)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

const byPlatform = `,"status":"complete","scored_by":"platform"`

var assessmentCases = []valueCase{
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":5}}`, `{"instrument":"peg","items":{"1":6,"2":7,"3":5},"raw_score":18,"score":6` + byPlatform + `}`, false},
	{`{"instrument":"peg","version":"1.0","items":{"3":6,"2":7,"1":7}}`, `{"instrument":"peg","version":"1.0","items":{"1":7,"2":7,"3":6},"raw_score":20,"score":6.666666666666667` + byPlatform + `}`, false},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":null}}`, `{"instrument":"peg","items":{"1":6,"2":7},"raw_score":null,"score":null,"status":"unscorable","scored_by":"platform"}`, true},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":11}}`, `value.items.3 11 value.items.3 must be a whole number from 0 to 10.`, false},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":"5"}}`, `value.items.3 "5" value.items.3 must be a whole number from 0 to 10.`, false},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":5,"4":1}}`, `value.items.4 1 Unknown field. Did you mean "1"?`, false},
	{`{"instrument":"peg","items":{}}`, `value.items {} value.items must have at least one answer.`, false},
	{`{"instrument":"peg","items":[6,7,5]}`, `value.items [6,7,5] value.items must be an object.`, false},
	{`{"instrument":"peg"}`, `value.items null value.items is required for peg: an object with the fields "1" to "3".`, false},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":5},"score":6}`, `value.score 6 value.score is computed from the items; omit it.`, false},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":5},"band":"mild"}`, `value.band "mild" value.band is computed by the service; omit it.`, false},
	{`{"instrument":"peg","items":{"1":6,"2":7,"3":5},"status":"complete","scored_by":"external","raw_score":1,"derived":1}`,
		`value.raw_score 1 value.raw_score is computed by the service; omit it.; value.status "complete" value.status is computed by the service; omit it.; ` +
			`value.scored_by "external" value.scored_by is computed by the service; omit it.; value.derived 1 value.derived is computed by the service; omit it.`, false},

	{`{"instrument":"phq_9","items":` + ticks(9, "1") + `}`, `{"instrument":"phq_9","items":` + ticks(9, "1") + `,"raw_score":9,"score":9,"band":"mild"` + byPlatform + `,"derived":{"positive":false,"safety_flag":true}}`, false},
	{`{"instrument":"phq_9","items":` + ticks(8, "3") + `}`, `{"instrument":"phq_9","items":` + ticks(8, "3") + `,"raw_score":24,"score":27,"band":"severe","status":"prorated","scored_by":"platform","derived":{"prorated_score":27,"positive":true,"safety_flag":false}}`, false},
	{`{"instrument":"phq_9","items":{"1":1,"9":1}}`, `{"instrument":"phq_9","items":{"1":1,"9":1},"raw_score":null,"score":null,"status":"unscorable","scored_by":"platform","derived":{"safety_flag":true}}`, false},
	{`{"instrument":"phq_9","items":` + ticks(9, "4") + `}`, func() string {
		var lines []string
		for i := range 9 {
			lines = append(lines, fmt.Sprintf("value.items.%d 4 value.items.%d must be a whole number from 0 to 3.", i+1, i+1))
		}
		return strings.Join(lines, "; ")
	}(), false},
	{`{"instrument":"phq_2","items":{"1":1,"2":2}}`, `{"instrument":"phq_2","items":{"1":1,"2":2},"raw_score":3,"score":3,"band":"positive"` + byPlatform + `,"derived":{"positive":true}}`, false},
	{`{"instrument":"phq_2","items":{"1":1}}`, `{"instrument":"phq_2","items":{"1":1},"raw_score":null,"score":null,"status":"unscorable","scored_by":"platform"}`, false},
	{`{"instrument":"gad_7","items":` + ticks(7, "2") + `}`, `{"instrument":"gad_7","items":` + ticks(7, "2") + `,"raw_score":14,"score":14,"band":"moderate"` + byPlatform + `,"derived":{"positive":true}}`, false},
	{`{"instrument":"gad_7","items":` + ticks(6, "1") + `}`, `{"instrument":"gad_7","items":` + ticks(6, "1") + `,"raw_score":6,"score":7,"band":"mild","status":"prorated","scored_by":"platform","derived":{"prorated_score":7,"positive":false}}`, false},
	{`{"instrument":"gad_7","items":` + ticks(5, "1") + `}`, `{"instrument":"gad_7","items":` + ticks(5, "1") + `,"raw_score":null,"score":null,"status":"unscorable","scored_by":"platform"}`, false},
	{`{"instrument":"rmdq","items":` + ticks(24, "1") + `}`, `{"instrument":"rmdq","items":` + ticks(24, "1") + `,"raw_score":24,"score":24` + byPlatform + `}`, false},
	{`{"instrument":"rmdq","items":{"1":true,"5":false,"24":1,"7":0}}`, `{"instrument":"rmdq","items":{"1":1,"5":0,"7":0,"24":1},"raw_score":2,"score":2` + byPlatform + `}`, false},
	{`{"instrument":"rmdq","items":{}}`, `{"instrument":"rmdq","items":{},"raw_score":0,"score":0` + byPlatform + `}`, false},
	{`{"instrument":"rmdq","items":{"1":2,"2":"yes"}}`, `value.items.1 2 value.items.1 must be true, false, 1 or 0.; value.items.2 "yes" value.items.2 must be true, false, 1 or 0.`, false},
	{`{"instrument":"peg","items":{"1":true}}`, `value.items.1 true value.items.1 must be a whole number from 0 to 10.`, false},
	{`{"instrument":"pgic","items":{"1":2}}`, `{"instrument":"pgic","items":{"1":2},"raw_score":2,"score":2,"band":"much_improved"` + byPlatform + `}`, false},
	{`{"instrument":"pgic","items":{"1":0}}`, `value.items.1 0 value.items.1 must be a whole number from 1 to 7.`, false},

	{`{"instrument":"odi","score":35.56}`, `{"instrument":"odi","score":35.56,"band":"moderate","status":"complete","scored_by":"external"}`, false},
	{`{"instrument":"odi"}`, `value.score null value.score is required for odi.`, false},
	{`{"instrument":"odi","score":null}`, `value.score null value.score is required for odi.`, false},
	{`{"instrument":"odi","score":"35"}`, `value.score "35" value.score must be a number.`, false},
	{`{"instrument":"odi","score":100.5}`, `value.score 100.5 value.score must be a number from 0 to 100 (odi).`, false},
	{`{"instrument":"odi","score":30,"items":{"1":2}}`, `value.items {"1":2} value.items is not accepted: odi is licensed, so only its total is stored. Send score.`, false},
	{`{"instrument":"pcs","score":30.5}`, `value.score 30.5 value.score must be a whole number from 0 to 52 (pcs).`, false},
	{`{"instrument":"pcs","score":31}`, `{"instrument":"pcs","score":31,"band":"clinically_relevant","status":"complete","scored_by":"external","derived":{"positive":true}}`, false},
	{`{"instrument":"pain_detect","score":-1}`, `{"instrument":"pain_detect","score":-1,"band":"unlikely","status":"complete","scored_by":"external","derived":{"positive":false}}`, false},
	{`{"instrument":"bpi_interference","score":4.25}`, `{"instrument":"bpi_interference","score":4.25,"status":"complete","scored_by":"external"}`, false},
	{`{"instrument":"PHQ-9","items":{"1":7}}`, `value.instrument "PHQ-9" value.instrument must be one of peg, phq_9, phq_2, gad_7, rmdq, pgic, bpi_severity, bpi_interference, promis_pi, odi, ndi, pcs, pain_detect, dn4, ort, ort_oud, comm. Did you mean "phq_9"?`, false},
	{`{}`, `value.instrument null value.instrument is required.`, false},
	{`{"items":{"1":7},"score":3}`, `value.instrument null value.instrument is required.`, false},
}

// Every licensed instrument takes exactly the totals of its range.
func TestTotals(t *testing.T) {
	for _, info := range Instruments() {
		if !info.TotalOnly {
			continue
		}
		for _, score := range []float64{info.ScoreMin, info.ScoreMax} {
			mustTake(t, TypeAssessments, fmt.Sprintf(`{"instrument":%q,"score":%v}`, info.Name, score))
		}
		for _, score := range []float64{info.ScoreMin - 1, info.ScoreMax + 1} {
			if _, faults := take(t, TypeAssessments, fmt.Sprintf(`{"instrument":%q,"score":%v}`, info.Name, score)); len(faults) != 1 {
				t.Errorf("%s takes %v", info.Name, score)
			}
		}
	}
}

func assessed(t *testing.T, value string) Assessment {
	t.Helper()
	a, err := ReadAssessment(mustTake(t, TypeAssessments, value))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestVector09(t *testing.T) {
	a := assessed(t, `{"instrument":"peg","items":{"1":6,"2":7,"3":5}}`)
	if score, ok := a.Score.Get(); !ok || score != 6 || a.Status != "complete" {
		t.Errorf("PEG 6, 7, 5: %+v", a)
	}
	a = assessed(t, `{"instrument":"peg","items":{"1":6,"2":7,"3":null}}`)
	if _, ok := a.Score.Get(); ok || a.Status != "unscorable" {
		t.Errorf("PEG 6, 7, null: %+v", a)
	}
}

// Scores are stored unrounded, so that a change of exactly 30 % counts.
func TestVector10(t *testing.T) {
	before := assessed(t, `{"instrument":"peg","items":{"1":7,"2":7,"3":6}}`)
	after := assessed(t, `{"instrument":"peg","items":{"1":5,"2":5,"3":4}}`)
	if points, percent := instrument.Find("peg").Change.Met(before.Score.value, after.Score.value); !points || !percent {
		t.Error("PEG 20 to 14 is a change of 2 points and of 30 %")
	}
	if _, percent := instrument.Find("peg").Change.Met(6.7, 4.7); percent {
		t.Error("rounded first it is not: the test would prove nothing")
	}
}

func TestVector18(t *testing.T) {
	a := assessed(t, `{"instrument":"phq_9","items":{"1":2,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1}}`)
	if exact, _ := a.Derived.ProratedScore.Get(); exact != 10.125 || a.Score.value != 10 || a.Band != "moderate" || a.Status != "prorated" {
		t.Errorf("PHQ-9: %+v", a)
	}
	a = assessed(t, fmt.Sprintf(`{"instrument":"odi","score":%v}`, 100*16.0/(5*9)))
	if fmt.Sprintf("%.2f", a.Score.value) != "35.56" || a.Band != "moderate" {
		t.Errorf("ODI: %+v", a)
	}
	if points, percent := instrument.Find("rmdq").Change.Met(14, 9); !points || !percent {
		t.Errorf("RMDQ 14 to 9: points %v, percent %v", points, percent)
	}
}
