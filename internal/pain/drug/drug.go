// Package drug describes the medicines of pain care: their classes, the
// morphine milligram equivalents (MME) of opioids, and the daily totals of a
// set of prescriptions.
//
// The tables are in table.go, each with its source. The package has no I/O and
// knows nothing of records, which package pain reads. MME are for assessing
// risk, never for converting one opioid to another.
package drug

import "slices"

// Class is a class of medicines.
type Class string

// The classes. The class of a combination is the first in this list. Other is
// known to be none of the classes before it; Unclassified is unknown and may
// be any of them.
const (
	Opioid           Class = "opioid"
	Benzodiazepine   Class = "benzodiazepine"
	Gabapentinoid    Class = "gabapentinoid"
	NSAID            Class = "nsaid"
	Antidepressant   Class = "antidepressant"
	MuscleRelaxant   Class = "muscle_relaxant"
	Anticonvulsant   Class = "anticonvulsant"
	Topical          Class = "topical"
	OpioidAntagonist Class = "opioid_antagonist"
	OtherAnalgesic   Class = "other_analgesic"
	Other            Class = "other"
	Unclassified     Class = "unclassified"
)

var classes = []Class{Opioid, Benzodiazepine, Gabapentinoid, NSAID, Antidepressant, MuscleRelaxant,
	Anticonvulsant, Topical, OpioidAntagonist, OtherAnalgesic, Other, Unclassified}

// Classes lists the classes in order.
func Classes() []Class { return slices.Clone(classes) }

// Stated lists the classes that a caller may state: all except Unclassified.
func Stated() []Class {
	return slices.DeleteFunc(Classes(), func(c Class) bool { return c == Unclassified })
}

// Ingredient is an active substance. Unknown fields are empty.
type Ingredient struct {
	Name   string   `json:"name"`
	Also   []string `json:"also,omitempty"` // other names and brands
	RxNorm string   `json:"rxnorm,omitempty"`
	ATC    string   `json:"atc,omitempty"`
	Class  Class    `json:"class"`
	// Factor is the MME of one milligram per day or, for transdermal fentanyl,
	// of one microgram per hour. It is 0 if the table has none.
	Factor float64 `json:"mme_factor,omitempty"`
	// LegacyFactor is the factor of the older table, only used on request.
	LegacyFactor float64 `json:"legacy_mme_factor,omitempty"`
	Source       string  `json:"source"`
}

// Medications lists the known ingredients, opioids first.
func Medications() []Ingredient { return slices.Clone(ingredients) }
