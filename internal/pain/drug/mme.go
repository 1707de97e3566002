package drug

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Prescription is what is known of one, as far as its daily dose goes. Zero
// and "" mean not known.
type Prescription struct {
	Medicine     Found
	Strength     float64 // of the opioid component, in one unit
	StrengthUnit string
	Dose         float64
	DoseUnit     string
	Route        string // "" counts as oral, or transdermal in micrograms an hour
	PerDay       float64
	PRN          bool
	MaxPerDay    float64
	Quantity     float64
	DaysSupply   float64
	Indication   string
}

// Rule names how a daily dose was worked out.
type Rule string

// The rules, in the order in which they are tried.
const (
	BySupply      Rule = "supply"       // strength x quantity / days of supply
	ByDose        Rule = "dose"         // dose x doses a day
	ByPRNMaximum  Rule = "prn_max"      // dose x most doses a day
	ByPatchSupply Rule = "patch_supply" // micrograms an hour x patches x days worn / days of supply
	ByPatchWorn   Rule = "patch_worn"   // micrograms an hour x patches worn
)

// Reason says why a prescription has no MME. [Reasons] lists them.
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
	// NotUnderstood is that of a medicine that may be an opioid, or not.
	NotUnderstood Reason = "unclassified_medicine"
)

// Reasons lists the reasons.
func Reasons() []Reason {
	return []Reason{ExcludedBuprenorphine, ExcludedMethadone, NoFactor, UnknownOpioid, SeveralOpioids, RouteNotCovered, UnitNotConvertible, MissingDose, NotUnderstood}
}

// Incomplete reports whether a total without the prescription is too low.
// Medicines that must not be counted do not make it so.
func (r Reason) Incomplete() bool {
	return r != "" && r != ExcludedBuprenorphine && r != ExcludedMethadone
}

// MME is the morphine milligram equivalents a day of one prescription, or the
// reason why there are none. They are never zero.
type MME struct {
	PerDay float64
	Factor float64
	Table  string
	Rule   Rule
	Reason Reason // "" when there is a number
	// PatchesDisagree says that the number of patches is not that of the time
	// each is worn; the larger dose counts.
	PatchesDisagree bool
}

// Table chooses the factors to use.
type Table uint8

// The tables.
const (
	Current    Table = iota // the 2022 factors only
	WithLegacy              // and the older ones for opioids that have no other
)

// wearDays is how long a fentanyl patch is worn unless the frequency says.
const wearDays = 3

// MME works out the daily dose of an opioid.
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

// milligrams is the amount of the opioid a day.
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

// patch is the micrograms an hour that fentanyl patches give off. The factor
// already stands for a whole day.
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
		supplied := p.Quantity / p.DaysSupply * days // worn at a time, by their number
		// Ten patches for 28 days are no contradiction.
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
	// nearly is the ratio up to which two accounts of the patches agree, and
	// farOff that from which on two accounts of a dose do not.
	nearly, farOff = 1.1, 1.5
	// tolerance is what comparisons allow for binary fractions.
	tolerance = 1e-9
)

// SupplyDisagrees reports whether quantity and days of supply make a dose that
// is far from dose and frequency. As needed, less may be taken than at most.
func (p *Prescription) SupplyDisagrees() bool {
	if p.Quantity <= 0 || p.DaysSupply <= 0 || p.Dose <= 0 {
		return false
	}
	perDay := p.PerDay
	if p.PRN {
		perDay = p.MaxPerDay
	}
	units := p.Dose * perDay // a day
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

// isOpioidUseDisorder recognises the diagnosis by its code, its abbreviations
// and its words, unless its part of the text denies it or speaks of the past.
// The maintenance of analgesia is none.
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

// tidy removes the noise of binary fractions, so that 3 x 5 x 4.7 is 70.5: it
// keeps twelve digits, whatever the size.
func tidy(x float64) float64 {
	if sixteenths := 16 * x; sixteenths == math.Trunc(sixteenths) && math.Abs(x) < 1e8 {
		return x // it has 12 digits at most, and nothing behind them
	}
	tidied, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64) // reads what it wrote
	return tidied
}
