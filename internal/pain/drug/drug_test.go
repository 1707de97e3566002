package drug

import (
	"regexp"
	"slices"
	"testing"
)

// named is a medicine of the ingredients with some names.
func named(names ...string) Found {
	var list []*Ingredient
	for i := range ingredients {
		if slices.Contains(names, ingredients[i].Name) {
			list = append(list, &ingredients[i])
		}
	}
	return Of(list...)
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
		if in := named(name).ingredients; len(in) != 1 || in[0].Factor != factor {
			t.Errorf("%s has factor %v", name, in)
		}
	}
}
