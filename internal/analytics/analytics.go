// Package analytics defines the measures of outcomes and of population health,
// and the statistics behind them. It has no I/O: patients are added one by
// one, reduced to their series, and the result is the JSON form of the
// response. internal/cohort holds the patients and decides in which order and
// on how many CPUs they are processed. An [OutcomesTally] and a
// [PopulationTally] count in integers and fixed point, so that tallies merged
// in any order give exactly the same result.
//
// docs/analytics.md explains each figure under the name of its definition.
// Unknown values are null, never zero. Numbers are only rounded on output.
package analytics

import (
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Patient is the data about one patient that the measures use.
type Patient struct {
	Born   drug.Day
	Gender Gender
	// Codes are the ICD-10 codes of the medical history.
	Codes []string
	// Series covers all years in order, so that scores, assessments and
	// procedures are sorted by time. It is neither changed nor kept.
	Series *series.Series
	// Gist is the result of [GistOf] for the series, which then need not
	// include the scores. If it is nil, it is computed.
	Gist *Gist
	// Exempt holds the conditions that exclude the patient from the opioid
	// guideline and from measures of opioid use, and since when.
	Exempt Exempt
}

// PatientOf returns the data of a patient, without the series.
func PatientOf(patient *pain.Patient) Patient {
	p := Patient{Born: patient.DateOfBirth.DayNumber(), Gender: FoldGender(patient.Gender)}
	patient.MedicalHistory.Codes(func(c pain.Coded) {
		if c.Own() {
			p.Codes = append(p.Codes, c.ICD10Code)
		}
		if exemption, ok := c.Exemption(); ok {
			p.Exempt.Add(exemption, c.Begins())
		}
	})
	return p
}

// Gender is a gender used for grouping.
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

// String returns the name of the group.
func (g Gender) String() string { return genderNames[g] }

// FoldGender returns the group of a gender as written. Case is ignored, and m
// and f are recognised; an empty text is unknown and any other word is other.
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

// startOf returns the first millisecond of a day.
func startOf(d drug.Day) int64 { return int64(d) * millisecondsPerDay }

// dayOf returns the UTC day of a time. It shifts times to positive numbers,
// because their division is faster.
func dayOf(ms int64) drug.Day {
	const before = 1 << 24
	return drug.Day(uint64(ms+before*millisecondsPerDay)/millisecondsPerDay) - before
}
