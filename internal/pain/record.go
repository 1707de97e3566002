package pain

import (
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// Record is one clinical fact about a patient. Text without a value is "".
type Record struct {
	ID          id.Record
	PatientID   id.Patient
	Type        DataType
	RecordedAt  time.Time // the clinical time, in UTC, to the millisecond
	Value       Value
	Notes       string
	Source      string
	Author      string
	EncounterID string
	Status      Status
	Corrects    id.Record // zero when it corrects none
	CreatedAt   time.Time // whole seconds

	// Aliases is the version of those by which a new medication was understood.
	// It is not kept.
	Aliases int64
}

// Status says whether a record still stands.
type Status string

// The statuses. The last two are out of lists and analytics.
const (
	Final          Status = "final"
	Amended        Status = "amended"
	Superseded     Status = "superseded"
	EnteredInError Status = "entered-in-error"
)

// Statuses lists the statuses.
func Statuses() []Status { return []Status{Final, Amended, Superseded, EnteredInError} }

// Active reports whether the record counts.
func (s Status) Active() bool { return s == Final || s == Amended }

var recordSources = []string{"patient", "clinician", "device", "import"}

// Intake is what must be known to take records in.
type Intake struct {
	PatientID id.Patient
	Birth     Date             // the zero Date is not compared with
	NewID     func() id.Record // called once for each record that is in order
	Now       time.Time
	// Aliases are those of the organisation; nil for none.
	Aliases *Aliases
}

// NewRecord makes a record from one record object. Faults go to fields; the
// record is good only when there are none.
func NewRecord(o *strictjson.Object, fields *fault.Fields, in Intake) Record {
	r := strictjson.Read(o, fields)
	return newRecord(&r, fields, in)
}

func newRecord(r *strictjson.Reader, fields *fault.Fields, in Intake) Record {
	record := Record{PatientID: in.PatientID, Status: Final, CreatedAt: in.Now.UTC().Truncate(time.Second), Aliases: in.Aliases.Version()}
	record.Type = readDataType(r)
	record.RecordedAt = readRecordedAt(r, in, truncate(in.Now))
	record.Value = readValue(r, fields, record.Type, record.RecordedAt, in.Aliases)
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

// readValue reads the value by the rules of its type; of a type that is not
// known nothing can be said.
func readValue(r *strictjson.Reader, fields *fault.Fields, t DataType, at time.Time, aliases *Aliases) Value {
	value, ok := r.Value("value")
	if !ok {
		r.Fault("value", "is required.")
		return Value{}
	}
	if !t.valid() {
		return Value{}
	}
	return kinds[t].value(value, fields, DateOf(at), aliases)
}

func recordNotesProblem(s string) string { return textProblem(s, maxNoteText) }
