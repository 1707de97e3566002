package dictionary

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain/drug"

	"pgregory.net/rapid"
)

func TestCodesAndNamesTogether(t *testing.T) {
	for _, c := range []struct {
		title         string
		q             Query
		class         drug.Class
		basis         drug.Basis
		ingredients   string
		contradiction bool
	}{
		{"nothing", Query{}, "", drug.ByNone, "", false},
		{"ingredient", Query{RxNorm: "7804"}, drug.Opioid, drug.ByRxNorm, "oxycodone", false},
		{"ingredient, and a name that is not known", Query{Name: "house oxy stock", RxNorm: "7804"}, drug.Opioid, drug.ByRxNorm, "oxycodone", false},
		{"ingredient, and a name that says more", Query{Name: "oxycodone/apap 5/325", RxNorm: "7804"}, drug.Opioid, drug.ByRxNorm, "acetaminophen 325 mg + oxycodone 5 mg", false},
		{"ingredient, and the strength in the name", Query{Name: "oxycodone 5 mg tab", RxNorm: "7804"}, drug.Opioid, drug.ByRxNorm, "oxycodone 5 mg", false},
		{"the lesser ingredient of the name", Query{Name: "oxycodone/acetaminophen", RxNorm: "161"}, drug.Opioid, drug.ByRxNorm, "acetaminophen + oxycodone", false},
		{"brand", Query{RxNorm: "42844"}, drug.Opioid, drug.ByRxNorm, "acetaminophen + oxycodone", false},
		{"product", Query{RxNorm: "1049640"}, drug.Opioid, drug.ByRxNorm, "acetaminophen 325 mg + oxycodone 5 mg", false},
		{"product, and its brand", Query{Name: "Percocet", RxNorm: "1049640"}, drug.Opioid, drug.ByRxNorm, "acetaminophen 325 mg + oxycodone 5 mg", false},
		{"another opioid", Query{Name: "hydrocodone", RxNorm: "7804"}, drug.Opioid, drug.ByRxNorm, "hydrocodone + oxycodone", true},
		{"a name without the opioid of the code", Query{Name: "Tylenol", RxNorm: "1049640"}, drug.Opioid, drug.ByRxNorm, "acetaminophen + oxycodone", true},
		{"another code", Query{Name: "oxycodone", RxNorm: "6470"}, "", drug.ByNone, "lorazepam + oxycodone", true},
		{"unknown code", Query{Name: "lorazepam 1 mg", RxNorm: "99999999"}, drug.Benzodiazepine, drug.ByName, "lorazepam 1 mg", false},
		{"no code at all", Query{Name: "", RxNorm: "x12"}, "", drug.ByNone, "", false},
		{"package", Query{NDC: "00140000401"}, drug.Benzodiazepine, drug.ByNDC, "diazepam 2 mg", false},
		{"package of another medicine", Query{NDC: "00140000401", Name: "oxycodone 5 mg"}, "", drug.ByNone, "diazepam + oxycodone", true},
		{"package and another code", Query{NDC: "00140000401", RxNorm: "7804"}, "", drug.ByNone, "diazepam + oxycodone", true},
		{"package and its ingredient", Query{NDC: "00140000401", RxNorm: "3322"}, drug.Benzodiazepine, drug.ByRxNorm, "diazepam 2 mg", false},
		{"pack of one medicine", Query{RxNorm: "1740007"}, drug.Opioid, drug.ByRxNorm, "fentanyl 0.6 mg/actuation", false},
	} {
		m := Find(c.q)
		if m.Class != c.class || m.Basis != c.basis || m.Understood != (c.class != "") || written(m) != sorted(c.ingredients) || m.Contradiction != c.contradiction {
			t.Errorf("%s: %s by %s, %s, contradiction %v; %q", c.title, m.Class, m.Basis, written(m), m.Contradiction, m.Why())
		}
	}
	if !Find(Query{RxNorm: "1049640", Name: "oxycodone-acetaminophen 10 mg-325 mg"}).StrengthDiffers {
		t.Error("another strength in the name was not seen")
	}
	if Find(Query{RxNorm: "1049640", Name: "oxycodone-acetaminophen 5-325"}).StrengthDiffers {
		t.Error("the same strength was taken for another")
	}
}

