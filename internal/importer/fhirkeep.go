package importer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// candidate is a resource that is to be imported.
type candidate struct {
	*resource
	draft *fhir.Draft
	key   patients.ImportKey // of a Patient
	// identity and content are the marks of other resources, without the
	// patient.
	identity, content patients.ImportHash
}

// keep imports the resources of a chunk in one transaction. Those that are
// wrong are refused; the others are imported.
func (j *fhirJob) keep(ctx context.Context, rows []resource) error {
	list, bodies := make([]candidate, 0, len(rows)), make([][]byte, len(rows))
	for i := range rows {
		bodies[i] = rows[i].body
	}
	drafts, issues := fhirwrite.ReadAll(j.FHIR, bodies)
	for i := range rows {
		c, ok, err := j.read(&rows[i], drafts[i], issues[i])
		if err != nil {
			return err
		}
		if ok {
			list = append(list, c)
		}
	}
	for try := 1; len(list) > 0; try++ {
		rest, again, err := j.attempt(ctx, list)
		if err != nil || !again {
			return err
		}
		if list = rest; try == 100 { // each try refuses one, or something changed meanwhile
			return fault.Away("Other requests are changing the same patients; run the import again.", nil)
		}
	}
	return nil
}

// read takes a resource that was read, and refuses or counts it if it cannot be
// imported.
func (j *fhirJob) read(r *resource, draft *fhir.Draft, issues []fhir.Issue) (c candidate, ok bool, err error) {
	c.resource, c.draft = r, draft
	if r.problem != "" {
		return c, false, j.refuse(r, fhir.Issue{Text: r.problem})
	}
	switch {
	case c.draft == nil && ofNoConcern(issues):
		j.count(r).LeftOut++
		return c, false, nil
	case c.draft == nil:
		return c, false, j.refuse(r, issues...)
	case c.draft.Status == pain.EnteredInError:
		j.count(r).LeftOut++
		return c, false, nil
	}
	j.identify(&c)
	return c, true, nil
}

// ofNoConcern reports whether a resource was not read because the service has no
// data type for it. Anything else that is not supported, such as a value with a
// comparator, is an error.
func ofNoConcern(issues []fhir.Issue) bool {
	if len(issues) != 1 || issues[0].Code != fhir.NotSupported {
		return false
	}
	switch at := issues[0].Expression; at {
	case "Observation.code", "QuestionnaireResponse.questionnaire":
		return true
	default:
		return !strings.Contains(at, ".") // the type
	}
}

// identify computes by what a resource is recognised when it is imported again:
// its identifiers, or its type and id, and what it says.
func (j *fhirJob) identify(c *candidate) {
	name := c.draft.ID
	if name == "" {
		name = c.fullURL
	}
	identifiers := slices.Clone(c.draft.Identifiers)
	slices.SortFunc(identifiers, pain.Identifier.Compare)
	by := []byte(pain.NewIdentifiers(identifiers...).JSON())
	said := slices.Concat(c.draft.Patient, c.draft.History, c.draft.Record)
	kind := []byte("fhir " + c.draft.Type)
	if c.draft.Patient != nil {
		c.key.Content = patients.HashOf(said)
		c.key.Key = patients.HashOf(kind, by)
		if len(identifiers) == 0 {
			c.key.Key = patients.HashOf(kind, []byte(c.scope(name)))
		}
		return
	}
	if name == "" && len(identifiers) == 0 { // equal ones are counted
		c.content = patients.HashOf(kind, said, []byte(c.draft.Subject.Reference))
		j.unnamed[c.content]++
		name = fmt.Sprintf("%x %d", c.content, j.unnamed[c.content])
	}
	c.identity = patients.HashOf(kind, []byte(name), by)
	if name != "" {
		c.identity = patients.HashOf(kind, []byte(name))
	}
	if len(identifiers) > 0 {
		c.content = patients.HashOf(kind, by, []byte(c.draft.Part), said)
	} else {
		c.content = patients.HashOf(kind, []byte(name), said)
	}
}

