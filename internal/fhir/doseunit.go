package fhir

import (
	"encoding/json"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
)

type unitOfDose struct {
	code        string
	names, also []string
}

// perHour is the unit of patches.
const perHour = "ug/h"

// doseUnits are the units of a dose: the code in UCUM, our names, of which the
// first is used for a unit that has only a code, and other names in use.
// Things that are counted have no code in UCUM; an annotation names them.
var doseUnits = []unitOfDose{
	{"mg", []string{"mg"}, []string{"milligram"}},
	{"ug", []string{"mcg", "ug", "µg"}, []string{"microgram", "μg"}},
	{"g", []string{"g"}, []string{"gram"}},
	{perHour, []string{"mcg/h", "ug/h", "mcg/hr", "µg/h"}, []string{"ug/hr", "μg/h", "mcg/hour", "microgram/hour"}},
	{"mL", []string{"mL", "ml"}, []string{"milliliter", "millilitre"}},
	{"[iU]", []string{"iu"}, []string{"[iu]", "international unit"}},
	{"meq", []string{"meq"}, []string{"milliequivalent"}},
	{"{tablet}", []string{"tablet"}, []string{"tbl", "tab", "caplet"}},
	{"{capsule}", []string{"capsule"}, []string{"cap"}},
	{"{patch}", []string{"patch"}, []string{"patches"}},
	{"{suppository}", []string{"suppository"}, []string{"suppositories", "supp"}},
	{"{lozenge}", []string{"lozenge"}, nil},
	{"{film}", []string{"film"}, nil},
	{"{ampoule}", []string{"ampoule"}, []string{"ampule", "amp"}},
	{"{spray}", []string{"spray"}, nil},
	{"{puff}", []string{"puff"}, nil},
	{"{drop}", []string{"drop"}, []string{"[drp]", "gtt"}},
	{"{application}", []string{"application"}, nil},
	{"{unit}", []string{"unit"}, nil},
}

// counted are the units in which a product is dispensed, and volume the one
// of liquids.
var counted = []string{"{tablet}", "{capsule}", "{patch}", "{suppository}", "{lozenge}", "{film}", "{ampoule}", "mL"}

// doseQuantity is the quantity of a dose in one of our units.
func doseQuantity(value json.Number, unit string) *Quantity {
	q := &Quantity{Value: value, Unit: unit}
	if code := doseCode(unit); code != "" {
		q.System, q.Code = ucum, code
	}
	return q
}

// doseCode is the UCUM code of one of our units of a dose, or "".
func doseCode(unit string) string {
	for i := range doseUnits {
		if slices.Contains(doseUnits[i].names, unit) {
			return doseUnits[i].code
		}
	}
	return ""
}

// doseUnit is our unit of a quantity. None is "" and ok. It is not ok for a
// unit that is unknown or contradicts its code.
func doseUnit(q *Quantity) (unit string, ok bool) {
	byUnit, byCode := findDoseUnit(q.Unit), findDoseUnit(q.Code)
	switch {
	case q.Code != "" && byCode < 0 || q.Unit != "" && byUnit < 0 && q.Code == "":
		return "", false
	case byUnit >= 0 && byCode >= 0 && byUnit != byCode:
		return "", false
	case byUnit < 0 && byCode < 0:
		return "", true
	case slices.Contains(drug.DoseUnits(), q.Unit):
		return q.Unit, true
	case byUnit >= 0:
		return doseUnits[byUnit].names[0], true
	}
	return doseUnits[byCode].names[0], true
}

// findDoseUnit is the index of the unit with a code or a name, or -1.
func findDoseUnit(text string) int {
	if text == "" {
		return -1
	}
	word := strings.ToLower(strings.TrimSpace(text))
	word = strings.TrimSuffix(strings.Trim(word, "{}"), "(s)")
	return slices.IndexFunc(doseUnits, func(u unitOfDose) bool {
		for _, w := range []string{text, word, strings.TrimSuffix(word, "s")} {
			if w == u.code || slices.Contains(u.names, w) || slices.Contains(u.also, w) {
				return true
			}
		}
		return false
	})
}

// isCounted reports whether one of our units is a unit of the product, such as
// a tablet.
func isCounted(unit string) bool {
	code := doseCode(unit)
	return code != "mL" && slices.Contains(counted, code)
}

// unitOrEach is doseUnit, with "" also for units of the product that are
// counted without naming them.
func unitOrEach(q *Quantity) (unit string, ok bool) {
	if says(q, "each", "ea", "1") {
		return "", true
	}
	return doseUnit(q)
}

// isDoses reports whether a quantity counts doses, whatever their size.
func isDoses(q *Quantity) bool { return says(q, "dose", "doses") }

// says reports whether the unit or the code of a quantity is one of the words.
func says(q *Quantity, words ...string) bool {
	for _, word := range [...]string{q.Code, q.Unit} {
		if slices.Contains(words, strings.ToLower(strings.Trim(word, "{}"))) {
			return true
		}
	}
	return false
}

// routeCodes are the SNOMED CT codes of the routes. Sources: the value sets of
// routes in ONCOFAIR/FHIR-ImplementationGuide-Article and of KBV (Germany,
// AllergyIntolerance_Route_of_Administration).
var routeCodes = []struct{ route, code, display string }{
	{"oral", "26643006", "Oral route"},
	{"transdermal", "45890007", "Transdermal route"},
	{"sublingual", "37839007", "Sublingual route"},
	{"buccal", "54471007", "Buccal route"},
	{"topical", "6064005", "Topical route"},
	{"iv", "47625008", "Intravenous route"},
	{"im", "78421000", "Intramuscular route"},
	{"sc", "34206005", "Subcutaneous route"},
	{"intrathecal", "72607000", "Intrathecal route"},
	{"epidural", "404820008", "Epidural route"},
	{"nasal", "46713006", "Nasal route"},
	{"rectal", "37161004", "Per rectum"},
}

func routeConcept(route string) *CodeableConcept {
	concept := &CodeableConcept{Text: route}
	for _, r := range routeCodes {
		if r.route == route {
			concept.Coding = []Coding{{System: snomed, Code: r.code, Display: r.display}}
		}
	}
	return concept
}

// routeWords are other words for routes.
var routeWords = map[string]string{
	"by mouth": "oral", "po": "oral", "intravenous": "iv", "intramuscular": "im", "subcutaneous": "sc", "subcut": "sc",
	"intranasal": "nasal", "rectally": "rectal", "topically": "topical",
}

// routeOf is our route of a concept: by its SNOMED CT code or, without one, by
// its words. It is not ok for one that is none of ours.
func routeOf(concept *CodeableConcept) (route string, ok bool) {
	if code := concept.code(snomed); code != "" {
		for _, r := range routeCodes {
			if code == r.code {
				return r.route, true
			}
		}
		return "", false
	}
	words := []string{concept.Text}
	for _, c := range concept.Coding {
		words = append(words, c.Display)
	}
	for _, word := range words {
		word = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(word)), " route")
		for _, r := range routeCodes {
			if word == r.route || word == strings.TrimSuffix(strings.ToLower(r.display), " route") {
				return r.route, true
			}
		}
		if route := routeWords[word]; route != "" {
			return route, true
		}
	}
	return "", false
}
