package dictionary

import "strings"

// kind is what a medicine looks like, as far as people say.
type kind uint8

const (
	anyKind kind = iota
	tablet
	capsule
	liquid
	injection
	patch
	film
	lozenge
	suppository
	spray
	topical
	otherKind
)

// release says how fast a medicine is set free.
type release uint8

const (
	anyRelease release = iota
	immediate
	extended
	delayed
)

// form is what a dose form implies, and what people say of one.
type form struct {
	kind    kind
	release release
	route   string
	solves  bool // said as disintegrating, chewable or effervescent
}

// Routes beyond those that a prescription may state are "injection" (into a
// vein, a muscle or under the skin: the form does not say), "mucosal",
// "inhalation", "ophthalmic", "otic", "vaginal" and "implant".
var routeWords = []struct{ word, route string }{
	{"Transdermal", "transdermal"}, {"Sublingual", "sublingual"}, {"Buccal", "buccal"}, {"Mucosal", "mucosal"},
	{"Mucous Membrane", "mucosal"}, {"Nasal", "nasal"}, {"Rectal", "rectal"}, {"Enema", "rectal"}, {"Vaginal", "vaginal"}, {"Douche", "vaginal"},
	{"Ophthalmic", "ophthalmic"}, {"Otic", "otic"}, {"Inhal", "inhalation"}, {"Drug Implant", "implant"}, {"Intrauterine", "implant"},
	{"Inject", "injection"}, {"Syringe", "injection"}, {"Cartridge", "injection"},
	{"Intra", "injection"}, {"Irrigation", "topical"}, {"Topical", "topical"}, {"Medicated", "topical"}, {"Paste", "topical"}, {"Toothpaste", "topical"},
	{"Powder Spray", "topical"},
	{"Oral", "oral"}, {"Tablet", "oral"}, {"Chewing Gum", "oral"}, {"Mouthwash", "oral"}, {"Extended Release Suspension", "oral"},
}

var kindWords = []struct {
	word string
	kind kind
}{
	{"Tablet for Oral", tablet}, {"Tablet", tablet}, {"Capsule", capsule}, {"Transdermal System", patch}, {"Medicated Patch", patch},
	{"Film", film}, {"Lozenge", lozenge}, {"Suppository", suppository}, {"Spray", spray},
	{"Inject", injection}, {"Syringe", injection}, {"Cartridge", injection},
	{"Topical", topical}, {"Medicated", topical}, {"Oral Solution", liquid}, {"Suspension", liquid}, {"Solution", liquid},
}

// formOf reads a dose form of RxNorm.
func formOf(name string) form {
	f := form{kind: otherKind, release: immediate}
	for _, r := range routeWords {
		if strings.Contains(name, r.word) {
			f.route = r.route
			break
		}
	}
	for _, k := range kindWords {
		if strings.Contains(name, k.word) {
			f.kind = k.kind
			break
		}
	}
	switch {
	case strings.Contains(name, "Extended Release"):
		f.release = extended
	case strings.Contains(name, "Delayed Release"):
		f.release = delayed
	}
	f.solves = strings.Contains(name, "Disintegrating") || strings.Contains(name, "Chewable") || strings.Contains(name, "Effervescent")
	return f
}

// fits reports whether a form may be the one that somebody typed.
func (typed form) fits(f form) bool {
	return (typed.kind == anyKind || typed.kind == f.kind) &&
		(typed.release == anyRelease || typed.release == f.release || typed.release == immediate && f.release == delayed) &&
		(typed.route == "" || typed.route == f.route || typed.route == "injection" && f.route == "injection") &&
		(!typed.solves || f.solves)
}

// unit is what one counts of a form: the dose unit of package drug.
func (f form) unit(per per) string {
	switch {
	case per == perMillilitre:
		return "mL"
	case f.kind == tablet:
		return "tablet"
	case f.kind == capsule:
		return "capsule"
	case f.kind == patch:
		return "patch"
	case f.kind == film:
		return "film"
	case f.kind == lozenge:
		return "lozenge"
	case f.kind == suppository:
		return "suppository"
	case f.kind == spray || per == perActuation:
		return "spray"
	}
	return ""
}
