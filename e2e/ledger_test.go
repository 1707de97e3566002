package e2e

import (
	"sync"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/testneed"
)

// ledger records every response to a load, and so what the service must, may
// and must not contain.
type ledger struct {
	tb testing.TB
	// away says that SERVICE_UNAVAILABLE is an answer to be expected; whether
	// the service acted is then as open as after a lost answer.
	away bool
	// moving allows UNAUTHORIZED: the clock is being moved.
	moving bool
	// words are the messages of such answers.
	words sync.Map

	mu      sync.Mutex
	records map[string]*record // by name, which no two requests share
	answers atomic.Int64
	// lost counts the requests without an answer, found those of them that had
	// no key and had been done.
	lost, found atomic.Int64
	// acknowledged is how many patients were.
	acknowledged atomic.Int64

	// What there is beside patients. Receivers is how many webhooks the test
	// has of its own.
	reports   []*asked
	hooks     []*hooked
	receivers int
	tokens    []*issued
	limited   *limited // nil when there is none

	// Where the load runs, and as whom; without it there are no tokens and no
	// limits in the load.
	node *node
	apps []application

	// The content of the logs so far, by patient, and where to continue.
	events, audits           map[string]map[string]int
	eventCursor, auditCursor string
}

// record is what is known of one patient. While a load runs, it belongs to one
// writer.
type record struct {
	by  int // the application that sent it
	key string
	// asked is what was sent first, sent what the patient has become since by
	// what was answered.
	asked, sent client.NewPatient

	// first is what the service answered when it made it, known what it has
	// answered last; nil before that.
	first, known *client.Patient
	// changed is what an unanswered change may have made of it. Whether it has
	// may show late, so nothing more is changed then.
	changed *client.Patient

	// Answered and unanswered requests, for the audit log. An update is also a
	// read, as its answer shows the patient; so is a create that is repeated.
	creates, updates, reads, lostUpdates, lostReads int
	// What is known of its clinical records.
	batches     []*batch
	corrections []*correction
	dosed       bool // one of the batches has brought it over a threshold, or was to

	// touched marks what is to be looked at in detail.
	touched bool
}

// needsLoad leaves a test out with -short. A test calls it before it starts
// anything.
func needsLoad(tb testing.TB) {
	tb.Helper()
	testneed.Long(tb, "a load that is checked afterwards")
}

func newLedger(tb testing.TB) *ledger {
	tb.Helper()
	needsLoad(tb)
	return &ledger{tb: tb, records: map[string]*record{}, events: map[string]map[string]int{}, audits: map[string]map[string]int{}}
}

// at continues the load at a node and returns the clients of its applications.
func (l *ledger) at(n *node, apps []application) []*client.Client {
	l.node, l.apps = n, apps
	return dial(n, apps)
}

// answered sorts a call's error: nil was answered. A lost answer is the reason
// for the ledger; any other error is the service's fault.
func (l *ledger) answered(what string, err error) (yes bool) {
	switch {
	case err == nil:
		l.answers.Add(1)
		return true
	case !isAnswer(err):
		l.lost.Add(1)
	case l.away && client.IsCode(err, client.CodeServiceUnavailable):
		l.lost.Add(1)
		l.away503(err)
	case l.away && client.IsCode(err, client.CodeIdempotencyInProgress):
		// The database has not noticed yet that the first one is gone.
	case l.moving && client.IsCode(err, client.CodeUnauthorized):
		// The clock was moved twice while this was asked, and once for a new
		// token: neither token is of a time that has come, or has not gone.
	default:
		l.tb.Errorf("%s: %v", what, err)
	}
	return false
}

func (l *ledger) add(r *record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records[r.sent.Name] = r
}

// create sends a new patient, or sends it again.
func (l *ledger) create(c *client.Client, r *record) bool {
	p, err := c.CreatePatient(l.tb.Context(), r.asked, client.WithIdempotencyKey(r.key))
	r.touched = true
	r.creates++
	if !l.answered("create", err) {
		return false
	}
	if r.first != nil {
		if !equal(r.first, p) {
			l.tb.Errorf("patient %s: a create that is sent again with its key is answered in another way", r.known.ID)
		}
		return true
	}
	l.same("the answer to a create", r.sent, p)
	r.first, r.known = p, p
	l.acknowledged.Add(1)
	return true
}

// update changes a patient's telephone number.
func (l *ledger) update(c *client.Client, r *record, phone string) bool {
	p, err := c.UpdatePatient(l.tb.Context(), r.known.ID, client.PatientPatch{
		Contact: client.Set(client.ContactPatch{Phone: client.Set(phone)})})
	r.touched = true
	sent := r.sent
	sent.Contact.Phone = phone
	if !l.answered("update", err) {
		after := *r.known
		after.Contact.Phone = phone
		r.changed = &after
		r.lostUpdates++
		r.lostReads++
		return false
	}
	l.same("the answer to an update", sent, p)
	r.sent, r.known = sent, p
	r.updates++
	r.reads++
	return true
}

// read compares a patient with the ledger.
func (l *ledger) read(c *client.Client, r *record) bool {
	p, err := c.Patient(l.tb.Context(), r.known.ID)
	if !l.answered("read", err) {
		r.lostReads++
		return false
	}
	r.reads++
	switch {
	case equal(p, r.known):
	case r.changed != nil && p.ETag != r.known.ETag:
		changed := *r.changed
		changed.ETag = p.ETag
		if !equal(p, &changed) {
			l.tb.Errorf("patient %s is neither as before nor as after a change without an answer", p.ID)
		}
	default:
		l.tb.Errorf("patient %s is not as it was acknowledged", p.ID)
	}
	return true
}