// One record for two medicines would count as the opioid only, and its overlap
// with the other would be denied.
func TestSeveralMedicinesInOneName(t *testing.T) {
	for name, want := range map[string]bool{
		"oxycodone and lorazepam":           true,
		"Percocet + Xanax":                  true,
		"gabapentin 300 mg with tramadol":   true,
		"lorazepam and pregabalin":          true,
		"oxycodone 5 mg, lorazepan 1 mg":    true, // misspelled
		"Norco/Valum":                       true,
		"oxycodone and acetaminophen":       false,
		"carisoprodol, aspirin and codeine": false,
		"oxycodone Teva 5 mg":               false,
		"chlordiazepoxide-amitriptyline":    false,
		"buprenorphine/naloxone 8-2 mg":     false,
	} {
		m := Find(Query{Name: name})
		if m.Several != want || m.Understood == want || want && (m.Class != "" || len(m.Suggestions) == 0) {
			t.Errorf("%s: several %v, understood %v as %q, suggestions %q", name, m.Several, m.Understood, m.Class, m.Suggestions)
		}
	}
}

func TestPackageCodes(t *testing.T) {
	n := 0
	for c := range rows(ndcData) {
		n++
		m := Find(Query{NDC: c[0]})
		if !m.Understood || m.Basis != drug.ByNDC || m.Product.RxNorm != c[1] || m.Class != drug.Opioid && m.Class != drug.Benzodiazepine {
			t.Fatalf("%s: %+v", c[0], m)
		}
	}
	if n != 9991 {
		t.Errorf("%d package codes", n)
	}
	for ndc, ok := range map[string]bool{
		"00140-0004-01": true, "0140-0004-01": true, "00140-004-01": true, "00140-0004-1": true, " 00140 0004 01 ": true, "0014-0000-401": false,
		"0140000401": true, "00140000499": false, "140-0004-01": false, "0140-000A-01": false, "": false, "-": false, "001400004011": false,
	} {
		if m := Find(Query{NDC: ndc}); m.Understood != ok || ok && m.Ingredients[0].Name != "diazepam" {
			t.Errorf("%q: %v, %q", ndc, m.Understood, m.Why())
		}
	}
}

func TestSuggestions(t *testing.T) {
	for name, want := range map[string]string{
		"oxycodne": "oxycodone", "Percoset": "Percocet", "hydrocodne 5-325": "hydrocodone", "MS contn": "MS Contin", "MS": "morphine sulfate",
		"T3": "acetaminophen / codeine (Tylenol #3)", "align": "Align", "gabapentn": "gabapentin", "Oxycotin": "Oxycontin", "lorazapam": "lorazepam",
	} {
		m := Find(Query{Name: name})
		if m.Understood || len(m.Suggestions) > 3 || !slices.Contains(m.Suggestions, want) {
			t.Errorf("%q: %v, %q", name, m.Understood, m.Suggestions)
		}
	}
	for _, name := range []string{"house blend #4", "xyz", "oxycodone"} {
		if m := Find(Query{Name: name}); len(m.Suggestions) > 0 {
			t.Errorf("%q: %q", name, m.Suggestions)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"oxycodne", "oxycodone", 1}, {"ab", "ba", 1}, {"abc", "abc", 0}, {"percoset", "percocet", 1}, {"morphine", "xyz", 3}} {
		if got := distance(c.a, c.b, 2); got != c.want {
			t.Errorf("%s to %s is %d", c.a, c.b, got)
		}
	}
}

// TestWritingDoesNotMatter changes case, spacing and punctuation.
func TestWritingDoesNotMatter(t *testing.T) {
	names := typed()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(names).Draw(t, "name")
		seed := rapid.Uint64().Draw(t, "seed")
		random := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		b.WriteString([]string{"", " ", "\t", "("}[random.IntN(4)])
		for _, r := range c.name {
			switch {
			case r == ' ':
				b.WriteString([]string{" ", "  ", "\t", " \u00a0", ", "}[random.IntN(5)])
			case random.IntN(2) == 0:
				b.WriteString(strings.ToUpper(string(r)))
			default:
				b.WriteString(strings.ToLower(string(r)))
			}
		}
		b.WriteString([]string{"", " ", ".", ")", " ;"}[random.IntN(5)])
		want, got := Find(Query{Name: c.name}), Find(Query{Name: b.String()})
		if got.Class != want.Class || written(got) != written(want) || got.Understood != want.Understood || got.Product != want.Product {
			t.Fatalf("%q is %s: %s, but %q is %s: %s", c.name, want.Class, written(want), b.String(), got.Class, written(got))
		}
	})
}

