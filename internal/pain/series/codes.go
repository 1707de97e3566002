package series

import (
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// words maps words to the numbers by which they are stored: the index in the
// list, starting at 1. Lists only grow at the end. 0 means none.
type words []string

func (w words) code(word string) uint8 {
	if word == "" {
		return 0
	}
	return uint8(slices.Index(w, word) + 1)
}

func (w words) word(code uint8) string {
	if code == 0 || int(code) > len(w) {
		return ""
	}
	return w[code-1]
}

// Numeric codes for words. Their String methods return the words.
type (
	Scale            uint8
	Aspect           uint8
	Site             uint8
	Instrument       uint8
	Status           uint8
	ProcedureType    uint8
	Class            uint8
	Ingredient       uint8
	MedicationStatus uint8
	Reason           uint8
	Side             uint8
	Question         uint8
	Level            uint8
)

// String returns the name of the scale.
func (c Scale) String() string { return scales.word(uint8(c)) }

// String returns the name of the aspect.
func (c Aspect) String() string { return aspects.word(uint8(c)) }

// String returns the name of the body site.
func (c Site) String() string { return sites.word(uint8(c)) }

// String returns the name of the instrument.
func (c Instrument) String() string { return instruments.word(uint8(c)) }

// String returns the name of the status.
func (c Status) String() string { return statuses.word(uint8(c)) }

// String returns the name of the procedure type.
func (c ProcedureType) String() string { return procedureTypes.word(uint8(c)) }

// String returns the name of the medication class.
func (c Class) String() string { return classes.word(uint8(c)) }

// String returns the name of the ingredient.
func (c Ingredient) String() string { return ingredients.word(uint8(c)) }

// String returns the name of the status.
func (c MedicationStatus) String() string { return medicationStatuses.word(uint8(c)) }

// String returns the name of the reason.
func (c Reason) String() string { return reasons.word(uint8(c)) }

// String returns the name of the side.
func (c Side) String() string { return sides.word(uint8(c)) }

// String returns the name of the question.
func (c Question) String() string { return questions.word(uint8(c)) }

// String returns the name of the level.
func (c Level) String() string { return levels.word(uint8(c)) }

// Aspects of a pain score used by measures.
const (
	Current Aspect = 1
	Average Aspect = 2
)

// Questions about the impact of pain, and the answers that count as often.
const (
	Limits    Question = 1
	Frequency Question = 2

	MostDays Level = 3
	EveryDay Level = 4
)

// ClassOf returns the code of a class.
func ClassOf(c drug.Class) Class { return Class(classes.code(string(c))) }

// Unclassified is the class of medicines that were not understood. Each may
// belong to any other class. It has the highest code.
var Unclassified = ClassOf(drug.Unclassified)

// InstrumentOf returns the code of an instrument.
func InstrumentOf(name string) Instrument { return Instrument(instruments.code(name)) }

// perPoint is the number of scores of a scale per point of 0-10.
var perPoint = func() (list [8]float64) {
	for _, s := range pain.Scales() {
		list[scales.code(s.Name)] = s.PerPoint
	}
	return list
}()

// Normalized converts the score to 0-10, if the scale can be converted.
func (s *Score) Normalized() (_ float64, ok bool) {
	if int(s.Scale) >= len(perPoint) || perPoint[s.Scale] == 0 {
		return 0, false
	}
	return float64(s.Value) / perPoint[s.Scale], true
}

// Ended reports whether the medicine was no longer taken on the day of its
// record.
func (m *Medication) Ended() bool {
	switch m.Status.String() {
	case "stopped", "completed", "on-hold":
		return true
	}
	return false
}

// Course returns the days of an opioid with its MME, or with the reason why
// there is none. An unclassified medicine may be an opioid.
func (m *Medication) Course() drug.Course {
	c := drug.Course{Span: m.Span, MME: m.MME, Reason: drug.Reason(m.Reason.String())}
	if m.Class == Unclassified {
		c.Reason = drug.NotUnderstood
	}
	return c
}

var (
	scales      = words{"nrs", "vas", "vrs4", "fps_r"}
	aspects     = words{"current", "average", "worst", "least"}
	statuses    = words{"complete", "prorated", "unscorable"}
	instruments = words{"peg", "phq_9", "phq_2", "gad_7", "rmdq", "pgic", "bpi_severity", "bpi_interference", "promis_pi", "odi", "ndi", "pcs",
		"pain_detect", "dn4", "ort", "ort_oud", "comm"}
	sites = words{"head", "face", "jaw", "neck", "shoulder", "upper arm", "elbow", "forearm", "wrist", "hand", "chest", "upper back", "lower back",
		"abdomen", "pelvis", "buttock", "hip", "groin", "thigh", "knee", "lower leg", "ankle", "foot", "widespread", "other"}
	// 0 if a side does not apply.
	sides          = words{"left", "right", "bilateral", "midline"}
	questions      = words{pain.LimitsLifeOrWork, pain.PainFrequency}
	levels         = words(pain.HowOften())
	procedureTypes = words{"epidural_steroid", "facet_injection", "medial_branch_block", "radiofrequency_ablation", "nerve_block",
		"trigger_point", "joint_injection", "scs_trial", "scs_implant", "intrathecal_pump", "physical_therapy", "cbt", "acupuncture", "other"}
	classes = words{"opioid", "benzodiazepine", "gabapentinoid", "nsaid", "antidepressant", "muscle_relaxant", "anticonvulsant", "topical",
		"opioid_antagonist", "other_analgesic", "other", "unclassified"}
	medicationStatuses = words{"active", "on-hold", "cancelled", "completed", "entered-in-error", "stopped", "draft", "unknown"}
	reasons            = words{"buprenorphine_excluded", "methadone_for_oud_excluded", "no_conversion_factor", "unknown_opioid", "several_opioids",
		"route_not_covered", "unit_not_convertible", "missing_dose_or_supply", "unclassified_medicine"}
	ingredients = words{"codeine", "fentanyl", "hydrocodone", "hydromorphone", "methadone", "morphine", "oxycodone", "oxymorphone", "tapentadol",
		"tramadol", "buprenorphine", "dihydrocodeine", "meperidine", "levorphanol", "pentazocine", "butorphanol", "alprazolam", "lorazepam", "diazepam",
		"clonazepam", "temazepam", "oxazepam", "midazolam", "clobazam", "chlordiazepoxide", "triazolam", "clorazepate", "estazolam", "flurazepam",
		"gabapentin", "pregabalin", "ibuprofen", "naproxen", "diclofenac", "celecoxib", "meloxicam", "ketorolac", "amitriptyline", "nortriptyline",
		"duloxetine", "venlafaxine", "carisoprodol", "cyclobenzaprine", "tizanidine", "baclofen", "carbamazepine", "topiramate", "lidocaine",
		"capsaicin", "naloxone", "acetaminophen"}
)
