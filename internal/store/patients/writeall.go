package patients

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// WriteAll performs writes in one transaction, all or none, and returns the
// outcome of show, or that of an earlier request with the same key. Each write
// leaves what it leaves alone: journal entry, event, counts, series and alerts.
// show is called after the rules of the writes; it may be nil.
//
// If a write is rejected, the error is a [WriteError]. If [Outdated] reports
// true for it, the writes must be made again.
//
// On PostgreSQL, locks are taken in one order, so that transactions do not wait
// for each other in a circle: the existing patients by identifier, the aliases,
// the marks of imports, the identifiers of patients, and at the end the counter
// of patients.
func (o Org) WriteAll(ctx context.Context, writes []Write, now time.Time, key *idempotency.Once, show func() (idempotency.Outcome, error)) (idempotency.Outcome, error) {
	plan, err := planOf(writes)
	if err != nil {
		return idempotency.Outcome{}, err
	}
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		w := writing{Org: o, tx: tx, now: now, plan: plan, states: make([]writeState, len(plan))}
		for _, step := range []func() error{w.read, w.change, w.correct, w.mark, w.identify, w.keepKnown, w.keepNew} {
			if err := step(); err != nil {
				return idempotency.Outcome{}, err
			}
		}
		if show == nil {
			return idempotency.Outcome{}, nil
		}
		return show()
	})
}

// Done returns the outcome of an earlier request with the same key, if there was
// one. A caller that rejects writes before [Org.WriteAll] must look for it.
func (o Org) Done(ctx context.Context, key *idempotency.Once) (out idempotency.Outcome, found bool, err error) {
	return o.once.Done(ctx, key)
}

// patientPlan is the writes about one patient.
type patientPlan struct {
	id      id.Patient
	first   int // the first write
	create  *NewPatient
	changes []planned[*ChangedPatient]
	adds    []planned[*NewRecords]
	correct []planned[*CorrectedRecord]
	marks   []planned[*ImportMarks]
	// records are those of all additions; addition and counted are what follows
	// from them.
	records  []pain.Record
	addition addition
	counted  recordCounts
}

// planned is a write and its place among all.
type planned[W Write] struct {
	write W
	index int
}

// errMixed is a mistake of the caller.
var errMixed = errors.New("a patient that is created in a transaction cannot be created, changed or corrected again in it")

// planOf groups the writes by patient, in order of the first write about each.
func planOf(writes []Write) ([]*patientPlan, error) {
	var plan []*patientPlan
	byID := make(map[id.Patient]*patientPlan, len(writes))
	for i, w := range writes {
		p := byID[w.patient()]
		if p == nil {
			p = &patientPlan{id: w.patient(), first: i}
			byID[p.id] = p
			plan = append(plan, p)
		}
		switch w := w.(type) {
		case *NewPatient:
			if p.create != nil {
				return nil, &WriteError{i, errMixed}
			}
			p.create, p.first = w, i
		case *ChangedPatient:
			p.changes = append(p.changes, planned[*ChangedPatient]{w, i})
		case *NewRecords:
			if len(w.Records) == 0 {
				return nil, &WriteError{i, errors.New("there are no records to add")}
			}
			p.adds = append(p.adds, planned[*NewRecords]{w, i})
		case *CorrectedRecord:
			p.correct = append(p.correct, planned[*CorrectedRecord]{w, i})
		case *ImportMarks:
			p.marks = append(p.marks, planned[*ImportMarks]{w, i})
		}
	}
	for _, p := range plan {
		if p.create != nil && len(p.changes)+len(p.correct) > 0 {
			return nil, &WriteError{p.first, errMixed}
		}
		if err := p.prepare(); err != nil {
			return nil, &WriteError{p.first, err}
		}
	}
	return plan, nil
}