// attempt plans and stores the resources. again reports that rest is to be tried
// again.
func (j *fhirJob) attempt(ctx context.Context, list []candidate) (rest []candidate, again bool, err error) {
	if list, err = j.people(ctx, list); err != nil || len(list) == 0 {
		return nil, false, err
	}
	rows, items := make([]resource, len(list)), make([]fhirwrite.Item, len(list))
	for i, c := range list {
		rows[i] = *c.resource
		items[i] = fhirwrite.Item{Body: c.body, Draft: c.draft, FullURL: c.fullURL}
		if c.fullURL == "" && c.draft.ID != "" {
			items[i].FullURL = c.draft.Type + "/" + c.draft.ID
		}
	}
	w := j.writer(rows)
	var already, changed []int
	w.Skip = func(ctx context.Context, p *fhirwrite.Plan) (_ []int, err error) {
		already, changed, err = j.marked(ctx, list, p)
		return slices.Concat(already, changed), err
	}
	plan, err := w.Plan(ctx, items)
	if err != nil {
		return nil, false, err
	}
	failed := map[int]bool{}
	for _, p := range plan.Problems {
		failed[p.Item] = true
	}
	writes := plan.Writes
	for i, c := range list {
		if failed[i] || slices.Contains(already, i) || slices.Contains(changed, i) {
			continue
		}
		marks := &patients.ImportMarks{Patient: plan.Patient(i)}
		if c.draft.Patient != nil {
			marks.Keys = []patients.ImportKey{c.key}
		} else {
			marks.Lines = dedup(c.identity.Beside(marks.Patient), c.content.Beside(marks.Patient))
		}
		writes = append(writes, marks)
	}
	if !j.DryRun && len(writes) > 0 {
		if err := j.store(ctx, writes, w.Now); err != nil {
			if patients.Outdated(err) {
				return list, true, nil
			}
			problem, ok := plan.Rejected(err)
			if !ok || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Internal) && problem.Issues == nil {
				return nil, false, err
			}
			if err := j.reject(&list[problem.Item], &problem); err != nil {
				return nil, false, err
			}
			return slices.Delete(list, problem.Item, problem.Item+1), true, nil
		}
	}
	return nil, false, j.settle(list, plan, already, changed)
}

func dedup(a, b patients.ImportHash) []patients.ImportHash {
	if bytes.Equal(a[:], b[:]) {
		return []patients.ImportHash{a}
	}
	return []patients.ImportHash{a, b}
}

// store performs the writes, and waits for a database that is unavailable.
func (j *fhirJob) store(ctx context.Context, writes []patients.Write, now time.Time) (err error) {
	for try := 1; ; try++ {
		_, err = j.Org.WriteAll(ctx, writes, now, nil, func() (idempotency.Outcome, error) { return idempotency.Outcome{}, nil })
		if !fault.Is(err, fault.Unavailable) || try == tries {
			return err
		}
		select { // a server may be blocking the database, or starting
		case <-time.After(time.Duration(try) * time.Second):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// reject records the problem of a resource.
func (j *fhirJob) reject(c *candidate, p *fhirwrite.Problem) error {
	if p.Err == nil {
		return j.refuse(c.resource, p.Issues...)
	}
	text := "The resource cannot be stored."
	if faults, ok := faultsOf(p.Err); ok {
		text = faults[0].Message
	} else if f, ok := asFault(p.Err); ok {
		text = f.Message
	}
	return j.refuse(c.resource, fhir.Issue{Expression: c.draft.Type, Text: text})
}

// settle counts the results of the resources.
func (j *fhirJob) settle(list []candidate, plan *fhirwrite.Plan, already, changed []int) error {
	problems := map[int]*fhirwrite.Problem{}
	for i := range plan.Problems {
		problems[plan.Problems[i].Item] = &plan.Problems[i]
	}
	for i := range list {
		c := &list[i]
		switch {
		case problems[i] != nil:
			if err := j.reject(c, problems[i]); err != nil {
				return err
			}
		case slices.Contains(already, i):
			j.count(c.resource).Already++
		case slices.Contains(changed, i):
			if err := j.refuse(c.resource, fhir.Issue{Expression: c.draft.Type, Text: "This resource was already imported with different values; an import does not change records."}); err != nil {
				return err
			}
		default:
			j.count(c.resource).Imported++
			if c.draft.Patient != nil {
				j.imported(c, plan.Patient(i))
			}
		}
	}
	return nil
}

// imported notes a patient for the resources that refer to it.
func (j *fhirJob) imported(c *candidate, patientID id.Patient) {
	j.know(c.resource, c.draft.ID, patientID)
	if j.DryRun {
		if p, err := j.patient(c); err == nil {
			j.expected[patientID] = p.DateOfBirth
		}
		j.keys[c.key.Key] = patients.ImportedPerson{Patient: patientID, Content: c.key.Content}
	}
}

// patient returns the patient of a Patient.
func (j *fhirJob) patient(c *candidate) (pain.Patient, error) {
	object, err := strictjson.Parse(c.draft.Patient)
	if err != nil {
		return pain.Patient{}, err
	}
	return pain.NewPatient(object, id.Patient{}, j.Now())
}

// marked returns which resources were imported before, and which of them with
// other values.
func (j *fhirJob) marked(ctx context.Context, list []candidate, p *fhirwrite.Plan) (already, changed []int, err error) {
	var hashes []patients.ImportHash
	for i, c := range list {
		if c.draft.Patient == nil && !p.Failed(i) {
			hashes = append(hashes, c.content.Beside(p.Patient(i)), c.identity.Beside(p.Patient(i)))
		}
	}
	marks, _, err := j.Org.ImportState(ctx, hashes, nil)
	seen := map[patients.ImportHash]bool{}
	for i, c := range list {
		if c.draft.Patient != nil || p.Failed(i) {
			continue
		}
		content := c.content.Beside(p.Patient(i))
		identity := c.identity.Beside(p.Patient(i))
		switch {
		case marks[content] || seen[content]:
			already = append(already, i)
		case marks[identity] || seen[identity]:
			changed = append(changed, i)
		}
		seen[content], seen[identity] = true, true
	}
	return already, changed, err
}
