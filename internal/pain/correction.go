package pain

import (
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// maxReason is the maximum length of a correction's reason.
const maxReason = 1000

// Correction is the correction of a wrong record. Nothing is overwritten: the
// old record is kept, with another status.
type Correction struct {
	Old      Record // with its new status
	New      Record // replacement, if Replaced is set
	Replaced bool
	Reason   string
}

// NewCorrection corrects a record with a new value, or marks it as entered in
// error. The error is an INVALID_PARAMETER fault that lists everything that is
// wrong, or a CONFLICT if the record is no longer active.
func NewCorrection(old Record, body *strictjson.Object, in Intake) (Correction, error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	c := Correction{Old: old}
	_, given := r.Value("entered_in_error")
	inError, isBool := r.Bool("entered_in_error")
	switch {
	case inError:
		c.readRetraction(&r)
	case isBool:
		r.Fault("entered_in_error", "must be true or omitted.")
	case !given:
		c.readReplacement(&r, &fields, in)
	}
	r.Refuse("data_type", "cannot be changed; mark the record as entered in error and add a new one.")
	r.Done()
	if err := fields.Err(); err != nil {
		return Correction{}, err
	}
	if !old.Status.Active() {
		return Correction{}, fault.New(fault.Conflict, "The record is "+string(old.Status)+" and cannot be corrected again.", "status", string(old.Status))
	}
	if c.Replaced {
		c.New.noteStopOf(&old, in.Now)
		c.New.ID = in.NewID()
	}
	return c, nil
}

func (c *Correction) readRetraction(r *strictjson.Reader) {
	c.Old.Status = EnteredInError
	if reason, ok := r.Required("reason"); ok {
		if problem := LineProblem(reason, maxReason); problem != "" {
			r.Fault("reason", problem)
		}
		c.Reason = reason
	}
	for _, name := range []string{"value", "recorded_at", "notes"} {
		r.Refuse(name, "must be omitted for a record entered in error.")
	}
}

// readReplacement builds the new record. Fields that are absent from the
// correction keep their values.
func (c *Correction) readReplacement(r *strictjson.Reader, fields *fault.Fields, in Intake) {
	c.Replaced = true
	c.New = c.Old
	c.Old.Status = Superseded
	c.New.Status, c.New.Corrects = Amended, c.Old.ID
	c.New.Aliases = in.Aliases.Version()
	c.New.CreatedAt = in.Now.UTC().Truncate(time.Second)
	c.New.RecordedAt = readRecordedAt(r, in, c.Old.RecordedAt)
	c.New.readValue(r, fields, in)
	if present, _ := r.Has("notes"); present {
		c.New.Notes = readText(r, "notes", recordNotesProblem)
	}
	c.Reason = readLine(r, "reason", maxReason)
}
