package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

func (a *API) createPatient(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	p, err := pain.NewPatient(object, id.New[id.PatientKind](x.now), x.now)
	if err != nil {
		return answer{}, err
	}
	name := p.ID.String()
	change := journal.Change{Audit: x.line(audit.PatientCreate, name), Event: event.Patient(event.PatientCreated, x.now, p.ID), Subject: p.ID}
	x.buf = pain.AppendDetail(x.buf, &p)
	out, err := x.org.CreatePatient(x.ctx(), &p, change, key, idempotency.Outcome{
		Status: http.StatusCreated, Location: "/v1/patients/" + name, ETag: versionTag(p.Version), Body: x.buf,
	})
	if err != nil {
		return answer{}, err
	}
	done := x.outcome(out)
	if out.Replayed { // the response shows the patient again
		done.line = x.saw(audit.PatientRead, strings.TrimPrefix(out.Location, "/v1/patients/"))
	}
	return done, nil
}

// putPatient creates or replaces the patient with the identifier of the query.
func (a *API) putPatient(x *exchange) (answer, error) {
	q := x.readQuery("identifier")
	one, given := q.identifier(pain.ParseIdentifier)
	if !given {
		q.fields.Add("identifier", nil, "identifier is required, in the form SYSTEM|VALUE.")
	}
	if err := q.err(); err != nil {
		return answer{}, err
	}
	object, raw, err := x.readJSON(bodyLimit, "application/json")
	if err != nil {
		return answer{}, err
	}
	key, err := x.once(slices.Concat(raw, []byte("\n"+one.System+"|"+one.Value)))
	if err != nil {
		return answer{}, err
	}
	created, _, err := pain.PutPatient(nil, one, object, id.New[id.PatientKind](x.now), x.now)
	if err != nil {
		return answer{}, err
	}
	shown := func(status int, p *pain.Patient) idempotency.Outcome {
		x.buf = pain.AppendDetail(x.buf[:0], p)
		return idempotency.Outcome{Status: status, Location: "/v1/patients/" + p.ID.String(), ETag: versionTag(p.Version), Body: x.buf}
	}
	out, err := x.org.PutPatient(x.ctx(), one, x.now, key, func(old *pain.Patient) (patients.Put, error) {
		if old == nil {
			if _, given := x.r.Header["If-Match"]; given {
				return patients.Put{}, fault.New(fault.PreconditionFailed, "If-Match is given, but no patient has this identifier.", "etag", "")
			}
			change := journal.Change{Audit: x.line(audit.PatientCreate, created.ID.String()), Event: event.Patient(event.PatientCreated, x.now, created.ID), Subject: created.ID}
			return patients.Put{Patient: created, Change: &change, Outcome: shown(http.StatusCreated, &created)}, nil
		}
		if err := guard(x.r.Header, versionTag(old.Version)); err != nil {
			return patients.Put{}, err
		}
		p, changes, err := pain.PutPatient(old, one, object, old.ID, x.now)
		if err != nil {
			return patients.Put{}, err
		}
		return patients.Put{Patient: p, Change: x.updated(old.ID, changes), Outcome: shown(http.StatusOK, &p)}, nil
	})
	if err != nil {
		return answer{}, err
	}
	done := x.outcome(out)
	if out.Replayed || out.Status == http.StatusOK { // the response may show more than was sent
		done.line = x.saw(audit.PatientRead, strings.TrimPrefix(out.Location, "/v1/patients/"))
	}
	return done, nil
}

// updated returns the journal entry of changes to a patient, or nil if there
// are none.
func (x *exchange) updated(patient id.Patient, changes []pain.Change) *journal.Change {
	if len(changes) == 0 {
		return nil
	}
	line := x.line(audit.PatientUpdate, patient.String())
	line.Details = historyOf(changes)
	return &journal.Change{Audit: line, Event: event.Patient(event.PatientUpdated, x.now, patient), Subject: patient}
}

func (a *API) getPatient(x *exchange) (answer, error) {
	patientID, err := x.onPatient()
	if err != nil {
		return answer{}, err
	}
	var version int64
	err = x.org.ShowPatient(x.lookupCtx(), patientID, func(p patients.PatientRow) {
		version = p.Version
		x.buf = pain.AppendRow(x.buf, &p)
	})
	if err != nil {
		return answer{}, err
	}
	tag := versionTag(version)
	if notModified(x.r.Header, tag) {
		return answer{status: http.StatusNotModified, etag: tag}, nil
	}
	return answer{status: http.StatusOK, etag: tag, body: x.buf, line: x.saw(audit.PatientRead, x.r.PathValue("id"))}, nil
}

func (a *API) patchPatient(x *exchange) (answer, error) {
	object, err := x.readPatch()
	if err != nil {
		return answer{}, err
	}
	// A body that is invalid for any patient is rejected before the patient is
	// looked up.
	if _, _, err := pain.PatchPatient(pain.Patient{}, object, x.now); err != nil {
		return answer{}, err
	}
	patientID, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	p, err := x.org.UpdatePatient(x.ctx(), patientID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
		if err := guard(x.r.Header, versionTag(old.Version)); err != nil {
			return old, nil, err
		}
		updated, changes, err := pain.PatchPatient(old, object, x.now)
		return updated, x.updated(patientID, changes), err
	})
	if err != nil {
		return answer{}, err
	}
	x.buf = pain.AppendDetail(x.buf, &p)
	out := answer{status: http.StatusOK, etag: versionTag(p.Version), body: x.buf}
	out.line = x.saw(audit.PatientRead, patientID.String())
	return out, nil
}

// historyOf returns the replaced values, for the audit entry of a change.
func historyOf(changes []pain.Change) json.RawMessage {
	kept := make([]audit.Change, len(changes))
	for i, c := range changes {
		kept[i] = audit.Change(c)
	}
	return audit.Changes(kept)
}
