package drug

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Prescription holds the facts that determine a daily dose. Zero and "" mean
// unknown.
type Prescription struct {
	Medicine     Found
	Strength     float64 // of the opioid, per unit
	StrengthUnit string
	Dose         float64
	DoseUnit     string
	Route        string // "" means oral, or transdermal for micrograms per hour
	PerDay       float64
	PRN          bool
	MaxPerDay    float64
	Quantity     float64
	DaysSupply   float64
	Indication   string
}

// Rule is the rule by which a daily dose was calculated.
type Rule string

// The rules, in the order in which they are tried.
const (
	BySupply      Rule = "supply"       // strength x quantity / days of supply
	ByDose        Rule = "dose"         // dose x doses per day
	ByPRNMaximum  Rule = "prn_max"      // dose x maximum doses per day
	ByPatchSupply Rule = "patch_supply" // micrograms per hour x patches x days worn / days of supply
	ByPatchWorn   Rule = "patch_worn"   // micrograms per hour x patches worn
)

// Reason is why a prescription has no MME. [Reasons] lists them.
type Reason string

// The reasons.
const (
	ExcludedBuprenorphine Reason = "buprenorphine_excluded"
	ExcludedMethadone     Reason = "methadone_for_oud_excluded"
	NoFactor              Reason = "no_conversion_factor"
	UnknownOpioid         Reason = "unknown_opioid"
	SeveralOpioids        Reason = "several_opioids"
	RouteNotCovered       Reason = "route_not_covered"
	UnitNotConvertible    Reason = "unit_not_convertible"
	MissingDose           Reason = "missing_dose_or_supply"
	// NotUnderstood is for a medicine that may or may not be an opioid.
	NotUnderstood Reason = "unclassified_medicine"
)

// Reasons lists the reasons.
func Reasons() []Reason {
	return []Reason{ExcludedBuprenorphine, ExcludedMethadone, NoFactor, UnknownOpioid, SeveralOpioids, RouteNotCovered, UnitNotConvertible, MissingDose, NotUnderstood}
}

// Incomplete reports whether a total without the prescription is too low. This
// is not so for medicines that must not be counted.
func (r Reason) Incomplete() bool {
	return r != "" && r != ExcludedBuprenorphine && r != ExcludedMethadone
}

// MME is the daily morphine milligram equivalents of one prescription, which
// are never zero, or the reason why there are none.
type MME struct {
	PerDay float64
	Factor float64
	Table  string
	Rule   Rule
	Reason Reason // "" if there is a number
	// PatchesDisagree is set if the number of patches contradicts the wear
	// time. The larger dose counts then.
	PatchesDisagree bool
}

// Table selects the conversion factors.
type Table uint8

// The tables.
const (
	Current    Table = iota // the 2022 factors only
	WithLegacy              // also the older ones for opioids without a current one
)

// wearDays is how long a fentanyl patch is worn unless the frequency says
// otherwise.
const wearDays = 3

// MME returns the daily MME of an opioid.
func (p *Prescription) MME(table Table) MME {
	opioids := p.Medicine.opioids()
	switch len(opioids) {
	case 0:
		return MME{Reason: UnknownOpioid}
	case 1:
	default:
		return MME{Reason: SeveralOpioids}
	}
	opioid := opioids[0]
	m := MME{Factor: opioid.Factor, Table: MMETable}
	if m.Factor == 0 && table == WithLegacy {
		m = MME{Factor: opioid.LegacyFactor, Table: LegacyMMETable}
	}
	var amount float64
	switch {
	case opioid.Name == buprenorphine:
		return MME{Reason: ExcludedBuprenorphine}
	case (opioid.Name == methadone || opioid.Name == levomethadone) && isOpioidUseDisorder(p.Indication):
		return MME{Reason: ExcludedMethadone}
	case m.Factor == 0:
		return MME{Reason: NoFactor}
	case opioid.Name == fentanyl:
		amount, m.Rule, m.Reason, m.PatchesDisagree = p.patch()
	case p.Route != "" && p.Route != "oral":
		return MME{Reason: RouteNotCovered}
	default:
		amount, m.Rule, m.Reason = p.milligrams()
	}
	if m.Reason != "" {
		return MME{Reason: m.Reason}
	}
	m.PerDay = tidy(amount * m.Factor)
	return m
}

// milligrams returns the daily amount of the opioid.
func (p *Prescription) milligrams() (float64, Rule, Reason) {
	strength := strengthUnitOf(p.StrengthUnit)
	hasMass := p.Strength > 0 && (strength.per == perUnit || strength.per == perMillilitre)
	if hasMass && p.Quantity > 0 && p.DaysSupply > 0 {
		return p.Strength * strength.size * p.Quantity / p.DaysSupply, BySupply, ""
	}
	perDay, rule := p.PerDay, ByDose
	if p.PRN {
		perDay, rule = p.MaxPerDay, ByPRNMaximum
	}
	if perDay <= 0 || p.Dose <= 0 {
		if p.Strength > 0 && !hasMass {
			return 0, "", UnitNotConvertible
		}
		return 0, "", MissingDose
	}
	mass := strengthUnitOf(p.DoseUnit)
	switch {
	case mass.per == perUnit:
		return p.Dose * mass.size * perDay, rule, ""
	case hasMass && (slices.Contains(countUnits, p.DoseUnit) && strength.per == perUnit ||
		slices.Contains(volumeUnits, p.DoseUnit) && strength.per == perMillilitre):
		return p.Dose * p.Strength * strength.size * perDay, rule, ""
	case p.Strength <= 0 && (slices.Contains(countUnits, p.DoseUnit) || slices.Contains(volumeUnits, p.DoseUnit)):
		return 0, "", MissingDose
	}
	return 0, "", UnitNotConvertible
}

