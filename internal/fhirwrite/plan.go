package fhirwrite

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// Plan is the writes of the items that can be written, and the problems of the
// others.
type Plan struct {
	Writes   []patients.Write
	Problems []Problem
	// origins has the items of each write.
	origins [][]int
	entries []*entry
}

// Result returns the outcome of an item that has no problem. It is valid after
// the writes.
func (p *Plan) Result(item int) Result { return p.entries[item].result }

// Patient returns the patient that an item without a problem is, or is about.
func (p *Plan) Patient(item int) id.Patient { return p.entries[item].patient }

// Failed reports whether an item has a problem.
func (p *Plan) Failed(item int) bool { return p.entries[item].failed }

// Draft returns what an item was read as, or nil if it could not be read.
func (p *Plan) Draft(item int) *fhir.Draft { return p.entries[item].draft }

// Rejected returns the problem of the write that [patients.Org.WriteAll]
// rejected. ok is false if err is not about one write.
func (p *Plan) Rejected(err error) (problem Problem, ok bool) {
	rejected, ok := asWriteError(err)
	if !ok || rejected.Index >= len(p.origins) {
		return problem, false
	}
	e := p.entries[p.origins[rejected.Index][0]]
	if problem.Issues = issuesOf(rejected.Err, e.draft.Path); problem.Issues == nil {
		problem.Err = rejected.Err
	}
	problem.Item = e.index
	return problem, true
}

// entry is an item being planned.
type entry struct {
	Item
	index   int
	draft   *fhir.Draft
	failed  bool
	skipped bool
	patient id.Patient // that it is, or is about
	result  Result
	// record is the first record of the chain, of an item that is part of one.
	record id.Record
	// at is the place of a Condition in the medical history; -1 if it was
	// removed.
	at int
}

// planner makes a plan.
type planner struct {
	*Writer
	Plan
	found     patients.Directory
	addresses addresses
	// born has the date of birth of patients that are created.
	born map[id.Patient]pain.Date
	// claimed has the resources that items write, and the identifiers with which
	// they create some.
	claimed map[claim]bool
}

// claim is a resource by its id, or a new one by its identifier.
type claim struct {
	resourceType, id string
	sought           pain.Identifier
}

// claims refuses an item that writes the same resource as another one, so that
// the order of a transaction does not matter. An import writes files line by
// line, in which a resource may occur again.
func (p *planner) claims(e *entry, of claim) {
	of.resourceType = e.draft.Type
	if p.claimed[of] && !p.Import {
		p.refuse(e, fhir.Issue{Severity: "error", Code: fhir.Invalid, Expression: "http.url", Text: "Another entry writes the same resource."})
	}
	p.claimed[of] = true
}

// Plan reads items and makes the writes for them. The error is one of the store;
// what is wrong with items is in the plan. If [patients.Outdated] reports true
// for the error of the writes, a new plan must be made.
func (w *Writer) Plan(ctx context.Context, items []Item) (*Plan, error) {
	p := &planner{Writer: w, addresses: addresses{}, born: map[id.Patient]pain.Date{}, claimed: map[claim]bool{}}
	p.entries = make([]*entry, len(items))
	issues := make([][]fhir.Issue, len(items))
	parallel(len(items), func(i int) {
		e := &entry{Item: items[i], index: i}
		if e.draft = items[i].Draft; e.draft == nil {
			e.draft, issues[i] = w.Mapping.Read(items[i].Body)
		}
		if e.draft != nil {
			e.identify(w.Mapping)
		}
		p.entries[i] = e
	})
	for i, e := range p.entries {
		if e.draft == nil {
			p.refuse(e, issues[i]...)
		} else if e.draft.Status == pain.EnteredInError && !e.Update {
			p.refuse(e, fhir.Issue{Severity: "error", Code: fhir.BusinessRule, Expression: e.draft.Type + ".status", Text: "A resource that was entered in error cannot be created."})
		}
	}
	for _, step := range []func(context.Context) error{p.lookUp, p.resolve, p.skip, p.people, p.newRecords, p.corrections} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(p.Problems, func(a, b Problem) int { return a.Item - b.Item })
	return &p.Plan, nil
}

// ReadAll reads resources on all CPUs. The issues are those of the resource with
// the same index.
func ReadAll(m fhir.Mapping, bodies [][]byte) (drafts []*fhir.Draft, issues [][]fhir.Issue) {
	drafts, issues = make([]*fhir.Draft, len(bodies)), make([][]fhir.Issue, len(bodies))
	parallel(len(bodies), func(i int) { drafts[i], issues[i] = m.Read(bodies[i]) })
	return drafts, issues
}

// parallel calls fn for 0 to n-1 on all CPUs.
func parallel(n int, fn func(i int)) {
	const least = 16 // for a few, starting goroutines costs more
	workers := min(runtime.GOMAXPROCS(0), n/least)
	if workers < 2 {
		for i := range n {
			fn(i)
		}
		return
	}
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := worker; i < n; i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}

func (p *planner) refuse(e *entry, issues ...fhir.Issue) {
	if !e.failed {
		e.failed = true
		p.Problems = append(p.Problems, Problem{Item: e.index, Issues: issues})
	}
}

func (p *planner) fail(e *entry, err error) {
	if issues := issuesOf(err, e.draft.Path); issues != nil {
		p.refuse(e, issues...)
	} else if !e.failed {
		e.failed = true
		p.Problems = append(p.Problems, Problem{Item: e.index, Err: err})
	}
}

