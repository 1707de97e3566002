package importer

import (
	"context"
	"errors"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

func asFault(err error) (*fault.Error, bool) { return errors.AsType[*fault.Error](err) }

// people returns the resources without those Patients that exist, which it
// counts and notes for the others, or refuses if they have other values.
func (j *fhirJob) people(ctx context.Context, list []candidate) (rest []candidate, err error) {
	var keys []patients.ImportHash
	var identifiers []pain.Identifier
	for i := range list {
		if list[i].draft.Patient != nil {
			keys = append(keys, list[i].key.Key)
			identifiers = append(identifiers, j.identifiersOf(&list[i])...)
		}
	}
	if len(keys) == 0 {
		return list, nil
	}
	_, imported, err := j.Org.ImportState(ctx, nil, keys)
	if err != nil {
		return nil, err
	}
	found, err := j.Org.Directory(ctx, nil, identifiers)
	if err != nil {
		return nil, err
	}
	chunk := map[patients.ImportHash]patients.ImportHash{} // contents by key
	var repeated []candidate
	for i := range list {
		c := &list[i]
		if c.draft.Patient == nil {
			rest = append(rest, *c)
			continue
		}
		was, ok := imported[c.key.Key]
		if !ok {
			was, ok = j.keys[c.key.Key]
		}
		content, twice := chunk[c.key.Key]
		switch owner, owned := owner(found, j.identifiersOf(c)); {
		case ok:
			err = j.present(c, was.Patient, was.Content == c.key.Content)
		case twice && content == c.key.Content:
			repeated = append(repeated, *c)
		case twice:
			err = j.present(c, id.Patient{}, false)
		case owned:
			same := false
			if same, err = j.same(ctx, c, owner); err == nil {
				err = j.present(c, owner, same)
			}
		default:
			chunk[c.key.Key] = c.key.Content
			rest = append(rest, *c)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range repeated {
		j.count(repeated[i].resource).Already++
	}
	return rest, nil
}

// identifiersOf returns the identifiers of a Patient, as the store has them.
func (j *fhirJob) identifiersOf(c *candidate) (list []pain.Identifier) {
	for _, one := range c.draft.Identifiers {
		if one.System != j.FHIR.PatientSystem() {
			list = append(list, pain.Identifier{System: j.FHIR.IdentifierSystem(one.System), Value: one.Value})
		}
	}
	return list
}

func owner(d patients.Directory, identifiers []pain.Identifier) (owner id.Patient, ok bool) {
	for _, one := range identifiers {
		if owner, ok = d.Owners[one]; ok {
			return owner, true
		}
	}
	return owner, false
}

// present counts a Patient that exists, or refuses one with other values.
func (j *fhirJob) present(c *candidate, patientID id.Patient, same bool) error {
	if !same {
		return j.refuse(c.resource, fhir.Issue{Expression: "Patient", Text: "A patient with this identifier or id exists with different values; an import does not change patients."})
	}
	j.count(c.resource).Already++
	j.know(c.resource, c.draft.ID, patientID)
	return nil
}

// same reports whether a stored patient has the values of a Patient. The
// medical history is that of Conditions.
func (j *fhirJob) same(ctx context.Context, c *candidate, owner id.Patient) (bool, error) {
	stored, err := j.Org.Patient(ctx, owner)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.PatientMerged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	wanted, err := j.patient(c)
	if err != nil {
		return false, nil // refused with the reason, were it new
	}
	wanted.MedicalHistory = stored.MedicalHistory
	return stored.Has(&wanted)
}
