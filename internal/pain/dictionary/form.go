package dictionary

import "strings"

// kind is the physical kind of a medicine, such as a tablet or liquid.
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

// release is the release of a medicine.
type release uint8

const (
	anyRelease release = iota
	immediate
	extended
	delayed
)

// form describes a dose form, as implied by RxNorm or as typed.
type form struct {
	kind    kind
	release release
	route   string
	solves  bool // disintegrating, chewable or effervescent
}

// Routes beyond those allowed in a prescription are "injection" (into a vein,
// a muscle or under the skin, which the form does not specify), "mucosal",
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

// formOf parses an RxNorm dose form.
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

// fits reports whether f may be the form that was typed.
func (typed form) fits(f form) bool {
	return (typed.kind == anyKind || typed.kind == f.kind) &&
		(typed.release == anyRelease || typed.release == f.release || typed.release == immediate && f.release == delayed) &&
		(typed.route == "" || typed.route == f.route || typed.route == "injection" && f.route == "injection") &&
		(!typed.solves || f.solves)
}

// countedIn are the units in which doses of a kind are counted, for those that
// have one of their own.
var countedIn = [...]string{
	tablet: "tablet", capsule: "capsule", patch: "patch", film: "film", lozenge: "lozenge", suppository: "suppository", spray: "spray", otherKind: "",
}

// unit returns the unit in which doses of a form are counted, as in package
// drug.
func (f form) unit(per per) string {
	if per == perMillilitre {
		return "mL"
	}
	if unit := countedIn[f.kind]; unit != "" || per != perActuation {
		return unit
	}
	return "spray"
}
