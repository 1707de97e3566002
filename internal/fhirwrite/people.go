package fhirwrite

import (
	"context"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// person is the items about one patient and the medical history.
type person struct {
	id      id.Patient
	patient []*entry // Patients: one, or several updates
	history []*entry // Conditions
}

// people plans the writes of Patients and Conditions, in order of their first
// item.
func (p *planner) people(ctx context.Context) error {
	var order []*person
	byID := map[id.Patient]*person{}
	for _, e := range p.entries {
		if !e.open() || !e.isPatient() && e.draft.History == nil {
			continue
		}
		if !e.isPatient() && e.Update {
			if p.claims(e, claim{id: e.ID}); e.failed {
				continue
			}
		}
		one := byID[e.patient]
		if one == nil {
			one = &person{id: e.patient}
			byID[e.patient], order = one, append(order, one)
		}
		if e.isPatient() {
			one.patient = append(one.patient, e)
		} else if p.validEntry(e) {
			one.history = append(one.history, e)
		}
	}
	for _, one := range order {
		if len(one.patient) > 0 && one.patient[0].result.Status == created {
			p.create(one)
		} else if err := p.change(ctx, one); err != nil {
			return err
		}
	}
	for _, e := range p.entries { // about patients that could not be created
		if !e.open() || e.isPatient() {
			continue
		}
		if _, exists := p.birth(e.patient); !exists {
			p.refuse(e, fhir.Issue{Severity: "error", Code: notFound, Expression: e.draft.Type + ".subject", Text: "The patient that this refers to could not be stored."})
		}
	}
	return nil
}

// validEntry refuses a Condition that is not a valid entry of a medical
// history.
func (p *planner) validEntry(e *entry) bool {
	_, err := patched(pain.Patient{}, `{"medical_history":[`+string(e.draft.History)+`]}`, p)
	if err != nil {
		p.fail(e, stripped(err))
	}
	return err == nil
}

// stripped returns a fault about one entry of the medical history with paths
// that begin within the entry.
func stripped(err error) error {
	fields := fieldsOf(err)
	if fields == nil {
		return err
	}
	var out fault.Fields
	for _, f := range fields {
		if _, rest, ok := within(f.Parameter, "medical_history"); ok {
			f.Parameter = rest
		}
		out.Add(f.Parameter, nil, f.Message)
	}
	return out.Err()
}

// patched applies a merge patch.
func patched(old pain.Patient, body string, p *planner) (pain.Patient, error) {
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		return old, err
	}
	updated, _, err := pain.PatchPatient(old, object, p.Now)
	return updated, err
}

// create plans the write of a new patient. Conditions of the same request are
// part of it.
func (p *planner) create(one *person) {
	e := one.patient[0]
	if len(one.patient) > 1 {
		p.fail(one.patient[1], fault.New(fault.Conflict, "Two items are about the same patient."))
	}
	body := strings.TrimSuffix(string(e.draft.Patient), "}") + `,"medical_history":[` + joinHistory(one.history) + `]}`
	object, err := strictjson.Parse([]byte(body))
	var created pain.Patient
	if err == nil {
		created, err = pain.NewPatient(object, one.id, p.Now)
	}
	sought := pain.Identifier{}
	if err == nil && e.Sought.Value != "" {
		sought = pain.Identifier{System: p.Mapping.IdentifierSystem(e.Sought.System), Value: e.Sought.Value}
		if e.Update {
			err = created.Identify(sought)
		}
	}
	if err != nil {
		p.fail(e, err)
		return
	}
	p.born[one.id] = created.DateOfBirth
	for i, condition := range one.history {
		condition.at = i
	}
	kept := fhir.Kept{}
	if err := p.showPatient(one, &created, kept); err != nil {
		p.fail(e, err)
		return
	}
	line := p.Line(audit.PatientCreate, one.id.String())
	if p.Import {
		line.Details = []byte(`{"import":true}`)
	}
	p.write(&patients.NewPatient{Patient: created, Extra: patients.Extra{Kept: kept.Text()}, Sought: sought,
		Change: journal.Change{Audit: line, Event: event.Patient(event.PatientCreated, p.Now, one.id), Subject: one.id}}, append([]*entry{e}, one.history...)...)
}

