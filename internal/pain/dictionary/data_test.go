package dictionary

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

// opioidsWithoutFactor are the opioids that no table of MME factors has.
var opioidsWithoutFactor = []string{
	"alfentanil", "anileridine", "benzhydrocodone", "carfentanil", "dextromoramide", "dezocine", "diamorphine", "dipipanone", "ethylmorphine",
	"ketobemidone", "levomethadone", "levomethadyl", "meptazinol", "nalbuphine", "nicomorphine", "oliceridine", "opium", "phenazocine", "pholcodine",
	"piritramide", "propoxyphene", "remifentanil", "sufentanil", "tilidine",
}

// notOpioids act on opioid receptors, or sound like it, and are no opioids for
// the purpose of pain care: see docs/decisions/0042-medicine-dictionary.md.
var notOpioids = []string{
	"apomorphine", "dextromethorphan", "difelikefalin", "difenoxin", "diphenoxylate", "eluxadoline", "loperamide",
	"methylnaltrexone", "naldemedine", "nalmefene", "naloxegol", "naloxone", "naltrexone", "samidorphan", "alvimopan", "nadolol",
	"ipratropium", "tiotropium", "trazodone", "nefazodone", "amiodarone", "dronedarone", "cefoperazone",
}

// soundsLikeOpioid has the stems of opioids in INN and RxNorm names.
var soundsLikeOpioid = regexp.MustCompile(`fentanil|fentanyl|morphin|morphone|codone|codeine|orphan(ol)?$|orphine|adol$|methad|meperid|pethid|opium|opioid|propoxy|azocine|dorphan|dezocine|naloxo|naltrex|nalmef|naldem|nalbuph|eluxadol|difelike|loperam|oxylate$|difenox|oliceridine`)

func TestDataAreWhole(t *testing.T) {
	b, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string][2]int{
		"substances": {len(b.substances), 2700}, "brands": {len(b.brands), 4285}, "products": {len(b.products), 20219},
		"package codes": {strings.Count(ndcData, "\n"), 9991 + 3}, "names": {len(b.byName), 8000}, "aliases": {len(b.aliases), 250},
	} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want %d at least", n[0], what, n[1])
		}
	}
	if !strings.Contains(productData, "# RxNorm "+Release+",") || !strings.Contains(Sources()[0], Release) {
		t.Error("the data are of another release than the package says")
	}
	codes := map[string]string{}
	for _, s := range b.substances {
		if s.class == undecided {
			t.Errorf("%s (%s) has no class: decide on one in data/ingredients.tsv", s.name, s.code)
		} else if s.rank < 0 {
			t.Errorf("%s has the class %q, which is none", s.name, s.class)
		}
		if s.code != "" && codes[s.code] != "" {
			t.Errorf("%s and %s have the code %s", s.name, codes[s.code], s.code)
		}
		codes[s.code] = s.name
	}
	for i := range b.brands {
		if len(b.brands[i].products) == 0 || len(b.brands[i].set) == 0 {
			t.Errorf("brand %s has no product", b.brands[i].name)
		}
	}
	if len(b.shadowed) > 0 {
		t.Errorf("RxNorm has names that are written by hand, too: %q", b.shadowed)
	}
	for _, list := range []map[string]bool{commonBrands} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if m, ok := b.byName[name]; !ok || m.brand < 0 {
				t.Errorf("%s is no brand", name)
			}
		}
	}
}

// TestOpioidsAreDecidedOn fails for a new opioid that has not been reviewed.
func TestOpioidsAreDecidedOn(t *testing.T) {
	table := map[string]drug.Ingredient{}
	for _, in := range drug.Medications() {
		table[in.Name] = in
	}
	b := loaded()
	seen := map[string]bool{}
	for _, s := range b.substances {
		in, inTable := table[s.name]
		if inTable {
			seen[s.name] = true
			if in.Class != s.class {
				t.Errorf("%s is %s here and %s in package drug", s.name, s.class, in.Class)
			}
			if in.RxNorm != "" && s.code != in.RxNorm {
				t.Errorf("%s has the code %s here and %s in package drug", s.name, s.code, in.RxNorm)
			}
		}
		without := slices.Contains(opioidsWithoutFactor, s.name)
		switch {
		case s.class == drug.Opioid && inTable == without:
			t.Errorf("%s needs a row in package drug or in opioidsWithoutFactor, and not both", s.name)
		case s.class != drug.Opioid && without:
			t.Errorf("%s is %s", s.name, s.class)
		case s.class != drug.Opioid && soundsLikeOpioid.MatchString(s.name) && !slices.Contains(notOpioids, s.name):
			t.Errorf("%s sounds like an opioid: make it one, or add it to notOpioids", s.name)
		}
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("%s of package drug is not in the dictionary", name)
		}
		for _, also := range table[name].Also {
			m := Find(Query{Name: also})
			if !m.Understood || !slices.ContainsFunc(m.Ingredients, func(in Ingredient) bool { return in.Name == name }) {
				t.Errorf("%s is not understood as %s", also, name)
			}
		}
	}
}

// TestNamesBesideTheLexicon lists the names that are words of prescriptions,
// too. A brand among them would never be found by its name alone.
func TestNamesBesideTheLexicon(t *testing.T) {
	b := loaded()
	var both []string
	for word, entry := range lexicon {
		if m, ok := b.byName[word]; ok && entry.role != salt {
			both = append(both, word+" ("+b.display(m)+")")
		}
	}
	slices.Sort(both)
	if len(both) > 0 {
		t.Errorf("names that the lexicon hides: %q", both)
	}
}
