package pain

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
)

// ReadPainScore decodes the value of a pain score. It and the functions below
// return an error if the stored value is not of their type.
func ReadPainScore(v Value) (PainScore, error) { return painScores.decode(v) }

// ReadMedication decodes the value of a medication. Earlier versions stored
// the class "other" for unknown medicines, which is read as unclassified.
func ReadMedication(v Value) (Medication, error) {
	m, err := medications.decode(v)
	if err == nil {
		m.unguess()
	}
	return m, err
}

// unguess makes a medicine unclassified that an earlier version took for one of
// the class "other".
func (v *Medication) unguess() {
	if v.guessed() {
		v.Derived.DrugClass, v.Derived.Basis, v.Derived.Opioid = string(drug.Unclassified), string(drug.ByNone), Flag{}
		v.Derived.MMEPerDay, v.Derived.MMEExcludedReason = none[float64](), string(drug.NotUnderstood)
	}
}

// ReadAssessment decodes the value of an assessment.
func ReadAssessment(v Value) (Assessment, error) { return assessments.decode(v) }

// ReadProcedure decodes the value of a procedure.
func ReadProcedure(v Value) (Procedure, error) { return procedures.decode(v) }

// ReadFunctionalStatus decodes the value of a functional status.
func ReadFunctionalStatus(v Value) (FunctionalStatus, error) { return functionalStatuses.decode(v) }

// ReadSleep decodes the value of a sleep record.
func ReadSleep(v Value) (Sleep, error) { return sleeps.decode(v) }

// ReadMood decodes the value of a mood record.
func ReadMood(v Value) (Mood, error) { return moods.decode(v) }

// ReadActivity decodes the value of an activity record.
func ReadActivity(v Value) (Activity, error) { return activities.decode(v) }

// ReadAdverseEvent decodes the value of an adverse event.
func ReadAdverseEvent(v Value) (AdverseEvent, error) { return adverseEvents.decode(v) }

// ReadVitals decodes the value of vital signs.
func ReadVitals(v Value) (Vitals, error) { return vitalSigns.decode(v) }

// ReadLab decodes the value of a laboratory result.
func ReadLab(v Value) (Lab, error) { return labs.decode(v) }

// ReadNote decodes the value of a note.
func ReadNote(v Value) (Note, error) { return notes.decode(v) }

// PainScore returns the value of a record of a pain score. It and the methods
// below decode it unless the record is new. The caller must not change it.
func (r *Record) PainScore() (*PainScore, error) { return content(r, ReadPainScore) }

// Medication returns the value of a record of a medication.
func (r *Record) Medication() (*Medication, error) { return content(r, ReadMedication) }

// Assessment returns the value of a record of an assessment.
func (r *Record) Assessment() (*Assessment, error) { return content(r, ReadAssessment) }

// Procedure returns the value of a record of a procedure.
func (r *Record) Procedure() (*Procedure, error) { return content(r, ReadProcedure) }

// FunctionalStatus returns the value of a record of a functional status.
func (r *Record) FunctionalStatus() (*FunctionalStatus, error) {
	return content(r, ReadFunctionalStatus)
}

// Lab returns the value of a record of a laboratory result.
func (r *Record) Lab() (*Lab, error) { return content(r, ReadLab) }

// content returns the value that the record was made from, or decodes it.
func content[T any](r *Record, read func(Value) (T, error)) (*T, error) {
	if is, ok := r.made.is.(*T); ok && r.made.of == r.Value {
		return is, nil
	}
	v, err := read(r.Value)
	return &v, err
}

// Instruments lists the questionnaires with their ranges, cut-offs, licences
// and sources.
func Instruments() []instrument.Info { return instrument.All() }

// Medications lists the medicines known to the service, with their classes,
// conversion factors and sources.
func Medications() []drug.Ingredient { return drug.Medications() }