// TestRandomWordsAreNoOpioid makes words that no dictionary has.
func TestRandomWordsAreNoOpioid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{3,10}`), 1, 4).Draw(t, "words")
		name := strings.Join(words, rapid.SampledFrom([]string{" ", "-", "/"}).Draw(t, "between"))
		m := Find(Query{Name: name})
		if m.Class != drug.Opioid && m.Class != drug.Benzodiazepine {
			return
		}
		for _, word := range words {
			if _, known := loaded().byName[word]; known {
				return
			}
		}
		t.Fatalf("%q is %s: %s", name, m.Class, written(m))
	})
}

// TestUnknownPartnersHideNothing adds unknown words to names.
func TestUnknownPartnersHideNothing(t *testing.T) {
	names := typed()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(names).Draw(t, "name")
		word := rapid.StringMatching(`z[bcdfghjklmnpqrstvwx]{4,8}`).Draw(t, "word")
		m := Find(Query{Name: word + "/" + c.name})
		if m.Understood && m.Class != drug.Opioid {
			t.Fatalf("%s/%s is %s", word, c.name, m.Class)
		}
		if c.class == string(drug.Opioid) && (m.Class != drug.Opioid || !slices.Contains(m.Unknown, word)) {
			t.Fatalf("%s/%s is %q with %q", word, c.name, m.Class, m.Unknown)
		}
	})
}

func TestFindIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, c := range typed() {
				if got := Find(Query{Name: c.name}); got.Understood != (c.class != "-") {
					t.Errorf("%q", c.name)
				}
			}
		})
	}
	group.Wait()
}

// TestManyNumbers would take for ever if each way to place them were tried.
func TestManyNumbers(t *testing.T) {
	name := loaded().brands[loaded().byName["aminosyn pf 7 %"].brand].name
	started := time.Now()
	Find(Query{Name: name + strings.Repeat(" 1 2 3.1 1.25 4.5", 6)})
	Find(Query{Name: "alanine arginine glycine " + strings.Repeat(" 7 7", 6)})
	if took := time.Since(started); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestLongNames(t *testing.T) {
	if m := Find(Query{Name: strings.Repeat("oxycodone ", 100)}); m.Understood || len(m.Why()) != 1 {
		t.Errorf("%+v", m)
	}
}

func FuzzFind(f *testing.F) {
	for _, c := range typed() {
		f.Add(c.name, "", "")
	}
	f.Add("oxycodone 5 mg", "7804", "00140-0004-01")
	f.Add("1/2/3-4 mg/ml per h %#", "99", "1")
	f.Fuzz(func(t *testing.T, name, code, ndc string) {
		m := Find(Query{Name: name, RxNorm: code, NDC: ndc})
		if m.Understood != (m.Class != "") || m.Understood && len(m.Ingredients) == 0 || len(m.Suggestions) > 3 || len(m.Why()) == 0 {
			t.Errorf("%q: %+v", name, m)
		}
		if again := Find(Query{Name: name, RxNorm: code, NDC: ndc}); written(again) != written(m) || !slices.Equal(again.Suggestions, m.Suggestions) {
			t.Errorf("%q: %+v and %+v", name, m, again)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for _, q := range []struct {
		title string
		Query
	}{
		{"code", Query{RxNorm: "1049640"}}, {"package", Query{NDC: "00140-0004-01"}}, {"ingredient", Query{Name: "oxycodone"}},
		{"generic", Query{Name: "oxycodone-acetaminophen 10/325"}}, {"brand", Query{Name: "MS Contin 100 mg ER tab"}},
		{"rxnorm", Query{Name: "acetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]"}},
		{"many", Query{Name: "ibuprofen 800 mg tab"}}, {"misspelt", Query{Name: "oxycodne 5 mg"}}, {"unknown", Query{Name: "house blend"}},
	} {
		b.Run(q.title, func(b *testing.B) {
			Find(q.Query)
			b.ReportAllocs()
			for b.Loop() {
				Find(q.Query)
			}
		})
	}
}

// The strength is that of the code, also where the name says more about what is
// in it. 1049683 is oxycodone 10 mg tablets.
func TestStrengthOfTheCode(t *testing.T) {
	for _, c := range []struct {
		name, want string
		differs    bool
	}{
		{"Percocet 5/325", "acetaminophen 325 mg + oxycodone 10 mg", true},
		{"Percocet 10/325", "acetaminophen 325 mg + oxycodone 10 mg", false},
		{"Percocet", "acetaminophen + oxycodone 10 mg", false},
	} {
		m := Find(Query{Name: c.name, RxNorm: "1049683"})
		if got := written(m); got != c.want || m.StrengthDiffers != c.differs || m.Contradiction || c.differs && m.Product != (Product{}) {
			t.Errorf("%s: %s, differs %v, %+v", c.name, got, m.StrengthDiffers, m.Product)
		}
	}
}
