package fhirwrite

import (
	"context"
	"slices"
	"strconv"

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

// corrected is the items that update one record.
type corrected struct {
	parts []*entry
	// chain is the versions of the record, and latest the one in force.
	chain  []patients.FHIRRecord
	latest patients.FHIRRecord
	// had are the identifiers of the resources, and others those of the resources
	// that stay.
	had, others []patients.RecordIdentifier
	id          id.Record // of the new record
}

// corrections makes the writes of updated records.
func (p *planner) corrections(ctx context.Context) error {
	var order []*corrected
	byRoot := map[id.Record]*corrected{}
	for _, e := range p.entries {
		if !e.open() || e.draft.Record == nil || !e.Update || e.result.Status != 0 {
			continue
		}
		root, part, ok := parseRecord(e.ID)
		if !ok {
			p.fail(e, fault.Missing(e.draft.Type, e.ID))
			continue
		}
		e.record = root
		c := byRoot[root]
		if c == nil {
			c = &corrected{id: id.New[id.RecordKind](p.Now)}
			if err := p.load(ctx, e, c); err != nil {
				return err
			}
			byRoot[root] = c
			order = append(order, c)
		}
		if p.claims(e, claim{id: e.ID}); !e.failed {
			if err := p.takes(c, e, part); err != nil {
				return err
			}
		}
	}
	for _, c := range order {
		p.retracts(c)
		if c.parts = slices.DeleteFunc(c.parts, func(e *entry) bool { return e.failed }); len(c.parts) > 0 && !p.stays(c) {
			p.write(&patients.CorrectedRecord{Patient: c.latest.PatientID, Record: c.latest.ID, Rule: func(old pain.Record, kept string) (pain.Correction, patients.Extra, journal.Change, error) {
				return p.correct(c, old, kept)
			}}, c.parts...)
		}
	}
	return nil
}

// stays reports whether items say what is stored already: an update that is
// repeated makes no new version.
func (p *planner) stays(c *corrected) bool {
	correction, extra, _, err := p.correct(c, c.latest.Record, c.latest.Kept)
	if err != nil || !correction.Replaced {
		return false
	}
	now, was := &correction.New, &c.latest.Record
	if now.Value != was.Value || !now.RecordedAt.Equal(was.RecordedAt) || now.Notes != was.Notes || extra.Kept != c.latest.Kept || !sameIdentifiers(c.had, extra.Identifiers) {
		return false
	}
	resources, err := p.Mapping.StoredRecord(was, c.latest.Version(), c.latest.Kept)
	if err != nil {
		return false
	}
	for _, e := range c.parts {
		for _, r := range resources {
			if r.Type == e.draft.Type && r.ID == e.ID {
				e.result = Result{Status: found, Type: r.Type, ID: r.ID, Version: c.latest.Number, LastModified: c.latest.UpdatedAt, generated: r.JSON}
			}
		}
	}
	return true
}

func sameIdentifiers(a, b []patients.RecordIdentifier) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(one patients.RecordIdentifier) bool { return !slices.Contains(b, one) })
}

// load reads the record that an item updates.
func (p *planner) load(ctx context.Context, e *entry, c *corrected) error {
	chain, err := p.Org.FHIRVersions(ctx, e.record)
	if fault.Is(err, fault.NotFound) || err == nil && len(chain) == 0 {
		p.fail(e, fault.Missing(e.draft.Type, e.ID))
		return nil
	}
	if err != nil {
		return err
	}
	c.chain, c.latest = chain, chain[len(chain)-1]
	c.had, err = p.Org.RecordIdentifiers(ctx, e.record)
	c.others = slices.Clone(c.had)
	return err
}

// takes adds an item to the correction of a record, if it is a resource of it.
// part is that of its id.
func (p *planner) takes(c *corrected, e *entry, part string) error {
	version := strconv.FormatInt(c.latest.Number, 10)
	had, has, err := p.exists(c, e)
	if err != nil {
		return err
	}
	switch {
	case !had:
		p.fail(e, fault.Missing(e.draft.Type, e.ID))
	case c.latest.Type != e.draft.DataType || part != e.draft.Part:
		p.refuse(e, fhir.Issue{Severity: "error", Code: fhir.BusinessRule, Expression: e.draft.Type + ".code", Text: "The resource with this id is about something else, which cannot be changed; mark it as entered in error and create a new one."})
	case c.latest.PatientID != e.patient:
		p.refuse(e, fhir.Issue{Severity: "error", Code: fhir.BusinessRule, Expression: e.draft.Type + ".subject", Text: "The patient of a resource cannot be changed; mark it as entered in error and create a new one."})
	case e.IfMatch != "" && e.IfMatch != version:
		p.fail(e, fault.New(fault.PreconditionFailed, "The resource has another version.", "etag", `W/"`+version+`"`))
	case !has:
		p.fail(e, fault.New(fault.Conflict, "The resource was entered in error and cannot be corrected again."))
	default:
		c.parts = append(c.parts, e)
		c.others = slices.DeleteFunc(c.others, func(one patients.RecordIdentifier) bool { return one.Resource == e.resource() })
		p.addresses.add(e.FullURL, e.draft.Type+"/"+e.ID)
	}
	return nil
}

