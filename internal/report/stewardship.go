package report

import (
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
)

// Stewardship lists the patients with opioids on a day, and prompts for
// review. A flag is a prompt for review, not a diagnosis. Patients with an
// unclassified medicine may take an opioid, and are listed too.
type Stewardship struct {
	Head
	// Patients is the number of patients examined, with or without an opioid.
	Patients int
	// Rows are the patients who have or may have an opioid in the period, in
	// listing order.
	Rows []StewardshipRow
	// Measures are the aligned measures of opioid use; only these patients can
	// be in one.
	Measures []analytics.Measure
}

// StewardshipRow is a patient who takes, took or may have taken an opioid;
// unclassified medicines leave that open. The day is the last of the period.
// Numbers are not rounded.
type StewardshipRow struct {
	PatientID   string
	Name        string
	DateOfBirth pain.Date
	Age         int      // on the day
	Opioids     []string // distinct names of the current ones
	// Exposed and Current report whether an opioid is taken in the period and
	// on the day. They are nil if only an unclassified medicine may be one.
	Exposed, Current *bool
	Unclassified     []string // distinct names of those in the period
	// MME is the daily dose of the current opioids: 0 without one, nil if none
	// counts. MMEIncomplete is set if it may be too low, because a dose is
	// unknown or another medicine may be an opioid.
	MME *float64
	// MMEAssumed is set if one of them is assumed to be taken because it has
	// neither supply nor end date.
	MMEIncomplete, MMEAssumed bool
	// Peak and Average are definitions 4 and 2 of daily MME over the period. In
	// PeakOverlapped, early refills count on top of the current supply.
	// Incomplete covers all days of the period, and AssumedDays is the number
	// of days that are assumed.
	Peak, PeakOverlapped, Average *float64
	Incomplete                    bool
	AssumedDays                   int
	// OpioidDays are the days of the period with an opioid, and MostOpioidDays
	// those including medicines that may be opioids.
	OpioidDays, MostOpioidDays int
	// Overlap is whether an opioid and a benzodiazepine share days, or nil if
	// unknown. OverlapDays is the number of these days.
	Overlap     *bool
	OverlapDays int
	// NaloxoneGap is as in the patient summary, or nil if unknown.
	NaloxoneGap     *bool
	NaloxoneReasons []string
	LastNaloxone    pain.Date // zero if there is none within 365 days
	// LastUDS and LastPEG are the latest of any age; zero if there is none.
	LastUDS, LastPEG pain.Date
	UnexpectedUDS    bool // the latest has an unexpected result
	// Prescribers and Pharmacies count those of opioids in the period, ignoring
	// unnamed ones. MostPrescribers includes medicines that may be opioids.
	Prescribers, Pharmacies, MostPrescribers int
	// OutOfScope is set if the guideline excludes the patient (cancer, sickle
	// cell disease, palliative care).
	OutOfScope bool
}

// LongTerm is the number of opioid days that make long-term use.
const LongTerm = 90

// ManyPrescribers is the number of prescribers from which a patient is listed.
const ManyPrescribers = 4
