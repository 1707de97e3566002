package analytics

import "anodyne.example/anodyne/internal/pain"

// Aligned measures follow published measures as far as a clinic's records
// allow: a prescription stands for a fill, and fills elsewhere are not
// visible. [AlignedMeasures] is the only list of them; the tally, the
// response, the page of definitions and the reports are checked against it.

// The aligned measures, in the order of the response.
const (
	highImpact = iota
	highImpactProxy
	highDose
	continued15
	continued31
	manyPrescribers
	manyPharmacies
	manyBoth
	concurrent
	highDosePeriod
	monitored
	alignedCount
)

// crowd is a group of patients examined by several measures. All of them meet,
// or may meet, the same conditions.
type crowd uint8

const (
	asked     crowd = iota // adults, for the impact of pain
	unasked                // those without both answers
	treated                // with two fills and 15 days of opioids
	newlyUsed              // with a new episode of opioids
	longUsed               // with 90 days of opioids
	crowds
)

// Thresholds of the measures.
const (
	adultAge       = 18
	impactDays     = 92 // past three months
	leastFills     = 2
	leastDays      = 15
	highMME        = 90
	cleanDays      = 180
	episodeFirst   = 30
	episodeDays    = 62
	continuedFirst = 15 // out of episodeFirst
	continuedLong  = 31 // out of episodeDays
	manySources    = 4
	overlapDays    = 30
	monitoredDays  = 90
)

// The directions of a measure.
const (
	LowerIsBetter  = "lower_is_better"
	HigherIsBetter = "higher_is_better"
)

// AlignedMeasure declares a measure.
type AlignedMeasure struct {
	ID, Name, Direction string
	// Proxy is set for a measure that replaces another that cannot be computed.
	Proxy                  bool
	Denominator, Numerator string
	of                     crowd
}

const (
	treatedWords = "adults with opioid prescriptions starting on two or more days of the period and 15 or more covered days in it"
	episodeWords = "adults with an opioid prescription starting in the period after 180 days without an opioid; the episode starts on the first such day, and its 62 days have ended"
	longWords    = "adults with 90 or more covered opioid days in the period"
)

var alignedMeasures = [alignedCount]AlignedMeasure{
	highImpact: {ID: "high_impact_chronic_pain", Name: "High-impact chronic pain", Direction: LowerIsBetter, of: asked,
		Denominator: "active adults, or adults with an answer, with answers to both pain_frequency and limits_life_or_work in the 92 days up to as_of; the latest answer to each is used",
		Numerator:   "pain on most days or every day that limits life or work on most days or every day"},
	highImpactProxy: {ID: "high_impact_chronic_pain_proxy", Name: "High-impact chronic pain, by pain scores", Direction: LowerIsBetter, Proxy: true, of: unasked,
		Denominator: "the other adults, with a pain score or an answer that rules it out in the 92 days up to as_of",
		Numerator:   "the latest average (otherwise current) pain score of the 92 days is 7 or more out of 10, and neither answer is less than most days"},
	highDose: {ID: "hdo", Name: "Opioids at high dosage (HDO)", Direction: LowerIsBetter, of: treated, Denominator: treatedWords,
		Numerator: "average of 90 or more MME a day over the days of the period with a dose"},
	continued15: {ID: "cou_15_of_30", Name: "Continued opioid use, 15 of 30 days (COU)", Direction: LowerIsBetter, of: newlyUsed, Denominator: episodeWords,
		Numerator: "15 or more covered days in the first 30 days of the episode"},
	continued31: {ID: "cou_31_of_62", Name: "Continued opioid use, 31 of 62 days (COU)", Direction: LowerIsBetter, of: newlyUsed, Denominator: episodeWords,
		Numerator: "31 or more covered days in the first 62 days of the episode"},
	manyPrescribers: {ID: "uop_prescribers", Name: "Opioids from multiple prescribers (UOP)", Direction: LowerIsBetter, of: treated, Denominator: treatedWords,
		Numerator: "4 or more prescribers of opioids starting in the period"},
	manyPharmacies: {ID: "uop_pharmacies", Name: "Opioids from multiple pharmacies (UOP)", Direction: LowerIsBetter, of: treated, Denominator: treatedWords,
		Numerator: "4 or more pharmacies for opioids starting in the period"},
	manyBoth: {ID: "uop_both", Name: "Opioids from multiple prescribers and pharmacies (UOP)", Direction: LowerIsBetter, of: treated, Denominator: treatedWords,
		Numerator: "4 or more prescribers and 4 or more pharmacies"},
	concurrent: {ID: "cob", Name: "Concurrent opioids and benzodiazepines (COB)", Direction: LowerIsBetter, of: treated, Denominator: treatedWords,
		Numerator: "benzodiazepine prescriptions starting on two or more days of the period, and 30 or more days of it covered by both"},
	highDosePeriod: {ID: "ohd", Name: "Opioids at high dosage over the treatment period (OHD)", Direction: LowerIsBetter, of: treated, Denominator: treatedWords,
		Numerator: "average of 90 or more MME a day over all days from the first to the last covered day of the period"},
	monitored: {ID: "amo", Name: "Annual monitoring of long-term opioids (AMO)", Direction: HigherIsBetter, of: longUsed, Denominator: longWords,
		Numerator: "a drug screen in the period"},
}

// AlignedMeasures lists the measures in order.
func AlignedMeasures() []AlignedMeasure { return alignedMeasures[:] }

// MeasureCaveat is shown with every aligned measure.
const MeasureCaveat = "Aligned with the published measure, not certified. The measure was designed for health plan claims; a clinic sees its own prescriptions, " +
	"not fills elsewhere, so the rate is not comparable with published rates."

// exclusion is why a patient of a crowd is excluded.
type exclusion uint8

const (
	minor exclusion = iota
	exemptFirst
	onlyOUD = exemptFirst + exclusion(pain.Exemptions)
	notOver = onlyOUD + 1

	exclusions  = notOver + 1
	notExcluded = exclusions
)

// exclusionNames are in order of precedence, for patients with several.
var exclusionNames = [exclusions]string{
	minor: "under_18", exemptFirst + exclusion(pain.Cancer): "cancer", exemptFirst + exclusion(pain.SickleCell): "sickle_cell",
	exemptFirst + exclusion(pain.Palliative): "palliative_care", onlyOUD: "oud_treatment", notOver: "episode_not_over",
}

// crowdExclusions are the possible exclusions of each crowd.
var crowdExclusions = [crowds][]exclusion{
	asked:     {minor},
	treated:   {minor, exemptFirst, exemptFirst + 1, exemptFirst + 2, onlyOUD},
	newlyUsed: {minor, exemptFirst, exemptFirst + 1, exemptFirst + 2, onlyOUD, notOver},
	longUsed:  {minor, exemptFirst, exemptFirst + 1, exemptFirst + 2, onlyOUD},
}

// ExclusionWords explains the exclusions.
var ExclusionWords = map[string]string{
	"under_18":         "under 18 at the start of the period",
	"cancer":           "cancer (C00 to C96), current on the last day",
	"sickle_cell":      "sickle cell disease (D57), current on the last day",
	"palliative_care":  "palliative or hospice care (Z51.5), current on the last day",
	"oud_treatment":    "no opioid in the period other than buprenorphine, or methadone for opioid use disorder",
	"episode_not_over": "the 62 days of the episode have not ended",
}
