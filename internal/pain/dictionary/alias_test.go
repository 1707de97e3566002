package dictionary

import (
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

// An alias says what a name leaves open; code, package and a name that is
// understood in full come before it. 1049621 is oxycodone 5 mg tablets, 1049640
// Percocet 5/325, 5640 ibuprofen, 6470 lorazepam, 7052 morphine.
func TestFindByAlias(t *testing.T) {
	for _, c := range []struct {
		title         string
		q             Query
		class         drug.Class
		basis         drug.Basis
		ingredients   string
		contradiction bool
	}{
		{"a name of the house", Query{Name: "oxyIR house stock", Alias: "1049621"}, drug.Opioid, drug.ByAlias, "oxycodone 5 mg", false},
		{"without it", Query{Name: "oxyIR house stock"}, drug.Opioid, drug.ByBrand, "oxycodone", false},
		{"nothing else is known", Query{Name: "blue pills", Alias: "1049621"}, drug.Opioid, drug.ByAlias, "oxycodone 5 mg", false},
		{"a combination", Query{Name: "blue pills", Alias: "1049640"}, drug.Opioid, drug.ByAlias, "acetaminophen 325 mg + oxycodone 5 mg", false},
		{"an ingredient", Query{Name: "calm mix", Alias: "6470"}, drug.Benzodiazepine, drug.ByAlias, "lorazepam", false},
		{"an ingredient, and the strength in the name", Query{Name: "ibuprofen 400 mg house stock", Alias: "5640"}, drug.NSAID, drug.ByAlias, "ibuprofen 400 mg", false},
		{"one of the readings", Query{Name: "MS", Alias: "7052"}, drug.Opioid, drug.ByAlias, "morphine", false},
		{"none of the readings", Query{Name: "MS", Alias: "7804"}, "", drug.ByNone, "", false},
		{"a name that is known", Query{Name: "ibuprofen", Alias: "1049621"}, drug.NSAID, drug.ByName, "ibuprofen", false},
		{"a name that is known in part", Query{Name: "ibuprofen house stock", Alias: "1049621"}, "", drug.ByNone, "ibuprofen", false},
		{"an opioid that is known in part", Query{Name: "hydrocodone house stock", Alias: "1049621"}, drug.Opioid, drug.ByName, "hydrocodone", false},
		{"not taken", Query{Name: "no oxycodone", Alias: "7804"}, "", drug.ByNone, "oxycodone", false},
		{"another strength", Query{Name: "oxycodone 10 mg house stock", Alias: "1049621"}, drug.Opioid, drug.ByName, "oxycodone 10 mg", false},
		{"a code that is not known", Query{Name: "blue pills", Alias: "99999999"}, "", drug.ByNone, "", false},
		{"the code comes first", Query{Name: "blue pills", RxNorm: "1049621", Alias: "1049640"}, drug.Opioid, drug.ByRxNorm, "acetaminophen 325 mg + oxycodone 5 mg", false},
		{"and may contradict", Query{Name: "blue pills", RxNorm: "5640", Alias: "1049621"}, drug.Opioid, drug.ByRxNorm, "ibuprofen + oxycodone", true},
		{"a code that nobody knows", Query{Name: "blue pills", RxNorm: "99999999", Alias: "1049621"}, drug.Opioid, drug.ByAlias, "oxycodone 5 mg", false},
		{"a package contradicts", Query{Name: "blue pills", NDC: "00140000401", Alias: "1049621"}, "", drug.ByNone, "diazepam + oxycodone", true},
	} {
		m := Find(c.q)
		if m.Class != c.class || m.Basis != c.basis || m.Understood != (c.class != "") || written(m) != sorted(c.ingredients) || m.Contradiction != c.contradiction {
			t.Errorf("%s: %s by %s, %s, contradiction %v; %q", c.title, m.Class, m.Basis, written(m), m.Contradiction, m.Why())
		}
		if m.Basis == drug.ByAlias && (len(m.Unknown) > 0 || len(m.Suggestions) > 0 || !strings.HasPrefix(strings.Join(m.Why(), " "), "By an alias") && c.q.RxNorm == "") {
			t.Errorf("%s: %q, %q, %q", c.title, m.Unknown, m.Suggestions, m.Why())
		}
	}
	m := Find(Query{Name: "blue pills", Alias: "1049621"})
	if m.Product.RxNorm != "1049621" || m.Route != "oral" || m.Unit != "tablet" {
		t.Errorf("%+v", m)
	}
}

func TestAliasProblem(t *testing.T) {
	for _, c := range []struct{ name, code, field, says string }{
		{"oxyIR house stock", "1049621", "", ""},
		{"blue pills", "1049621", "", ""},
		{"MS", "7052", "", ""},
		{"oxycodne", "7804", "", ""},
		{"oxycodne", "5640", "name", "is spelled like oxycodone, an opioid, but rxnorm_code is that of ibuprofen."},
		{"ibuprofn", "5640", "", ""},
		{"House Stock no. 4", "1049621", "", ""},
		{"aspirin of the house", "1191", "", ""},
		// Of the same meaning, in any order.
		{"oxycodone 5 mg", "1049621", "", ""},
		{"acetaminophen 325 mg / oxycodone 5 mg tablet", "1049640", "", ""},
		{"oxycodone", "7804", "", ""},

		{"oxycodone", "1049621", "name", "is already recognised as oxycodone; an alias cannot change it to oxycodone 5 mg."},
		{"ibuprofen", "7804", "name", "is already recognised as ibuprofen; an alias cannot change it to oxycodone."},
		{"ibuprofen house stock", "7804", "name", "says ibuprofen, but rxnorm_code is that of oxycodone."},
		{"oxycodone or hydrocodone", "7804", "name", "says oxycodone and hydrocodone, but"},
		{"no oxycodone", "7804", "name", `has the word "no"`},
		{"MS", "7804", "name", "stands for morphine sulfate or magnesium sulfate"},
		{"house stock 10 mg", "1049621", "name", "has a different strength"},
		{"#!", "7804", "name", "must have a letter or a digit."},
		{"", "7804", "name", "must have a letter or a digit."},
		{"blue pills", "99999999", "rxnorm_code", "is not in the dictionary (RxNorm release of " + Release + ")."},
		{"blue pills", "", "rxnorm_code", "is not in the dictionary"},
	} {
		field, problem := AliasProblem(c.name, c.code)
		if field != c.field || !strings.HasPrefix(problem, c.says) || c.says == "" && problem != "" {
			t.Errorf("%q for %s: %q %q", c.name, c.code, field, problem)
		}
		// What may be an alias is understood as the medicine of the code.
		if want := Find(Query{RxNorm: c.code}); field == "" && written(Find(Query{Name: c.name, Alias: c.code})) != written(want) {
			t.Errorf("%q for %s is understood as %s", c.name, c.code, written(Find(Query{Name: c.name, Alias: c.code})))
		}
	}
}

func TestFold(t *testing.T) {
	for _, name := range []string{"OxyIR house-stock", " oxyir  House Stock ", "OXYIR (house) stock!", "oxyIR, house stock", "òxyIR house's stock"} {
		want := "oxyir house stock"
		if strings.Contains(name, "'") {
			want = "oxyir houses stock"
		}
		if Fold(name) != want || Fold(Fold(name)) != want {
			t.Errorf("%q is folded to %q", name, Fold(name))
		}
	}
}
