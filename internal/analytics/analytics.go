// Package analytics holds the measures of outcomes and of population health,
// and the statistics behind them. It is pure: patients come in one after the
// other, reduced to their series; the answer's JSON form goes out. Who keeps
// the patients, and in what order and on how many cores they are looked at,
// is internal/cohort's business: a [OutcomesTally] and a [PopulationTally]
// count in whole numbers and fixed point, so that tallies merged in any order
// give the same answer to the last bit.
//
// What each figure means is in docs/analytics.md under its definition's name.
// What is not known is null, never zero. Numbers are rounded only at output.
package analytics

import (
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Patient is what the measures look at.
type Patient struct {
	Born   drug.Day
	Gender Gender
	// Codes are the ICD-10 codes of the medical history.
	Codes []string
	// Series has all years, those of one year after those of the year before:
	// scores, assessments and procedures are then sorted by time. It is only
	// read, and not kept.
	Series *series.Series
	// Gist is what [GistOf] says of the series, which then need not have the
	// scores, or nil to have it asked.
	Gist *Gist
	// Exempt is because of what, and since when, the opioid guideline and measures
	// of opioid use leave the patient out.
	Exempt Exempt
}

// Gender is a gender as it is grouped by.
type Gender uint8

// The genders.
const (
	Female Gender = iota
	Male
	OtherGender
	UnknownGender
	genders
)

var genderNames = [genders]string{"female", "male", "other", "unknown"}

func (g Gender) String() string { return genderNames[g] }

// FoldGender is the group of a gender as it was written: case is ignored, m
// and f are understood, nothing is unknown and other words are other.
func FoldGender(written string) Gender {
	switch strings.ToLower(strings.TrimSpace(written)) {
	case "female", "f":
		return Female
	case "male", "m":
		return Male
	case "", "unknown":
		return UnknownGender
	}
	return OtherGender
}

const millisecondsPerDay = 24 * 60 * 60 * 1000

// startOf is the first millisecond of a day.
func startOf(d drug.Day) int64 { return int64(d) * millisecondsPerDay }

// dayOf is the UTC day of a time. Days are counted from far before any, so
// that the division is of positive numbers, which is the faster one.
func dayOf(ms int64) drug.Day {
	const before = 1 << 24
	return drug.Day(uint64(ms+before*millisecondsPerDay)/millisecondsPerDay) - before
}