// prepare computes what the added records contribute, before the transaction.
func (p *patientPlan) prepare() (err error) {
	if len(p.adds) == 1 {
		p.records = p.adds[0].write.Records
	} else {
		for _, add := range p.adds {
			p.records = append(p.records, add.write.Records...)
		}
	}
	p.counted = countsOf(p.records)
	p.addition, err = additionOf(p.records)
	return err
}

// writing is one run of the transaction.
type writing struct {
	Org
	tx     engine.Tx
	now    time.Time
	plan   []*patientPlan
	states []writeState // of the plan
	claims []claim
	// aliases is their version.
	aliases int64
}

// writeState is what a run knows of a patient.
type writeState struct {
	no           int64
	before       derived
	was, current *storedPatient // before and after the changes; nil without changes
	changed      bool
	notes        []engine.Stmt   // the journal entries of the changes
	olds         []*storedRecord // those to correct
	corrections  []pain.Correction
	counted      recordCounts // the records of the plan, and the corrections
	extras       []Extra      // of the corrections
}

type storedPatient struct {
	pain.Patient
	kept string
}

type storedRecord struct {
	pain.Record
	kept string
}

// read locks the existing patients, and reads what the writes need of them, in
// one round trip.
func (w *writing) read() error {
	var known []int
	medicated := false
	for i, p := range w.plan {
		if p.create == nil {
			known = append(known, i)
		}
		if _, ok := understoodBy(p.records); ok || len(p.correct) > 0 {
			medicated = true
		}
	}
	slices.SortFunc(known, func(a, b int) int { return bytes.Compare(w.plan[a].id.Bytes(), w.plan[b].id.Bytes()) })
	var stmts []engine.Stmt
	for _, i := range known {
		stmts = append(stmts, w.lockedNo(w.plan[i].id, &w.states[i].no))
	}
	if medicated {
		stmts = append(stmts, w.holdAliases(&w.aliases)...)
	}
	for _, i := range known {
		stmts = append(stmts, w.reads(w.plan[i], &w.states[i])...)
	}
	if len(stmts) == 0 {
		return nil
	}
	if err := w.tx.Many(stmts...); err != nil {
		return err
	}
	for _, i := range known {
		if w.states[i].no == 0 {
			return &WriteError{w.plan[i].first, w.absent(w.tx, w.plan[i].id)}
		}
	}
	for _, p := range w.plan {
		if version, ok := understoodBy(p.records); ok && version != w.aliases {
			return &WriteError{p.first, errAliasesChanged}
		}
	}
	return nil
}

// reads returns the statements that read what the writes need of a patient.
func (w *writing) reads(p *patientPlan, s *writeState) (stmts []engine.Stmt) {
	if len(p.records) > 0 && len(p.correct) == 0 { // corrections may need further periods
		stmts = w.selectDerived(byID(p.id), p.counted, &p.addition, &s.before)
	}
	if len(p.changes) > 0 {
		stmts = append(stmts, w.selectStored(p.id, &s.was))
	}
	s.olds = make([]*storedRecord, len(p.correct))
	for i, c := range p.correct {
		stmts = append(stmts, w.selectStoredRecord(p.id, c.write.Record, &s.olds[i]))
	}
	return stmts
}

// change runs the rules that change patients. The second change of a patient
// starts from the result of the first.
func (w *writing) change() error {
	for i, p := range w.plan {
		s := &w.states[i]
		if len(p.changes) == 0 {
			continue
		}
		if s.was == nil {
			return &WriteError{p.first, w.absent(w.tx, p.id)}
		}
		current := *s.was
		for _, c := range p.changes {
			if err := current.has(c.write.Sought); err != nil {
				return &WriteError{c.index, err}
			}
			changed, extra, change, err := c.write.Rule(current.Patient, current.kept)
			if err != nil {
				return &WriteError{c.index, err}
			}
			if change != nil {
				s.changed = true
				s.notes = append(s.notes, w.journal.Entry(w.org, *change)...)
			}
			current = storedPatient{changed, extra.Kept}
		}
		s.current = &current
	}
	return nil
}