// exists reports whether a record has or had the resource of an item.
func (p *planner) exists(c *corrected, e *entry) (had, has bool, err error) {
	for i := len(c.chain) - 1; i >= 0 && !had; i-- {
		rec := &c.chain[i]
		resources, err := p.Mapping.StoredRecord(&rec.Record, rec.Version(), rec.Kept)
		if err != nil {
			return false, false, err
		}
		had = slices.ContainsFunc(resources, func(r fhir.Resource) bool { return r.Type == e.draft.Type && r.ID == e.ID })
		has = had && i == len(c.chain)-1
	}
	return had, has, nil
}

// retracts orders the items of a record: parts that were entered in error come
// first, because they say nothing about the rest of the record. Items that have
// the whole record in common must agree on whether it was.
func (p *planner) retracts(c *corrected) {
	wrong := func(e *entry) bool { return e.draft.Status == pain.EnteredInError }
	slices.SortStableFunc(c.parts, func(a, b *entry) int {
		switch {
		case wrong(a) == wrong(b):
			return 0
		case wrong(a):
			return -1
		}
		return 1
	})
	if n := len(c.parts); n == 0 || !wrong(c.parts[0]) || wrong(c.parts[n-1]) || c.parts[0].draft.Part != "" {
		return
	}
	for _, e := range c.parts {
		p.refuse(e, fhir.Issue{Severity: "error", Code: fhir.BusinessRule, Expression: e.draft.Type + ".status", Text: "Another entry about the same record has a status that contradicts this one."})
	}
}

// correct is the rule of a correction. Parts are applied one after the other;
// all of them become one new record.
func (p *planner) correct(c *corrected, old pain.Record, stored string) (correction pain.Correction, extra patients.Extra, change journal.Change, err error) {
	birth, _ := p.birth(old.PatientID)
	if old.Status == pain.Superseded { // since it was read
		return correction, extra, change, patients.ErrOutdated
	}
	in := pain.Intake{PatientID: old.PatientID, Birth: birth, Now: p.Now, Aliases: p.found.Aliases, NewID: func() id.Record { return c.id }}
	current := old
	for _, e := range c.parts {
		body, err := e.draft.Correction(&current, "")
		if err != nil {
			return correction, extra, change, err
		}
		object, err := strictjson.Parse(body)
		if err != nil {
			return correction, extra, change, err
		}
		if correction, err = pain.NewCorrection(old, object, in); err != nil {
			return correction, extra, change, err
		}
		if correction.Replaced {
			current.Value = correction.New.Value
		}
	}
	stands, changed := &correction.Old, []id.Record{old.ID}
	if correction.Replaced {
		stands, changed = &correction.New, append(changed, correction.New.ID)
	}
	version := c.latest.Number + 1
	resources, err := p.Mapping.As(c.parts[0].draft.Type).Record(stands, fhir.Version{Root: c.latest.Root, Number: int(version), LastUpdated: p.Now})
	if err != nil {
		return correction, extra, change, err
	}
	removed := old // as the parts that were entered in error are shown
	removed.Status = pain.EnteredInError
	without, err := p.Mapping.Record(&removed, fhir.Version{Root: c.latest.Root, Number: int(version), LastUpdated: p.Now})
	if err != nil {
		return correction, extra, change, err
	}
	kept, err := storedKept(stored)
	if err != nil {
		return correction, extra, change, err
	}
	same := correction.Replaced && correction.New.Value.JSON() == old.Value.JSON() && correction.New.RecordedAt.Equal(old.RecordedAt) && correction.New.Notes == old.Notes
	if same {
		version--
	}
	extra.Identifiers = slices.Clone(c.others)
	for _, e := range c.parts {
		e.result = Result{Status: found, Type: e.draft.Type, ID: e.ID, Version: version, LastModified: p.Now}
		if correction.Replaced && e.draft.Status == pain.EnteredInError {
			e.keep(p, without, kept)
			continue
		}
		e.keep(p, resources, kept)
		extra.Identifiers = append(extra.Identifiers, e.identifiers()...)
	}
	if extra.Kept = kept.Text(); same && extra.Kept == stored {
		if resources, err = p.Mapping.Record(&old, c.latest.Version()); err != nil {
			return correction, extra, change, err
		}
		for _, e := range c.parts {
			e.result.LastModified = c.latest.UpdatedAt
			e.keep(p, resources, kept)
		}
		return correction, extra, change, patients.ErrUnchanged
	}
	if same { // only what is kept has changed
		version++
		for _, e := range c.parts {
			e.result.Version = version
		}
	}
	line := p.Line(audit.ClinicalCorrect, old.PatientID.String())
	line.Details = audit.Correction(old.ID, string(correction.Old.Status), correction.New.ID, correction.Reason)
	return correction, extra, journal.Change{Audit: line, Event: event.ClinicalData(p.Now, old.PatientID, changed, []string{old.Type.String()}), Subject: old.PatientID}, nil
}
