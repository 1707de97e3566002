package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultLinearizable reads and writes a few patients at a time through
// three nodes, kills nodes meanwhile, and checks that all responses fit one
// order of events.
func TestFaultLinearizable(t *testing.T) {
	t.Parallel()
	const callers, operations = 12, 60
	random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
	s := newService(t, storetest.Postgres)
	nodes := s.nodes(3)
	b := newBalancer(nodes...)
	c := b.dial(s, []application{s.register("enterprise")})[0]
	done, lost := 0, 0
	for round := range faulttest.Rounds(t, 3) {
		h := newHistory()
		w := &ward{tb: t, history: h, api: c, round: round, known: map[int]*chart{}}
		var group sync.WaitGroup
		for range callers {
			own := rand.New(rand.NewPCG(random.Uint64(), 0))
			group.Go(func() {
				for range operations {
					w.once(own)
				}
			})
		}
		victim, moment := random.IntN(len(nodes)), callers*operations*(1+random.IntN(6))/10
		eventually(t, takeover, "operations", func() bool { return h.done() >= moment })
		nodes[victim].kill()
		b.remove(nodes[victim])
		nodes[victim] = s.node(victim)
		b.add(nodes[victim])
		group.Wait()
		h.judge(t)
		if t.Failed() {
			return
		}
		done, lost = done+h.count, lost+h.lost
	}
	t.Logf("%d operations, %d of them without an answer", done, lost)
}

// ward is what callers know between them: which patients there are, and what
// was last heard of them.
type ward struct {
	tb testing.TB
	*history
	api   *client.Client
	round int

	mu     sync.Mutex
	known  map[int]*chart
	number int // of phones, records and keys
}

// chart is what was heard of one patient.
type chart struct {
	id      string
	version int64
	records map[string]string // identifiers by name
}

// atOnce and operationsEach bound a patient's history: a few patients at a
// time, each for so many operations.
const atOnce, operationsEach = 3, 60

// once does one operation with one of the current patients.
func (w *ward) once(random *rand.Rand) {
	patient := w.done()/(atOnce*operationsEach)*atOnce + random.IntN(atOnce)
	w.mu.Lock()
	w.number++
	name := fmt.Sprintf("%d/%d", w.round, w.number)
	var id string
	var version int64
	var record, recordID string
	if k := w.known[patient]; k != nil {
		id, version = k.id, k.version
		for record, recordID = range k.records {
			break
		}
	}
	w.mu.Unlock()

	choice := random.IntN(100)
	switch {
	case id == "" || choice < 5:
		w.create(patient)
	case choice < 35:
		w.read(patient, id)
	case choice < 50:
		w.patch(patient, id, name, version)
	case choice < 60:
		w.patch(patient, id, name, 0)
	case choice < 75:
		w.addRecord(patient, id, name)
	case choice < 85 && record != "":
		w.strike(patient, id, record, recordID, name)
	default:
		w.listRecords(patient, id)
	}
}

// heard stores the content of a response for later operations.
func (w *ward) heard(patient int, do func(*chart)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[patient] == nil {
		w.known[patient] = &chart{records: map[string]string{}}
	}
	do(w.known[patient])
}

// unanswered says whether an operation's outcome is open: no answer came, or
// one that does not say. Any other error is the service's fault.
func (w *ward) unanswered(what string, err error) bool {
	if err != nil && isAnswer(err) && !client.IsCode(err, client.CodeServiceUnavailable) && !client.IsCode(err, client.CodeIdempotencyInProgress) {
		w.tb.Errorf("%s: %v", what, err)
	}
	return err != nil
}

// tries is how often what has a key is sent until it is answered: a repeat is
// an operation of its own.
const tries = 3

