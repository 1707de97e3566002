package pain

import (
	"fmt"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// ReadMerge reads the body of a merge: the patient that from is merged into.
func ReadMerge(body *strictjson.Object, from string) (into id.Patient, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if text, ok := r.Required("into"); ok {
		if into, err = id.Parse[id.PatientKind](text); err != nil {
			r.Fault("into", "must be a patient's identifier.")
		} else if text == from {
			r.Fault("into", "must be another patient: a patient cannot be merged into itself.")
		}
	}
	r.Done()
	return into, fields.Err()
}

// MergePatients returns the patient that has the data of both: into, with the
// identifiers and the medical history of from added. Entries of the history that
// into has already are left out. All else stays as it is in into. lost lists what
// from had, and gained what changed in into. If there is too much for one patient,
// the error is a CONFLICT fault.
func MergePatients(from, into Patient) (merged Patient, lost, gained []Change, err error) {
	merged = into
	if merged.MedicalHistory, err = into.MedicalHistory.with(from.MedicalHistory); err != nil {
		return Patient{}, nil, nil, err
	}
	if merged.Identifiers, err = into.Identifiers.with(from.Identifiers); err != nil {
		return Patient{}, nil, nil, err
	}
	gained = differences(&into, &merged)
	if len(gained) > 0 {
		merged.Version++
	}
	lost = differences(&from, &Patient{})
	for i := range lost {
		lost[i].After = ""
	}
	return merged, lost, gained, nil
}

// with returns the identifiers with those of another patient added. A pair
// belongs to one patient, so there are no duplicates.
func (ids Identifiers) with(other Identifiers) (Identifiers, error) {
	list, err := ids.List()
	if err != nil {
		return ids, err
	}
	more, err := other.List()
	if err != nil {
		return ids, err
	}
	if n := len(list) + len(more); n > MaxIdentifiers {
		return ids, fault.New(fault.Conflict, fmt.Sprintf("Together the patients have %d identifiers, and a patient can have at most %d. Remove some from one of them first.",
			n, MaxIdentifiers), "field", "identifiers", "entries", n, "limit", MaxIdentifiers)
	}
	return NewIdentifiers(append(list, more...)...), nil
}

// with returns the history with the entries of another one that it does not
// have yet.
func (h History) with(other History) (History, error) {
	entries, err := h.Entries()
	if err != nil {
		return h, err
	}
	more, err := other.Entries()
	if err != nil {
		return h, err
	}
	had, known := len(entries), map[HistoryEntry]bool{}
	for _, e := range entries {
		known[e.folded()] = true
	}
	for _, e := range more {
		if !known[e.folded()] {
			known[e.folded()] = true
			entries = append(entries, e)
		}
	}
	switch {
	case len(entries) == had:
		return h, nil
	case len(entries) > maxHistory:
		return h, fault.New(fault.Conflict, fmt.Sprintf("Together the patients have %d entries in their medical histories, and a patient can have at most %d. Remove entries from one of them first.",
			len(entries), maxHistory), "field", "medical_history", "entries", len(entries), "limit", maxHistory)
	}
	return NewHistory(entries...), nil
}

// folded returns the entry as entries are compared: case and accents of the
// condition do not count.
func (e HistoryEntry) folded() HistoryEntry {
	e.Condition = Fold(e.Condition)
	return e
}