// patch returns the micrograms per hour released by fentanyl patches. The
// factor already covers a whole day.
func (p *Prescription) patch() (_ float64, _ Rule, _ Reason, disagree bool) {
	strength, dose := strengthUnitOf(p.StrengthUnit), strengthUnitOf(p.DoseUnit)
	hourly := p.Strength > 0 && strength.per == perHour
	hourlyDose := p.Dose > 0 && dose.per == perHour
	if p.Route != "transdermal" && (p.Route != "" || !hourly && !hourlyDose) {
		return 0, "", RouteNotCovered, false
	}
	switch {
	case hourly && p.Quantity > 0 && p.DaysSupply > 0:
		patches := float64(1)
		if p.DoseUnit == "patch" && p.Dose > 0 {
			patches = p.Dose
		}
		days := float64(wearDays)
		if p.PerDay > 0 {
			days = 1 / p.PerDay
		}
		supplied := p.Quantity / p.DaysSupply * days // worn at a time, according to their number
		// Ten patches for 28 days are not a contradiction.
		disagree = supplied > patches*nearly || supplied < patches/nearly
		if supplied < patches-tolerance {
			return p.Strength * strength.size * patches, ByPatchWorn, "", disagree
		}
		return p.Strength * strength.size * supplied, ByPatchSupply, "", disagree
	case hourlyDose:
		return p.Dose * dose.size, ByPatchWorn, "", false
	case hourly && p.DoseUnit == "patch":
		return p.Strength * strength.size * p.Dose, ByPatchWorn, "", false
	case hourly && p.Dose == 0:
		return p.Strength * strength.size, ByPatchWorn, "", false
	case p.Strength == 0 && (p.Dose == 0 || p.DoseUnit == "patch"):
		return 0, "", MissingDose, false
	}
	return 0, "", UnitNotConvertible, false
}

const (
	// nearly is the largest ratio at which two figures for the number of
	// patches agree, and farOff the smallest ratio at which two figures for a
	// dose disagree.
	nearly, farOff = 1.1, 1.5
	// tolerance allows for rounding errors in comparisons.
	tolerance = 1e-9
)

// SupplyDisagrees reports whether quantity and days of supply result in a dose
// far from dose and frequency. For use as needed, less than the maximum is not
// a contradiction.
func (p *Prescription) SupplyDisagrees() bool {
	if p.Quantity <= 0 || p.DaysSupply <= 0 || p.Dose <= 0 {
		return false
	}
	perDay := p.PerDay
	if p.PRN {
		perDay = p.MaxPerDay
	}
	units := p.Dose * perDay // per day
	if mass, ok := Milligrams(p.Dose, p.DoseUnit); ok {
		strength, known := Milligrams(p.Strength, p.StrengthUnit)
		if !known {
			return false
		}
		units = mass / strength * perDay
	} else if !slices.Contains(countUnits, p.DoseUnit) && !slices.Contains(volumeUnits, p.DoseUnit) || p.DoseUnit == "patch" {
		return false
	}
	supplied := p.Quantity / p.DaysSupply
	return units > 0 && (supplied > farOff*units+tolerance || !p.PRN && supplied < units/farOff-tolerance)
}

// isOpioidUseDisorder recognises the diagnosis by its code, abbreviations and
// words, unless the text negates it or refers to the past. Maintenance of
// analgesia does not count.
func isOpioidUseDisorder(indication string) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(indication), func(r rune) bool { return strings.ContainsRune(",;()", r) }) {
		if namesOpioidUseDisorder(part) {
			return true
		}
	}
	return false
}

func namesOpioidUseDisorder(text string) bool {
	var substance, disorder, maintenance, pain bool
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch word {
		case "no", "not", "without", "denies", "denied", "never", "non", "history", "hx", "past", "former", "previous", "risk":
			return false
		case "oud", "moud", "mat", "otp":
			return true
		case "maintenance":
			maintenance = true
		case "pain", "analgesia", "analgesic":
			pain = true
		case "opioid", "opioids", "opiate", "opiates", "heroin":
			substance = true
		case "disorder", "dependence", "dependency", "addiction", "abuse":
			disorder = true
		}
		if strings.HasPrefix(word, "f11") {
			return true
		}
	}
	return substance && disorder || maintenance && !pain
}

// tidy removes binary rounding noise, so that 3 x 5 x 4.7 is 70.5. It keeps
// twelve significant digits.
func tidy(x float64) float64 {
	if sixteenths := 16 * x; sixteenths == math.Trunc(sixteenths) && math.Abs(x) < 1e8 {
		return x // at most 12 digits and no fraction
	}
	tidied, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64) // parses its own output
	return tidied
}
