// Package drug knows the medicines of pain care: which class one belongs to,
// what an opioid counts in morphine milligram equivalents (MME), and what a
// set of prescriptions adds up to, day by day.
//
// The tables are in table.go, each with its source. Everything is pure and
// knows nothing of records: package pain reads those and asks here. MME are
// for judging risk, never for converting one opioid into another.
package drug

import "slices"

// Class is a group of medicines.
type Class string

// The classes. Of a combination the class that stands first here counts. Other
// is known to be none of those before it; of Unclassified nobody knows what it
// is: it may be any of them.
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

// Stated lists the classes that somebody can say a medicine is of: all but
// Unclassified, which is to say nothing.
func Stated() []Class {
	return slices.DeleteFunc(Classes(), func(c Class) bool { return c == Unclassified })
}

// Ingredient is an active substance. What is not known is empty.
type Ingredient struct {
	Name   string   `json:"name"`
	Also   []string `json:"also,omitempty"` // other names and brands by which it is recognised
	RxNorm string   `json:"rxnorm,omitempty"`
	ATC    string   `json:"atc,omitempty"`
	Class  Class    `json:"class"`
	// Factor is the MME of one milligram a day, or for fentanyl of one
	// microgram an hour through the skin. 0: the table has none.
	Factor float64 `json:"mme_factor,omitempty"`
	// LegacyFactor is one of the older table, used only when asked for.
	LegacyFactor float64 `json:"legacy_mme_factor,omitempty"`
	Source       string  `json:"source"`
}

// Medications lists the ingredients that are known, opioids first.
func Medications() []Ingredient { return slices.Clone(ingredients) }