func (w *ward) create(patient int) {
	in := operation{patient: patient, action: doCreate, phone: "0"}
	for range tries {
		call := w.now()
		p, err := w.api.CreatePatient(w.tb.Context(), client.NewPatient{Name: fmt.Sprintf("Linus %d %d", w.round, patient), DateOfBirth: "1970-01-01",
			Contact: client.Contact{Phone: in.phone}}, client.WithIdempotencyKey(fmt.Sprintf("patient %d/%d", w.round, patient)))
		if w.unanswered("create", err) {
			w.note(in, call, reply{lost: true})
			continue
		}
		w.note(in, call, reply{id: p.ID, version: versionOf(p), phone: p.Contact.Phone})
		w.heard(patient, func(k *chart) { k.id = p.ID })
		return
	}
}

func (w *ward) read(patient int, id string) {
	in, call := operation{patient: patient, action: doRead}, w.now()
	p, err := w.api.Patient(w.tb.Context(), id)
	if w.unanswered("read", err) {
		w.note(in, call, reply{lost: true})
		return
	}
	w.note(in, call, reply{version: versionOf(p), phone: p.Contact.Phone})
	w.heard(patient, func(k *chart) { k.version = versionOf(p) })
}

func (w *ward) patch(patient int, id, phone string, version int64) {
	in, call := operation{patient: patient, action: doPatch, phone: phone, version: version}, w.now()
	var opts []client.CallOption
	if version != 0 {
		opts = append(opts, client.WithIfMatch(strconv.Quote(strconv.FormatInt(version, 10))))
	}
	p, err := w.api.UpdatePatient(w.tb.Context(), id, client.PatientPatch{Contact: client.Set(client.ContactPatch{Phone: client.Set(phone)})}, opts...)
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code == client.CodePreconditionFailed {
		tag, _ := e.Details["etag"].(string)
		now := parseVersion(tag)
		w.note(in, call, reply{refused: true, version: now})
		w.heard(patient, func(k *chart) { k.version = now })
		return
	}
	if w.unanswered("patch", err) {
		w.note(in, call, reply{lost: true})
		return
	}
	w.note(in, call, reply{version: versionOf(p), phone: p.Contact.Phone})
	w.heard(patient, func(k *chart) { k.version = versionOf(p) })
}

func (w *ward) addRecord(patient int, id, name string) {
	in := operation{patient: patient, action: doAdd, record: name}
	for range tries {
		call := w.now()
		r, err := w.api.AddRecord(w.tb.Context(), id, client.NewRecord{DataType: "pain_scores", Value: 5, Notes: name}, client.WithIdempotencyKey("record "+name))
		if w.unanswered("add", err) {
			w.note(in, call, reply{lost: true})
			continue
		}
		w.note(in, call, reply{})
		w.heard(patient, func(k *chart) {
			if was, seen := k.records[name]; seen && was != r.ID {
				w.tb.Errorf("one key made the records %s and %s", was, r.ID)
			}
			k.records[name] = r.ID
		})
		return
	}
}

func (w *ward) strike(patient int, id, record, recordID, key string) {
	in := operation{patient: patient, action: doStrike, record: record, key: key}
	for range tries {
		call := w.now()
		_, err := w.api.CorrectRecord(w.tb.Context(), id, recordID, client.Correction{EnteredInError: true, Reason: "another patient"}, client.WithIdempotencyKey("strike "+key))
		if client.IsCode(err, client.CodeConflict) {
			w.note(in, call, reply{refused: true})
			return
		}
		if w.unanswered("strike", err) {
			w.note(in, call, reply{lost: true})
			continue
		}
		w.note(in, call, reply{})
		return
	}
}

func (w *ward) listRecords(patient int, id string) {
	in, call := operation{patient: patient, action: doList}, w.now()
	page, err := w.api.Records(w.tb.Context(), id, client.RecordQuery{Limit: 100})
	if w.unanswered("list", err) {
		w.note(in, call, reply{lost: true})
		return
	}
	var names []string
	for _, r := range page.Data {
		names = append(names, r.Notes)
	}
	slices.Sort(names)
	w.note(in, call, reply{records: strings.Join(names, " ")})
}

// versionOf reads the version out of a patient's ETag.
func versionOf(p *client.Patient) int64 { return parseVersion(p.ETag) }

func parseVersion(tag string) int64 {
	version, _ := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
	return version
}
