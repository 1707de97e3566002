package patients

import (
	"errors"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/journal"
)

// Write is one write of [Org.WriteAll]: a *[NewPatient], *[ChangedPatient],
// *[NewRecords], *[CorrectedRecord] or *[ImportMarks].
type Write interface {
	// patient returns the patient that the write is about.
	patient() id.Patient
}

// Extra is what a FHIR resource had besides the fields of the patient or record
// that it became. The API in /v1 does not show it.
type Extra struct {
	// Kept are elements without a field, as JSON by resource; "" if there are
	// none.
	Kept string
	// Identifiers are those of a record's resources. Those of a patient are a
	// field.
	Identifiers []RecordIdentifier
}

// RecordIdentifier is an identifier that another system gave to a resource.
type RecordIdentifier struct {
	pain.Identifier
	// Resource is the type of the resource and the part of the record that it
	// is, as in the keys of [Extra.Kept].
	Resource string
}

// NewPatient creates a patient, as [Org.CreatePatient] does. Records of the
// same transaction may refer to it by its identifier.
type NewPatient struct {
	Patient pain.Patient
	Extra   Extra
	Change  journal.Change
	// Sought is an identifier by which the caller looked for the patient, and
	// found none. If a patient has it by now, [Outdated] reports true for the
	// error. The zero Identifier means that it did not look.
	Sought pain.Identifier
}

// ChangedPatient changes a patient, as [Org.UpdatePatient] does.
type ChangedPatient struct {
	ID id.Patient
	// Sought is an identifier by which the caller found the patient. If the
	// patient does not have it any more, [Outdated] reports true for the error.
	Sought pain.Identifier
	// Rule returns the patient with its changes. A nil Change means that no
	// field has changed; what is kept may have. It may be called several times.
	Rule func(old pain.Patient, kept string) (pain.Patient, Extra, *journal.Change, error)
}

// NewRecords adds records of one patient with one journal entry, as
// [Org.AddRecords] does.
type NewRecords struct {
	Patient id.Patient
	Records []pain.Record
	// Extra has one element for each record, or is nil.
	Extra  []Extra
	Change journal.Change
	// Sought is an identifier by which the caller looked for a resource of its
	// type, and found none. If one has it by now, [Outdated] reports true for the
	// error.
	Sought RecordIdentifier
}

// CorrectedRecord corrects a record, as [Org.CorrectRecord] does.
type CorrectedRecord struct {
	Patient id.Patient
	// Record is the latest of its chain of corrections.
	Record id.Record
	// Rule returns the correction, and what the new record has besides its
	// fields: all that is kept, and the identifiers of all its resources. It may
	// be called several times. With [ErrUnchanged], the record stays as it is.
	Rule func(old pain.Record, kept string) (pain.Correction, Extra, journal.Change, error)
}

func (w *NewPatient) patient() id.Patient      { return w.Patient.ID }
func (w *ChangedPatient) patient() id.Patient  { return w.ID }
func (w *NewRecords) patient() id.Patient      { return w.Patient }
func (w *CorrectedRecord) patient() id.Patient { return w.Patient }

// WriteError says which write of [Org.WriteAll] was rejected, and why.
type WriteError struct {
	Index int
	Err   error
}

// Error returns the reason.
func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *WriteError) Unwrap() error { return e.Err }

// ErrUnchanged is returned by the rule of a [CorrectedRecord] that has nothing to
// correct.
var ErrUnchanged = errors.New("the record stays as it is")

// errOutdated reports that something was created, changed or removed since the
// caller looked for it.
var errOutdated = errors.New("what the writes were made from has changed")

// ErrOutdated is returned by a rule that finds something else than what the
// write was made from.
var ErrOutdated = errOutdated

// Outdated reports whether [Org.WriteAll] wrote nothing because what the caller
// read to make the writes, identifiers or aliases, has changed since. The
// caller must make them again.
func Outdated(err error) bool { return errors.Is(err, errOutdated) || AliasesChanged(err) }
