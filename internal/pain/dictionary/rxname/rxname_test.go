package rxname

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		want Drug
	}{
		{"acetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]", Drug{
			Components: []Component{{0, "acetaminophen", 325, "MG"}, {0, "oxycodone hydrochloride", 5, "MG"}}, Form: "Oral Tablet", Brand: "Percocet"}},
		{"72 HR fentanyl 0.025 MG/HR Transdermal System", Drug{Components: []Component{{0, "fentanyl", 0.025, "MG/HR"}}, Form: "Transdermal System"}},
		{"Abuse-Deterrent 12 HR oxycodone hydrochloride 10 MG Extended Release Oral Tablet [Oxycontin]", Drug{
			Components: []Component{{0, "oxycodone hydrochloride", 10, "MG"}}, Form: "Extended Release Oral Tablet", Brand: "Oxycontin"}},
		{"0.5 ML vitamin B12 1 MG/ML Prefilled Syringe", Drug{Components: []Component{{0, "vitamin B12", 1, "MG/ML"}}, Form: "Prefilled Syringe"}},
		{"polyethylene glycol 3350 17000 MG Powder for Oral Solution", Drug{Components: []Component{{0, "polyethylene glycol 3350", 17000, "MG"}}, Form: "Powder for Oral Solution"}},
		{"5-hydroxytryptophan 100 MG Oral Capsule", Drug{Components: []Component{{0, "5-hydroxytryptophan", 100, "MG"}}, Form: "Oral Capsule"}},
		{"{2 (fentanyl 0.6 MG/ACTUAT Mucosal Spray [Subsys]) } Pack [Subsys 1200 MCG]", Drug{
			Components: []Component{{0, "fentanyl", 0.6, "MG/ACTUAT"}}, Form: "Mucosal Spray", Brand: "Subsys 1200 MCG", Pack: true}},
		{"{24 (drospirenone 3 MG / ethinyl estradiol 0.02 MG Oral Tablet) / 4 (inert ingredients 1 MG Chewable Tablet) } Pack", Drug{
			Components: []Component{{0, "drospirenone", 3, "MG"}, {0, "ethinyl estradiol", 0.02, "MG"}, {1, "inert ingredients", 1, "MG"}}, Form: "Pack", Pack: true}},
		{"{1 (225 ML) (ammonium lactate 120 MG/ML Topical Lotion) } Pack", Drug{
			Components: []Component{{0, "ammonium lactate", 120, "MG/ML"}}, Form: "Topical Lotion", Pack: true}},
		{"Pediatric 1 ML leuprolide acetate 7.5 MG/ML Prefilled Syringe", Drug{Components: []Component{{0, "leuprolide acetate", 7.5, "MG/ML"}}, Form: "Prefilled Syringe"}},
		{"oxycodone", Drug{Components: []Component{{0, "oxycodone", 0, ""}}}},
	} {
		var got Drug
		if ok := got.Parse(c.name); !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
	for _, name := range []string{"", "{ } Pack", "{2 () } Pack"} {
		if d := (Drug{}); d.Parse(name) {
			t.Errorf("%q was read as %+v", name, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("{24 (drospirenone 3 MG / ethinyl estradiol 0.02 MG Oral Tablet) / 4 (inert ingredients 1 MG Oral Tablet) } Pack [Yaz 28 Day]")
	f.Fuzz(func(t *testing.T, name string) {
		var d Drug
		if d.Parse(name) && len(d.Components) == 0 {
			t.Errorf("%q has no components", name)
		}
	})
}
