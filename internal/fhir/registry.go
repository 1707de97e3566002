package fhir

import "anodyne.example/anodyne/internal/pain"

// mappings has, for each data type, the function that maps its records out. It
// adds at least one resource.
var mappings = [pain.LastDataType + 1]func(o *outgoing) error{
	pain.TypePainScores:       writePainScore,
	pain.TypeFunctionalStatus: writeFunctionalStatus,
	pain.TypeSleep:            writeDaily(sleepMeasures),
	pain.TypeMood:             writeMood,
	pain.TypeActivity:         writeDaily(activityMeasures),
	pain.TypeVitals:           writeVitals,
	pain.TypeLabs:             writeLab,
	pain.TypeMedications:      writeMedication,
	pain.TypeAssessments:      writeAssessment,
	pain.TypeProcedures:       writeProcedure,
	pain.TypeAdverseEvents:    writeAdverseEvent,
	pain.TypeNotes:            writeNote,
}

// readers has, for each resource type that we take, the function that reads
// it. It is called for valid resources only, and sets what the draft has or
// adds issues.
var readers map[string]func(in *incoming)

// observationReaders are asked in order which of them takes an Observation.
var observationReaders []observationReader

// observationReader reads the Observations of one data type.
type observationReader struct {
	dataType pain.DataType
	// takes reports whether the Observation is of this data type.
	takes func(in *incoming, o *Observation) bool
	read  func(in *incoming, o *Observation)
}

// The tables of readers are set here, because the functions in them refer to
// the tables.
func init() {
	readers = map[string]func(in *incoming){
		"Patient":               readPatient,
		"Condition":             readCondition,
		"Observation":           readObservation,
		"MedicationRequest":     readMedicationRequest,
		"MedicationStatement":   readMedicationStatement,
		"Procedure":             readProcedure,
		"AdverseEvent":          readAdverseEvent,
		"DocumentReference":     readNote,
		"QuestionnaireResponse": readResponse,
	}
	observationReaders = []observationReader{
		{pain.TypeLabs, isDeclaredLab, readLab},
		{pain.TypePainScores, isPainScore, readPainScore},
		{pain.TypeAssessments, isAssessmentScore, readAssessmentScore},
		{pain.TypeVitals, isVitals, readVitals},
		{pain.TypeSleep, isDaily("sleep", sleepMeasures), readDaily(sleepMeasures)},
		{pain.TypeActivity, isDaily("activity", activityMeasures), readDaily(activityMeasures)},
		{pain.TypeMood, isMood, readMood},
		{pain.TypeFunctionalStatus, isFunctionalStatus, readFunctionalStatus},
		{pain.TypeLabs, isLab, readLab}, // last: it takes any code of its category
	}
}
