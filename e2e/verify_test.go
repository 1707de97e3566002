package e2e

import (
	"strings"
	"sync"
	"testing"

	"anodyne.example/anodyne/client"
)

// verify compares the service with the ledger while nothing is written. It
// first repeats requests with a key and a lost response.
func (l *ledger) verify(clients []*client.Client) {
	l.tb.Helper()
	l.repeatLost(clients)
	l.walk(newest(clients))
	l.readTouched(clients)
	l.readService(clients)
	l.readMeasures(newest(clients))
	l.readEvents(newest(clients))
	l.readAudit(newest(clients))
	l.countLogs()
	l.countReports()
	l.readLimit()
	if l.tb.Failed() {
		l.tb.FailNow()
	}
}

// each calls fn for the records that are chosen, by several at a time.
func (l *ledger) each(choose func(*record) bool, fn func(*record)) {
	work := make(chan *record)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for r := range work {
				fn(r)
			}
		})
	}
	for _, r := range l.records {
		if choose(r) {
			work <- r
		}
	}
	close(work)
	group.Wait()
}

// repeatLost sends again what had a key and got no answer: it must work at
// once, or soon after the database was away, and walk finds it once.
func (l *ledger) repeatLost(clients []*client.Client) {
	l.each(func(r *record) bool { return r.known == nil && r.key != noKey }, func(r *record) {
		if !l.create(clients[r.by], r) && !(l.away && soon(patience, func() bool { return l.create(clients[r.by], r) })) {
			l.tb.Error("a request that is repeated with its key was not answered")
		}
	})
	l.each(func(r *record) bool { return r.known != nil && r.touched }, func(r *record) {
		c, answered := clients[r.by], true
		for _, b := range r.batches {
			if b.known == nil && b.key != noKey {
				answered = l.addBatch(c, r, b) && answered
			}
		}
		for _, k := range r.corrections {
			if !k.done && k.key != noKey {
				answered = l.correct(c, r, k) && answered
			}
		}
		if !answered {
			l.tb.Error("a clinical request that is repeated with its key was not answered")
		}
	})
}

// walk goes through all pages: every acknowledged patient once, and others
// only if their answer was lost.
func (l *ledger) walk(c *client.Client) {
	l.tb.Helper()
	seen := map[string]bool{}
	count, total := 0, 0
	for page := 1; ; page++ {
		p, err := c.Patients(l.tb.Context(), client.PatientQuery{Page: page, Limit: 100})
		if err != nil {
			l.tb.Fatal(err)
		}
		total = p.Pagination.Total
		count += len(p.Data)
		for _, item := range p.Data {
			if seen[item.Name] {
				l.tb.Errorf("patient %s is there twice", item.ID)
			}
			seen[item.Name] = true
			l.listed(c, item)
		}
		if len(p.Data) < 100 {
			break
		}
	}
	if count != total {
		l.tb.Errorf("%d patients on the pages, but the total is %d", count, total)
	}
	for name, r := range l.records {
		if r.known != nil && !seen[name] {
			l.tb.Errorf("patient %s was acknowledged and is lost", r.known.ID)
		}
	}
}

// listed judges one item of a list.
func (l *ledger) listed(c *client.Client, item client.PatientItem) {
	r := l.records[item.Name]
	switch {
	case r == nil:
		l.tb.Errorf("patient %s was never sent", item.ID)
	case r.known == nil: // the answer was lost, the patient was not
		p, err := c.Patient(l.tb.Context(), item.ID)
		if err != nil {
			l.tb.Errorf("a listed patient cannot be read: %v", err)
			return
		}
		l.same("a patient without an answer", r.sent, p)
		r.known, r.reads = p, r.reads+1
		l.found.Add(1)
	case r.known.PatientItem != item:
		l.tb.Errorf("patient %s is listed as %+v, acknowledged as %+v", item.ID, item, r.known.PatientItem)
	}
}

func (l *ledger) readTouched(clients []*client.Client) {
	l.each(func(r *record) bool { return r.touched && r.known != nil }, func(r *record) {
		if !l.read(clients[r.by], r) {
			l.tb.Error("a read was not answered")
		}
		l.readClinical(clients[r.by], r)
		r.touched = false
	})
}

// complete reports whether a log has what it must have: a create for every
// known patient, an update and a read for every one that was answered.
func (l *ledger) complete(log map[string]map[string]int, create, update, read string) bool {
	for _, a := range l.reports {
		if read == "" && a.ended == stays && a.seen == client.ReportCompleted && log[a.first.ID]["report.completed"] < 1 {
			return false
		}
	}
	for _, r := range l.records {
		if r.known == nil {
			continue
		}
		said := log[r.known.ID]
		if said[create] < 1 || said[update] < r.updates || read != "" && said[read] < r.reads {
			return false
		}
		events, batches, corrections := r.told()
		if read != "" && (said["clinical_data.create"] < batches || said["clinical_data.correct"] < corrections) {
			return false
		}
		for kind, times := range events {
			if read == "" && said[kind] < times {
				return false
			}
		}
	}
	return true
}

func note(log map[string]map[string]int, id, kind string) {
	if log[id] == nil {
		log[id] = map[string]int{}
	}
	log[id][kind]++
}

// readEvents goes on in the event log until everything has come. What does not
// come is named by countLogs.
func (l *ledger) readEvents(c *client.Client) {
	l.tb.Helper()
	soon(patience, func() bool {
		for {
			page, err := c.Events(l.tb.Context(), l.eventCursor, 100, 0)
			if err != nil {
				l.tb.Fatal(err)
			}
			for _, e := range page.Data {
				about, kind, err := kindOf(e)
				if err != nil {
					l.tb.Fatal(err)
				}
				note(l.events, about, kind)
			}
			l.eventCursor = page.NextCursor
			if len(page.Data) < 100 {
				return l.complete(l.events, "patient.created", "patient.updated", "")
			}
		}
	})
}