// has returns an error if the patient does not have an identifier by which it
// was found.
func (p *storedPatient) has(sought pain.Identifier) error {
	if sought == (pain.Identifier{}) {
		return nil
	}
	list, err := p.Identifiers.List()
	if err == nil && !slices.Contains(list, sought) {
		err = errOutdated
	}
	return err
}

// correct runs the rules that correct records.
func (w *writing) correct() error {
	var reads []engine.Stmt
	for i, p := range w.plan {
		s := &w.states[i]
		if len(p.correct) == 0 {
			continue
		}
		counted := slices.Clone(p.counted)
		seen := map[id.Record]bool{}
		var corrected []*storedRecord
		for n, c := range p.correct {
			old := s.olds[n]
			if old == nil {
				return &WriteError{c.index, w.absentRecord(w.tx, p.id, c.write.Record)}
			}
			if seen[old.ID] {
				return &WriteError{c.index, fault.New(fault.Conflict, "A record can be corrected only once in a transaction.")}
			}
			seen[old.ID] = true
			correction, extra, change, err := c.write.Rule(old.Record, old.kept)
			if errors.Is(err, ErrUnchanged) {
				continue
			}
			if err == nil && correction.Replaced && old.Type == pain.TypeMedications && correction.New.Aliases != w.aliases {
				err = errAliasesChanged
			}
			if err != nil {
				return &WriteError{c.index, err}
			}
			counted.correct(&old.Record, &correction)
			corrected = append(corrected, old)
			s.corrections, s.extras = append(s.corrections, correction), append(s.extras, extra)
			s.notes = append(s.notes, w.journal.Entry(w.org, change)...)
		}
		s.olds = corrected // without those that stay as they are
		switch s.counted = counted.summed(); {
		case len(s.corrections) > 0: // the series are rebuilt
			first, last := s.counted.periods()
			s.before.counts = map[int64][]byte{}
			reads = append(reads, w.selectCounts(byNumber(s.no), first, last, s.before.counts))
		case len(s.counted) > 0:
			reads = append(reads, w.selectDerived(byNumber(s.no), s.counted, &p.addition, &s.before)...)
		}
	}
	if len(reads) == 0 {
		return nil
	}
	return w.tx.Many(reads...)
}

// identify claims all identifiers, in order.
func (w *writing) identify() error {
	if err := w.lookForRecords(); err != nil {
		return err
	}
	var keys []engine.Stmt
	for i, p := range w.plan {
		var claims []claim
		var more []engine.Stmt
		var err error
		switch s := &w.states[i]; {
		case p.create != nil:
			claims, err = claimsOf(p.create.Patient.Identifiers, i)
		case s.current != nil:
			claims, more, err = w.changedClaims(&s.was.Patient, &s.current.Patient, i)
		}
		if err != nil {
			return &WriteError{p.first, err}
		}
		w.claims, keys = append(w.claims, claims...), append(keys, more...)
	}
	slices.SortStableFunc(w.claims, func(a, b claim) int {
		return cmp.Or(a.Compare(b.Identifier), cmp.Compare(asInt(b.drop), asInt(a.drop))) // one patient may give it to another
	})
	if err := w.settle(w.tx, keys, w.claims); err != nil {
		return err
	}
	for i, c := range w.claims {
		if !c.got {
			return &WriteError{w.plan[c.write].first, w.takenBy(i)}
		}
	}
	return nil
}

// takenBy returns the error of a claim that failed.
func (w *writing) takenBy(failed int) error {
	c := &w.claims[failed]
	for _, other := range w.claims {
		if other.Identifier == c.Identifier && other.got && !other.drop {
			return fault.New(fault.Conflict, "Two patients in this request have the same identifier.", "identifier", map[string]any{"system": c.System, "value": c.Value})
		}
	}
	if p := w.plan[c.write]; p.create != nil && p.create.Sought == c.Identifier {
		return errOutdated
	}
	return w.takenFault(w.tx, c.Identifier)
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