// write adds a write of some items.
func (p *planner) write(w patients.Write, of ...*entry) {
	items := make([]int, len(of))
	for i, e := range of {
		items[i] = e.index
	}
	p.Writes, p.origins = append(p.Writes, w), append(p.origins, items)
}

// isPatient reports whether the item is a Patient.
func (e *entry) isPatient() bool { return e.draft.Patient != nil }

// lookUp finds all patients that the items name, in one round trip.
func (p *planner) lookUp(ctx context.Context) (err error) {
	var ids []id.Patient
	var identifiers []pain.Identifier
	name := func(t target) {
		if t.identifier != (pain.Identifier{}) {
			identifiers = append(identifiers, t.identifier)
		} else {
			ids = append(ids, t.patient)
		}
	}
	for _, e := range p.entries {
		if e.draft != nil {
			p.addresses.add(e.FullURL, "") // until it is known
		}
	}
	for _, e := range p.entries {
		if e.failed {
			continue
		}
		if e.isPatient() && e.Sought.Value != "" {
			if t, ok := p.identified(e.Sought.System, e.Sought.Value); ok {
				name(t)
			}
		}
		if e.isPatient() && e.Update && e.ID != "" {
			if patientID, ok := parsePatient(e.ID); ok {
				ids = append(ids, patientID)
			}
		}
		if e.isPatient() {
			continue
		}
		if t, within, ok := p.subject(e); ok && !within {
			name(t)
		}
	}
	p.found, err = p.Org.Directory(ctx, dedup(ids), dedup(identifiers))
	return err
}

func dedup[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	return slices.DeleteFunc(list, func(one T) bool {
		was := seen[one]
		seen[one] = true
		return was
	})
}

// subject returns what the subject of an item names. within reports that it is
// an address of another item.
func (p *planner) subject(e *entry) (t target, within, ok bool) {
	reference := e.draft.Subject.Reference
	if _, within = p.addresses[reference]; within && reference != "" {
		return t, true, true
	}
	if p.Known != nil && reference != "" {
		if t.patient, ok = p.Known(e.index, reference); ok {
			return t, false, true
		}
	}
	t, ok = p.targetOf(&e.draft.Subject)
	return t, false, ok
}

// patientOf returns the patient of a target, if it exists.
func (p *planner) patientOf(t target) (patientID id.Patient, ok bool) {
	patientID = t.patient
	if t.identifier != (pain.Identifier{}) {
		patientID, ok = p.found.Owners[t.identifier]
		return patientID, ok
	}
	_, ok = p.birth(patientID)
	return patientID, ok
}

// birth returns the date of birth of a patient that exists or will exist.
func (p *planner) birth(patientID id.Patient) (birth pain.Date, ok bool) {
	for _, of := range []map[id.Patient]pain.Date{p.found.Births, p.born, p.Expected} {
		if birth, ok = of[patientID]; ok {
			return birth, true
		}
	}
	return birth, false
}

// skip leaves out the items that need not be written.
func (p *planner) skip(ctx context.Context) error {
	if p.Skip == nil {
		return nil
	}
	items, err := p.Skip(ctx, &p.Plan)
	for _, i := range items {
		p.entries[i].skipped = true
	}
	return err
}

// open reports whether an item is still to be written.
func (e *entry) open() bool { return !e.failed && !e.skipped }

// resolve determines the patient of each item.
func (p *planner) resolve(context.Context) error {
	for _, e := range p.entries {
		if !e.failed && e.isPatient() {
			p.resolvePatient(e)
		}
	}
	for _, e := range p.entries {
		if e.failed || e.isPatient() {
			continue
		}
		t, within, ok := p.subject(e)
		if within {
			reference := p.addresses[e.draft.Subject.Reference]
			var resource string
			if resource, ok = strings.CutPrefix(reference, "Patient/"); ok {
				e.patient, ok = parsePatient(resource)
			}
		} else if ok {
			e.patient, ok = p.patientOf(t)
		}
		if !ok {
			p.refuse(e, fhir.Issue{Severity: "error", Code: notFound, Expression: e.draft.Type + ".subject", Text: "The patient that this refers to does not exist."})
		}
	}
	return nil
}

// notFound is the type of an issue about a reference to nothing, from FHIR's
// IssueType.
const notFound = "not-found"

// resolvePatient determines whether a Patient is created or changed.
func (p *planner) resolvePatient(e *entry) {
	exists := false
	switch {
	case e.Sought.Value != "":
		t, ok := p.identified(e.Sought.System, e.Sought.Value)
		if !ok {
			p.fail(e, fault.Missing("patient", ""))
			return
		}
		e.patient, exists = p.patientOf(t)
	case e.Update:
		if e.patient, exists = parsePatient(e.ID); exists {
			_, exists = p.found.Births[e.patient]
		}
		if !exists {
			p.fail(e, fault.Missing("Patient", e.ID))
			return
		}
	}
	if !exists {
		e.patient = id.New[id.PatientKind](p.Now)
		e.result.Status = created
	} else {
		e.result.Status = found
	}
	e.result.Type, e.result.ID = "Patient", resourceID(e.patient)
	if exists && e.Update {
		p.claims(e, claim{id: e.result.ID})
	} else if !exists && e.Sought.Value != "" {
		p.claims(e, claim{sought: pain.Identifier{System: p.Mapping.IdentifierSystem(e.Sought.System), Value: e.Sought.Value}})
	}
	p.addresses.add(e.FullURL, "Patient/"+e.result.ID)
}