// readAudit does the same in the audit log.
func (l *ledger) readAudit(c *client.Client) {
	l.tb.Helper()
	soon(patience, func() bool {
		for {
			page, err := c.Audit(l.tb.Context(), client.AuditQuery{After: l.auditCursor, Limit: 100})
			if err != nil {
				l.tb.Fatal(err)
			}
			for _, line := range page.Data {
				note(l.audits, line.Resource, line.Action)
			}
			l.auditCursor = page.NextCursor
			if len(page.Data) < 100 {
				return l.complete(l.audits, "patient.create", "patient.update", "patient.read")
			}
		}
	})
}

// countLogs finds what is in a log too often, or too seldom.
func (l *ledger) countLogs() {
	l.tb.Helper()
	for _, r := range l.records {
		if r.known == nil {
			continue
		}
		id := r.known.ID
		between(l.tb, id, "event patient.created", l.events[id]["patient.created"], 1, 1)
		between(l.tb, id, "event patient.updated", l.events[id]["patient.updated"], r.updates, r.updates+r.lostUpdates)
		l.countClinical(r)
		between(l.tb, id, "audit line patient.create", l.audits[id]["patient.create"], 1, 1)
		between(l.tb, id, "audit line patient.update", l.audits[id]["patient.update"], r.updates, r.updates+r.lostUpdates)
		between(l.tb, id, "audit line patient.read", l.audits[id]["patient.read"], r.reads, r.reads+r.lostReads+r.creates-1)
	}
}

// countClinical compares the logs with the records: each change has one event
// and one audit entry, and there are no others.
func (l *ledger) countClinical(r *record) {
	l.tb.Helper()
	id := r.known.ID
	events, batches, corrections := r.told()
	for kind, times := range events {
		between(l.tb, id, "event "+kind, l.events[id][kind], times, times)
	}
	others := 0
	for kind := range l.events[id] {
		if kind != "patient.created" && kind != "patient.updated" && events[kind] == 0 {
			others++
		}
	}
	between(l.tb, id, "events without a change", others, 0, 0)
	between(l.tb, id, "audit line clinical_data.create", l.audits[id]["clinical_data.create"], batches, batches)
	between(l.tb, id, "audit line clinical_data.correct", l.audits[id]["clinical_data.correct"], corrections, corrections)
	between(l.tb, id, "audit line alert.raise", l.audits[id]["alert.raise"], events[doseAlert], events[doseAlert])
}

func between(tb testing.TB, id, what string, got, low, high int) {
	tb.Helper()
	if got < low || got > high {
		tb.Errorf("patient %s: %s %d times, want %d to %d", id, what, got, low, high)
	}
}

// verifyAll looks at every patient in full, and at the logs for what belongs
// to no patient.
func (l *ledger) verifyAll(clients []*client.Client) {
	l.tb.Helper()
	for _, r := range l.records {
		r.touched = true
	}
	for _, a := range l.reports {
		a.touched = true
	}
	for _, h := range l.hooks {
		h.touched = true
	}
	for i, t := range l.tokens {
		t.touched = i < 500 // a refusal counts for the address, which has a thousand
	}
	l.verify(clients)
	l.finishReports(newest(clients))
	l.readEvents(newest(clients))
	l.countReports()
	there := map[string]bool{}
	for _, r := range l.records {
		if r.known != nil {
			there[r.known.ID] = true
		}
	}
	for id := range l.events {
		if strings.HasPrefix(id, "pat_") && !there[id] {
			l.tb.Errorf("there are events of %s, which is not there", id)
		}
	}
}

// verifyStopped is for a service that had time to stop: requests without an
// answer never got in, and left no trace.
func (l *ledger) verifyStopped(clients []*client.Client) {
	l.tb.Helper()
	page, err := newest(clients).Patients(l.tb.Context(), client.PatientQuery{Limit: 1})
	if err != nil {
		l.tb.Fatal(err)
	}
	if acknowledged, _ := l.patients(); page.Pagination.Total != acknowledged {
		l.tb.Errorf("%d patients are there, %d were acknowledged", page.Pagination.Total, acknowledged)
	}
	l.each(func(r *record) bool { return r.known != nil && (r.touched || r.lostReads > 0) }, func(r *record) {
		r.lostReads, r.lostUpdates, r.changed = 0, 0, nil
		for _, b := range r.batches {
			b.never = b.known == nil
		}
		for _, k := range r.corrections {
			k.never = !k.done
		}
		l.readClinical(clients[r.by], r)
	})
	reports, hooks := 0, l.receivers
	for _, a := range l.reports {
		reports += stopped(&a.ended, a.first != nil)
	}
	for _, h := range l.hooks {
		hooks += stopped(&h.ended, h.first != nil)
	}
	for _, t := range l.tokens {
		stopped(&t.ended, true)
	}
	l.listService(newest(clients), reports, hooks)
}

// stopped counts what must be there of something after a stop: a removal
// without an answer never got in.
func stopped(ended *removal, made bool) int {
	if !made || *ended == isGone {
		return 0
	}
	*ended = stays
	return 1
}

// newest returns the client that has seen the fewest kills, each of which
// costs its application a part of its allowance.
func newest(clients []*client.Client) *client.Client { return clients[len(clients)-1] }
