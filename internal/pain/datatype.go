package pain

import "anodyne.example/anodyne/internal/fault"

// DataType is the type of a clinical record. The numbers are stored: new types
// are added at the end.
type DataType uint8

// The data types.
const (
	TypePainScores DataType = 1 + iota
	TypeMedications
	TypeAssessments
	TypeProcedures
	TypeFunctionalStatus
	TypeSleep
	TypeMood
	TypeActivity
	TypeAdverseEvents
	TypeVitals
	TypeLabs
	TypeNotes
	endOfDataTypes

	// LastDataType is the highest number. Code with one entry per type compares
	// itself with it at compile time, so that it must be extended for a new
	// type.
	LastDataType = endOfDataTypes - 1
)

// DataTypeInfo describes a data type.
type DataTypeInfo struct {
	Type DataType `json:"-"`
	Name string   `json:"name"`
	// Schema is the name of its schemas in the OpenAPI document, before
	// Record, Value and so on.
	Schema string `json:"-"`
	About  string `json:"about"`
}

// dataTypes declares the data types, in the order of their numbers. To add one:
// a number above, an entry here, its rules in kinds below, then make generate.
var dataTypes = []DataTypeInfo{
	{TypePainScores, "pain_scores", "PainScore", "Pain intensity on the scales nrs, vas, vrs4 and fps_r, with aspect, site, quality and breakthrough pain."},
	{TypeMedications, "medications", "Medication", "A prescribed medicine: dose, supply and days covered; for opioids, the daily MME."},
	{TypeAssessments, "assessments", "Assessment", "A questionnaire: its items or, if it is licensed, its total."},
	{TypeProcedures, "procedures", "Procedure", "An intervention or a course of therapy, with pain before and after."},
	{TypeFunctionalStatus, "functional_status", "FunctionalStatus", "A measure of physical function."},
	{TypeSleep, "sleep", "Sleep", "Hours, quality and interruptions of sleep."},
	{TypeMood, "mood", "Mood", "Mood from 0 to 10, or a reference to an assessment."},
	{TypeActivity, "activity", "Activity", "Steps and active minutes in a day."},
	{TypeAdverseEvents, "adverse_events", "AdverseEvent", "An adverse event with a CTCAE-style grade."},
	{TypeVitals, "vitals", "Vitals", "Vital signs, weight and height."},
	{TypeLabs, "labs", "Lab", "A laboratory result or one analyte of a urine drug screen."},
	{TypeNotes, "notes", "Note", "Free text."},
}

var dataTypeNames = func() []string {
	var names []string
	for _, t := range dataTypes {
		names = append(names, t.Name)
	}
	return names
}()

// kinds has the rules of each data type.
var kinds = [endOfDataTypes]rules{
	TypePainScores: &painScores, TypeMedications: &medications, TypeAssessments: &assessments, TypeProcedures: &procedures,
	TypeFunctionalStatus: &functionalStatuses, TypeSleep: &sleeps, TypeMood: &moods, TypeActivity: &activities,
	TypeAdverseEvents: &adverseEvents, TypeVitals: &vitalSigns, TypeLabs: &labs, TypeNotes: &notes,
}

// DataTypes lists the data types in the order of the contract.
func DataTypes() []DataTypeInfo { return append([]DataTypeInfo(nil), dataTypes...) }

func (t DataType) valid() bool { return t >= TypePainScores && t < endOfDataTypes }

// String returns the name of the type, or "" for an unknown number.
func (t DataType) String() string {
	if !t.valid() {
		return ""
	}
	return dataTypes[t-1].Name
}

// ParseDataType parses the name of a data type. The error is a fault of the
// parameter and suggests the probable name.
func ParseDataType(parameter, name string) (DataType, error) {
	t, ok := dataTypeNamed(name)
	if !ok {
		return 0, fault.Parameter(parameter, name, parameter+" "+WordProblem(name, dataTypeNames))
	}
	return t, nil
}

func dataTypeNamed(name string) (DataType, bool) {
	for i := range dataTypes {
		if dataTypes[i].Name == name {
			return dataTypes[i].Type, true
		}
	}
	return 0, false
}