// change plans the write of changes to an existing patient.
func (p *planner) change(ctx context.Context, one *person) error {
	var updates []*entry
	for _, e := range one.patient {
		if e.Update {
			updates = append(updates, e)
		}
		// A conditional create of a patient that exists changes nothing.
	}
	if len(updates)+len(one.history) == 0 {
		return p.showFound(ctx, one)
	}
	all := append(append([]*entry{}, updates...), one.history...)
	sought := pain.Identifier{}
	for _, e := range updates {
		if e.Sought.Value != "" {
			if t, ok := p.identified(e.Sought.System, e.Sought.Value); ok {
				sought = t.identifier
			}
		}
	}
	p.write(&patients.ChangedPatient{ID: one.id, Sought: sought, Rule: func(old pain.Patient, stored string) (pain.Patient, patients.Extra, *journal.Change, error) {
		kept, err := storedKept(stored)
		if err != nil {
			return old, patients.Extra{}, nil, err
		}
		updated, changes, err := p.changed(&person{id: one.id, patient: updates, history: one.history}, old, stored)
		if err != nil {
			return old, patients.Extra{}, nil, err
		}
		if kept, err = follow(kept, &old, &updated); err != nil {
			return old, patients.Extra{}, nil, err
		}
		if err := p.showPatient(one, &updated, kept); err != nil {
			return old, patients.Extra{}, nil, err
		}
		if text := kept.Text(); text != stored { // what is kept is part of the resource
			if len(changes) == 0 {
				updated.Version++
				if err := p.showPatient(one, &updated, kept); err != nil {
					return old, patients.Extra{}, nil, err
				}
			}
			changes = append(changes, pain.Change{Field: "fhir", Before: stored, After: text})
		}
		return updated, patients.Extra{Kept: kept.Text()}, p.updated(one.id, changes), nil
	}}, all...)
	return nil
}

// showFound shows a patient that a conditional create found.
func (p *planner) showFound(ctx context.Context, one *person) error {
	found, err := p.Org.FHIRPatient(ctx, one.id)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.PatientMerged) { // since it was found
		p.fail(one.patient[0], err)
		return nil
	}
	if err != nil {
		return err
	}
	resource, err := found.Resource(p.Mapping)
	if err != nil {
		return err
	}
	for _, e := range one.patient {
		e.result.Version, e.result.LastModified = found.Version, found.UpdatedAt
		e.result.generated = resource.JSON
	}
	return nil
}

// showPatient maps a patient to resources as it will be stored, and records the
// kept elements and the results of the items.
func (p *planner) showPatient(one *person, stored *pain.Patient, kept fhir.Kept) error {
	at := p.Now
	if stored.Version == 1 {
		at = stored.CreatedAt
	}
	m := p.Mapping.At(at)
	if len(one.patient) > 0 {
		generated, err := m.Patient(stored)
		if err != nil {
			return err
		}
		for _, e := range one.patient {
			if e.Update || e.result.Status == created {
				p.keep(kept, "Patient/", e.draft, generated.JSON, "identifier")
			}
			e.result.Version, e.result.LastModified = stored.Version, at
			e.result.generated, e.result.kept = generated.JSON, kept["Patient/"]
		}
	}
	if len(one.history) == 0 {
		return nil
	}
	resources, err := m.Conditions(stored)
	if err != nil {
		return err
	}
	for _, e := range one.history {
		if e.at < 0 || e.at >= len(resources) {
			continue
		}
		p.keep(kept, fhir.KeptKey("Condition", resources[e.at].ID), e.draft, resources[e.at].JSON)
		if e.Update { // the id follows from the contents, and stays the same
			_, part, _ := strings.Cut(resources[e.at].ID, "-")
			_, name, _ := strings.Cut(e.ID, "-")
			kept.NameCondition(part, name)
		}
	}
	named := kept.Named(resources)
	for _, e := range one.history {
		e.result = Result{Status: found, Type: "Condition", ID: e.ID, Version: stored.Version, LastModified: at}
		if !e.Update {
			e.result.Status = created
		}
		if e.at < 0 || e.at >= len(resources) {
			continue
		}
		e.result.ID, e.result.generated, e.result.kept = named[e.at].ID, named[e.at].JSON, kept[fhir.KeptKey("Condition", resources[e.at].ID)]
		p.addresses.add(e.FullURL, "Condition/"+e.result.ID)
	}
	return nil
}

// follow assigns the kept elements of Conditions to the entries of the changed
// medical history. Entries of the request replaced one in place, or were added
// at the end.
func follow(kept fhir.Kept, old, updated *pain.Patient) (fhir.Kept, error) {
	if old.MedicalHistory == updated.MedicalHistory {
		return kept, nil
	}
	before, err := old.MedicalHistory.Entries()
	if err != nil {
		return nil, err
	}
	after, err := updated.MedicalHistory.Entries()
	if err != nil {
		return nil, err
	}
	of := make([]int, len(before))
	for i := range of {
		of[i] = i
	}
	return kept.FollowEntries(before, after, of), nil
}
