package pain

import (
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// Record is a clinical record of a patient. Text fields without a value are
// "".
type Record struct {
	ID          id.Record
	PatientID   id.Patient
	Type        DataType
	RecordedAt  time.Time // clinical time, in UTC, in milliseconds
	Value       Value
	Notes       string
	Source      string
	Author      string
	EncounterID string
	Status      Status
	Corrects    id.Record // zero if it corrects none
	CreatedAt   time.Time // whole seconds

	// Aliases is the version of the aliases used to derive a new medication. It
	// is not stored.
	Aliases int64
	// made is the value of a new record.
	made made
}

// made is a value that need not be decoded: is points to what of contains.
type made struct {
	of Value
	is any
}

// Status is the status of a record.
type Status string

// The statuses. Records with the last two are excluded from lists and
// analytics.
const (
	Final          Status = "final"
	Amended        Status = "amended"
	Superseded     Status = "superseded"
	EnteredInError Status = "entered-in-error"
)

// Statuses lists the statuses.
func Statuses() []Status { return []Status{Final, Amended, Superseded, EnteredInError} }

// Active reports whether the record is in force.
func (s Status) Active() bool { return s == Final || s == Amended }

var recordSources = []string{"patient", "clinician", "device", "import"}

// Intake holds what is needed to validate new records.
type Intake struct {
	PatientID id.Patient
	Birth     Date             // not checked if zero
	NewID     func() id.Record // called once for each valid record
	Now       time.Time
	// Aliases are those of the organisation; nil means none.
	Aliases *Aliases
	// Known, if it is not nil, saves reading equal values again.
	Known KnownValues
}

// NewRecord creates a record from a JSON object. Errors are added to fields;
// the record is only valid if there are none.
func NewRecord(o *strictjson.Object, fields *fault.Fields, in Intake) Record {
	r := strictjson.Read(o, fields)
	return newRecord(&r, fields, in)
}

func newRecord(r *strictjson.Reader, fields *fault.Fields, in Intake) Record {
	record := Record{PatientID: in.PatientID, Status: Final, CreatedAt: in.Now.UTC().Truncate(time.Second), Aliases: in.Aliases.Version()}
	record.Type = readDataType(r)
	record.RecordedAt = readRecordedAt(r, in, truncate(in.Now))
	record.readValue(r, fields, in)
	record.Notes = readText(r, "notes", recordNotesProblem)
	record.Source = readOneOf(r, "source", recordSources)
	record.Author = readLine(r, "author", maxShort)
	record.EncounterID = readLine(r, "encounter_id", maxShort)
	for _, name := range []string{"id", "patient_id", "status", "corrects", "created_at"} {
		r.Refuse(name, "is read-only: the service sets it.")
	}
	r.Done()
	if fields.OK() {
		record.noteStop(in.Now)
		record.ID = in.NewID()
	}
	return record
}

func readDataType(r *strictjson.Reader) DataType {
	name, ok := r.Required("data_type")
	if !ok {
		return 0
	}
	t, ok := dataTypeNamed(name)
	if !ok {
		r.Fault("data_type", WordProblem(name, dataTypeNames))
	}
	return t
}

// readValue reads the value by the rules of the record's type. It is empty for an
// unknown type.
func (r *Record) readValue(from *strictjson.Reader, fields *fault.Fields, in Intake) {
	r.Value, r.made = Value{}, made{}
	value, ok := from.Value("value")
	if !ok {
		from.Fault("value", "is required.")
		return
	}
	if r.Type.valid() {
		var is any
		r.Value, is = kinds[r.Type].value(value, fields, DateOf(r.RecordedAt), in.Aliases, in.Known)
		r.made = made{r.Value, is}
	}
}

func recordNotesProblem(s string) string { return textProblem(s, maxNoteText) }
