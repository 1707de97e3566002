package drug

import (
	"regexp"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, code string
		class      Class
		names      []string
	}{
		{"Oxycodone", "", Opioid, []string{"oxycodone"}},
		{"OXYCODONE-ACETAMINOPHEN 5/325", "", Opioid, []string{"oxycodone", "acetaminophen"}},
		{"Percocet", "", Opioid, []string{"oxycodone"}},
		{"hydromorphone HCl", "", Opioid, []string{"hydromorphone"}},
		{"dihydrocodeine", "", Opioid, []string{"dihydrocodeine"}},
		{"buprenorphine/naloxone", "", Opioid, []string{"buprenorphine", "naloxone"}},
		{"naloxone 4mg nasal spray", "", OpioidAntagonist, []string{"naloxone"}},
		{"anything", "6470", Benzodiazepine, []string{"lorazepam"}},
		{"Lorazepam", "6470", Benzodiazepine, []string{"lorazepam"}},
		{"ibuprofen", "", NSAID, []string{"ibuprofen"}},
		{"Paracetamol", "", OtherAnalgesic, []string{"acetaminophen"}},
		{"lidocaine patch", "", Topical, []string{"lidocaine"}},
		{"morphinee", "", "", nil},
		{"apomorphine", "", "", nil},
		{"", "", "", nil},
		{"é×", "999999", "", nil},
	} {
		f := Find(c.name, c.code)
		class, ok := f.Class()
		if class != c.class || ok != (c.class != "") || !slices.Equal(f.Ingredients(), c.names) || f.Contradiction() {
			t.Errorf("Find(%q, %q) is %s, %v, %q", c.name, c.code, class, ok, f.Ingredients())
		}
	}
	if !Find("hydrocodone", "7804").Contradiction() || Find("Roxybond", "7804").Contradiction() || Find("oxycodone/acetaminophen", "161").Contradiction() {
		t.Error("contradictions")
	}
	if class, _ := Find("oxycodone", "161").Class(); class != Opioid {
		t.Errorf("an opioid with another code is %s", class)
	}
}

func TestTable(t *testing.T) {
	codes, names := map[string]bool{}, map[string]bool{}
	for _, in := range Medications() {
		for _, name := range append([]string{in.Name}, in.Also...) {
			if names[name] || !regexp.MustCompile(`^[a-z]+$`).MatchString(name) {
				t.Errorf("name %q is there twice, or no plain word", name)
			}
			names[name] = true
		}
		if in.RxNorm != "" && (codes[in.RxNorm] || !regexp.MustCompile(`^[0-9]+$`).MatchString(in.RxNorm)) {
			t.Errorf("code %q", in.RxNorm)
		}
		codes[in.RxNorm] = true
		if !slices.Contains(Classes(), in.Class) || in.Source == "" {
			t.Errorf("%+v", in)
		}
		if (in.Factor != 0 || in.LegacyFactor != 0) && in.Class != Opioid || in.Factor != 0 && in.LegacyFactor != 0 {
			t.Errorf("factors of %+v", in)
		}
	}
	want := map[string]float64{"codeine": 0.15, "fentanyl": 2.4, "hydrocodone": 1, "hydromorphone": 5, "methadone": 4.7,
		"morphine": 1, "oxycodone": 1.5, "oxymorphone": 3, "tapentadol": 0.4, "tramadol": 0.2, "buprenorphine": 0}
	for name, factor := range want {
		if byName[name].Factor != factor {
			t.Errorf("%s has factor %v", name, byName[name].Factor)
		}
	}
}
