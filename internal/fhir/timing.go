package fhir

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
)

// longestInterval limits the days between two doses that are written as a
// schedule.
const longestInterval = 31

// schedule sets how often a medicine is taken, from the fewest and the most
// doses per day. It sets nothing for a number that has no simple schedule.
func (r *Repeat) schedule(fewest, most float64) {
	if fewest == most {
		r.Frequency, r.Period, r.PeriodUnit = simpleSchedule(most)
		return
	}
	if whole(fewest) && whole(most) {
		r.Frequency, r.FrequencyMax, r.Period, r.PeriodUnit = int(fewest), int(most), "1", "d"
	} else if short, long := 24/most, 24/fewest; whole(short) && whole(long) {
		r.Frequency, r.Period, r.PeriodMax, r.PeriodUnit = 1, decimalOf(short), decimalOf(long), "h"
	}
}

// simpleSchedule writes a number of doses per day as so many doses in so many
// days or hours.
func simpleSchedule(perDay float64) (frequency int, period json.Number, unit string) {
	switch {
	case perDay <= 0:
		return 0, "", ""
	case whole(perDay):
		return int(perDay), "1", "d"
	case perDay < 1 && whole(1/perDay) && 1/perDay <= longestInterval:
		return 1, decimalOf(math.Round(1 / perDay)), "d"
	case whole(24 / perDay):
		return 1, decimalOf(math.Round(24 / perDay)), "h"
	}
	for days := 2.0; days <= longestInterval; days++ {
		if doses := perDay * days; whole(doses) && doses >= 1 {
			return int(math.Round(doses)), decimalOf(days), "d"
		}
	}
	return 0, "", ""
}

// whole reports whether f is a whole number but for rounding.
func whole(f float64) bool { return math.Abs(f-math.Round(f)) < 1e-9 }

// hoursOf are the units of a period that have a fixed length.
var hoursOf = map[string]float64{"min": 1.0 / 60, "h": 1, "d": 24, "wk": 168}

// perDay returns the doses per day of a schedule, which may be a range. It is
// not ok for one that does not say, or that cannot be converted exactly.
func (r *Repeat) perDay() (fewest, most float64, ok bool) {
	low := float64(r.Frequency)
	if low == 0 {
		low = float64(max(1, len(r.When), len(r.TimeOfDay)))
	}
	high := max(low, float64(r.FrequencyMax))
	unit, period := r.PeriodUnit, floatOf(r.Period)
	if unit == "" && period == 0 && (len(r.When) > 0 || len(r.TimeOfDay) > 0) {
		unit, period = "d", 1
	}
	longest := max(period, floatOf(r.PeriodMax))
	hours := hoursOf[unit]
	if period <= 0 || hours == 0 || len(r.DayOfWeek) > 0 {
		return 0, 0, false
	}
	rate := func(doses, period float64) float64 {
		if hours >= 24 {
			return doses / (period * hours / 24)
		}
		return doses * 24 / (period * hours)
	}
	return rate(low, longest), rate(high, period), true
}

// dosesPerDay returns the doses per day that a record with this schedule and
// frequency states. It is not ok if the frequency says the same, or if the
// schedule is a range or cannot be converted.
func (r *Repeat) dosesPerDay(frequency string) (_ float64, ok bool) {
	low, high, ok := r.perDay()
	if !ok || low != high {
		return 0, false
	}
	if fewest, most, counted := drug.PerDay(frequency); counted && near(fewest, high) && near(most, high) {
		return 0, false
	}
	return high, true
}

// near reports whether two numbers of doses per day are the same for package
// pain.
func near(a, b float64) bool { return math.Abs(a-b) <= 0.01 }

// words writes a schedule with a range as our frequency, or "" if it has no
// form that the service understands.
func (r *Repeat) words() string {
	from, to := string(r.Period), string(r.PeriodMax)
	switch {
	case r.FrequencyMax > r.Frequency && r.Frequency > 0 && r.PeriodMax == "" && floatOf(r.Period) == 1 && r.PeriodUnit == "d":
		return strconv.Itoa(r.Frequency) + "-" + strconv.Itoa(r.FrequencyMax) + " times a day"
	case to != "" && r.Frequency <= 1 && r.FrequencyMax <= 1 && (r.PeriodUnit == "h" || r.PeriodUnit == "d"):
		text := "q" + strings.TrimSuffix(from, ".0") + "-" + strings.TrimSuffix(to, ".0") + r.PeriodUnit
		if _, _, ok := drug.PerDay(text); ok {
			return text
		}
	}
	return ""
}

// timingCodes are the codes of HL7's GTSAbbreviation and what we call them. The
// other codes of it are not frequencies.
var timingCodes = []struct{ code, ours string }{
	{"BID", "BID"}, {"TID", "TID"}, {"QID", "QID"}, {"QD", "QD"}, {"QOD", "QOD"},
	{"Q1H", "Q1H"}, {"Q2H", "Q2H"}, {"Q3H", "Q3H"}, {"Q4H", "Q4H"}, {"Q6H", "Q6H"}, {"Q8H", "Q8H"},
	{"AM", "QAM"}, {"PM", "QPM"}, {"BED", "QHS"}, {"WK", "weekly"},
}

const timingSystem = "http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation"

// frequencyConcept is a frequency, as written and with its code if it has one.
func frequencyConcept(frequency string) *CodeableConcept {
	concept := &CodeableConcept{Text: frequency}
	for _, t := range timingCodes {
		if strings.EqualFold(t.ours, frequency) {
			concept.Coding = []Coding{{System: timingSystem, Code: t.code}}
		}
	}
	return concept
}

// frequencyOf is the frequency of a concept, or "".
func frequencyOf(concept *CodeableConcept) string {
	if concept == nil {
		return ""
	}
	if text := strings.TrimSpace(concept.Text); text != "" {
		return text
	}
	for _, c := range concept.Coding {
		for _, t := range timingCodes {
			if c.System == timingSystem && c.Code == t.code {
				return t.ours
			}
		}
	}
	return ""
}

func decimalOf(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

// floatOf is the number, or 0.
func floatOf(n json.Number) float64 {
	f, _ := n.Float64() // checked by the validator
	return f
}
