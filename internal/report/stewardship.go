package report

import (
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
)

// Stewardship is who takes opioids on a day, and what asks for review there.
// A flag is a prompt for review, never a verdict. Who takes a medicine that is
// not understood may take an opioid, and is listed too.
type Stewardship struct {
	Head
	// Patients is how many were looked at, with an opioid or without.
	Patients int
	// Rows are the patients who have, or may have, an opioid in the period, in
	// the order in which they are to be listed.
	Rows []StewardshipRow
	// Measures are the aligned measures of opioid use; nobody else can be in one.
	Measures []analytics.Measure
}

// StewardshipRow is one patient who takes, or took, or may have taken an opioid:
// what is not understood makes the difference. The day is the
// last of the period. Numbers are not rounded.
type StewardshipRow struct {
	PatientID   string
	Name        string
	DateOfBirth pain.Date
	Age         int      // on the day
	Opioids     []string // names of the current ones, each once
	// Exposed and Current are whether an opioid is taken in the period, and on
	// the day; nil when only a medicine that is not understood may be one.
	Exposed, Current *bool
	Unclassified     []string // names of those of the period, each once
	// MME is the daily dose of the current opioids: 0 without one, nil when
	// none of them counts. MMEIncomplete says that it may be too low, because
	// the dose of one is not known or another medicine may be one.
	MME *float64
	// MMEAssumed says that one of them is assumed to be taken: it has neither
	// supply nor end.
	MMEIncomplete, MMEAssumed bool
	// Peak and Average are definitions 4 and 2 of MME a day, over the period; of
	// PeakOverlapped early refills count beside the supply at hand. Incomplete is
	// of any of its days, and AssumedDays how many of them rest on an assumption.
	Peak, PeakOverlapped, Average *float64
	Incomplete                    bool
	AssumedDays                   int
	// OpioidDays are those of the period, and MostOpioidDays with medicines
	// that may be an opioid.
	OpioidDays, MostOpioidDays int
	// Overlap is whether an opioid and a benzodiazepine share days; nil when that is not known. OverlapDays are those shared.
	Overlap     *bool
	OverlapDays int
	// NaloxoneGap is as in the patient's summary; nil when not known.
	NaloxoneGap     *bool
	NaloxoneReasons []string
	LastNaloxone    pain.Date // zero without one in 365 days
	// LastUDS and LastPEG are the newest, however old; zero without one.
	LastUDS, LastPEG pain.Date
	UnexpectedUDS    bool // the newest has a result that was not expected
	// Prescribers and Pharmacies of opioids, counted over the period; those that
	// are not named are not counted. MostPrescribers is with those of medicines
	// that may be an opioid.
	Prescribers, Pharmacies, MostPrescribers int
	// OutOfScope: the guideline leaves the patient out (cancer, sickle cell
	// disease, palliative care).
	OutOfScope bool
}

// LongTerm is from how many days of opioids a use is long-term.
const LongTerm = 90

// ManyPrescribers is from how many prescribers on a patient is listed for it.
const ManyPrescribers = 4
