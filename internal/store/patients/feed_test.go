package patients_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// mirror is a copy of an organisation's records, kept by reading the feed.
type mirror struct {
	next    patients.FeedCursor
	records map[id.Record]pain.Record
	changes map[id.Record]int // how often a record was listed
	removed []id.Patient
	pages   int
}

func newMirror() *mirror {
	return &mirror{records: map[id.Record]pain.Record{}, changes: map[id.Record]int{}}
}

// follow reads the feed to its end.
func (m *mirror) follow(ctx context.Context, o store.Org, limit int, types ...pain.DataType) error {
	for {
		page, err := o.Feed(ctx, patients.FeedQuery{From: m.next, Types: types, Limit: limit})
		if err != nil {
			return err
		}
		if len(page.Records) > limit {
			return fmt.Errorf("a page of %d has %d records", limit, len(page.Records))
		}
		if page.More && page.Next == m.next {
			return fmt.Errorf("the cursor %+v does not move on", m.next)
		}
		for _, rec := range page.Records {
			m.records[rec.ID] = rec
			m.changes[rec.ID]++
		}
		for _, patient := range page.Removed {
			m.removed = append(m.removed, patient)
			maps.DeleteFunc(m.records, func(_ id.Record, rec pain.Record) bool { return rec.PatientID == patient })
		}
		m.next, m.pages = page.Next, m.pages+1
		if !page.More {
			return nil
		}
	}
}

// equals compares the mirror with what is returned patient by patient.
func (m *mirror) equals(t *testing.T, o store.Org, people ...pain.Patient) {
	t.Helper()
	there := 0
	for _, p := range people {
		for n := int64(1); ; n++ {
			list, total := listed(t, o, p.ID, patients.RecordQuery{Page: n, Limit: 100, Inactive: true})
			for _, rec := range list {
				if there++; m.records[rec.ID] != rec {
					t.Errorf("the mirror has %+v, want %+v", m.records[rec.ID], rec)
				}
			}
			if n*100 >= total {
				break
			}
		}
	}
	if there != len(m.records) {
		t.Errorf("the mirror has %d records, want %d", len(m.records), there)
	}
}

func settledFeed(t *testing.T, s *store.Store, o store.Org, m *mirror, limit int, types ...pain.DataType) {
	t.Helper()
	storetest.Settle(t, s)
	if err := m.follow(t.Context(), o, limit, types...); err != nil {
		t.Fatal(err)
	}
}

// Every change is listed once, in order, whatever the size of a page, and a
// reader that goes on sees only what changed since.
func TestFeedListsEveryChangeOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p, q := storetest.AddPatient(t, o, "A"), storetest.AddPatient(t, o, "B")
		add := func(patient pain.Patient, bodies ...string) (ids []id.Record) {
			var records []pain.Record
			for _, body := range bodies {
				records = append(records, storetest.Record(t, patient.ID, body))
				ids = append(ids, records[len(records)-1].ID)
			}
			if err := storetest.AddRecords(t.Context(), o, patient.ID, records...); err != nil {
				t.Fatal(err)
			}
			return ids
		}
		early := newMirror() // begins before there is anything
		settledFeed(t, all[0], o, early, 10)
		if early.pages != 1 || len(early.records) != 0 {
			t.Errorf("an empty feed has %d pages and %d records", early.pages, len(early.records))
		}
		batch := add(p, `{"data_type":"pain_scores","value":5}`, `{"data_type":"notes","value":{"text":"slept badly"}}`, `{"data_type":"pain_scores","value":6}`)
		single := add(q, `{"data_type":"notes","value":{"text":"fine"}}`)
		settledFeed(t, all[0], o, early, 2)
		early.equals(t, o, p, q)
		correction := storetest.Must[pain.Correction](t)(storetest.Correct(t.Context(), o, p.ID, batch[0], `{"value":4}`))
		storetest.Must[pain.Correction](t)(storetest.Correct(t.Context(), o, q.ID, single[0], `{"entered_in_error":true,"reason":"x"}`))
		settledFeed(t, all[0], o, early, 1)
		early.equals(t, o, p, q)
		want := map[id.Record]int{batch[0]: 2, batch[1]: 1, batch[2]: 1, single[0]: 2, correction.New.ID: 1}
		if !maps.Equal(early.changes, want) {
			t.Errorf("listed %v, want %v", early.changes, want)
		}
		if early.records[batch[0]].Status != pain.Superseded || early.records[single[0]].Status != pain.EnteredInError {
			t.Errorf("the mirror has %+v", early.records)
		}
		for _, limit := range []int{1, 2, 3, 100, 1000} {
			late := newMirror()
			settledFeed(t, all[0], o, late, limit)
			late.equals(t, o, p, q)
			if !maps.Equal(late.changes, want) || late.next != early.next {
				t.Errorf("limit %d: listed %v up to %+v, want %v up to %+v", limit, late.changes, late.next, want, early.next)
			}
			of := newMirror()
			settledFeed(t, all[0], o, of, limit, pain.TypeNotes, pain.TypeLabs)
			if want := map[id.Record]int{batch[1]: 1, single[0]: 2}; !maps.Equal(of.changes, want) {
				t.Errorf("limit %d: notes %v, want %v", limit, of.changes, want)
			}
		}
		// At the end, the cursor stays usable.
		before := early.next
		settledFeed(t, all[0], o, early, 10)
		if early.next != before {
			t.Errorf("the cursor moved from %+v to %+v", before, early.next)
		}
		// Another organisation has none of it, and the cursor means nothing there.
		other := storetest.Client(t, all[0], "Other Hospital")
		foreign := newMirror()
		settledFeed(t, all[0], all[0].For(&other), foreign, 10)
		if len(foreign.records) != 0 || len(foreign.removed) != 0 {
			t.Errorf("another organisation sees %v", foreign.records)
		}
		if _, err := all[0].For(&other).Feed(t.Context(), patients.FeedQuery{From: before, Limit: 10}); !errors.Is(err, patients.ErrBeyondFeed) {
			t.Errorf("a cursor from beyond the end: %v", err)
		}
	})
}

// A page ends after a number of entries about other things and after a number
// of bytes; a reader still gets everything.
func TestFeedPagesAreBounded(t *testing.T) {
	patients.ShortFeed(t, 5, 300)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		var notes []id.Record
		write := func(body string, times int) {
			var records []pain.Record
			for range times {
				records = append(records, storetest.Record(t, p.ID, body))
			}
			if err := storetest.AddRecords(t.Context(), o, p.ID, records...); err != nil {
				t.Fatal(err)
			}
			if records[0].Type == pain.TypeNotes {
				for _, rec := range records {
					notes = append(notes, rec.ID)
				}
			}
		}
		write(`{"data_type":"notes","value":{"text":"first"}}`, 1)
		for range 30 {
			write(`{"data_type":"pain_scores","value":5}`, 3)
			storetest.AddPatient(t, o, "B")
		}
		write(`{"data_type":"notes","value":{"text":"`+strings.Repeat("long ", 50)+`"}}`, 7)
		m := newMirror()
		settledFeed(t, all[0], o, m, 1, pain.TypeNotes)
		if m.pages < 6 || !slices.Equal(slices.SortedFunc(maps.Keys(m.records), func(a, b id.Record) int { return slices.Compare(a.Bytes(), b.Bytes()) }), notes) {
			t.Errorf("%d pages have %d of %d notes", m.pages, len(m.records), len(notes))
		}
		bytewise, everything := newMirror(), newMirror()
		settledFeed(t, all[0], o, bytewise, 100, pain.TypeNotes)
		if bytewise.pages < 4 || !maps.Equal(bytewise.changes, m.changes) {
			t.Errorf("%d pages have %d of %d notes", bytewise.pages, len(bytewise.records), len(notes))
		}
		settledFeed(t, all[0], o, everything, 7)
		everything.equals(t, o, p)
	})
}

// Records whose derived values changed are listed again, without an event.
func TestFeedListsWhatIsDerivedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := old(t, all[0], o, "A", missed)
		score := storetest.Record(t, p.ID, `{"data_type":"pain_scores","value":5}`)
		if err := storetest.AddRecords(t.Context(), o, p.ID, score); err != nil {
			t.Fatal(err)
		}
		m := newMirror()
		settledFeed(t, all[0], o, m, 10)
		_, before, err := o.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if err := all[0].System().Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		settledFeed(t, all[0], o, m, 10)
		m.equals(t, o, p)
		if len(m.records) != 2 || m.changes[score.ID] != 1 || len(m.changes) != 2 {
			t.Errorf("listed %v", m.changes)
		}
		events, _, err := o.Events(t.Context(), before, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == event.ClinicalDataUpdated {
				t.Errorf("an event was sent: %s", e.Data)
			}
		}
	})
}

// The records of a merged patient are listed again with the other one; the
// merged patient and an erased one are named. That also holds for a reader who
// reads of the merge only when the other patient is erased too.
func TestFeedTellsOfMergedAndErasedPatients(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		from, to, gone := storetest.AddPatient(t, o, "A"), storetest.AddPatient(t, o, "B"), storetest.AddPatient(t, o, "C")
		var records []pain.Record
		for range 2300 { // more than are named by one entry
			records = append(records, newRecord(from.ID, pain.TypePainScores, recordNow))
		}
		addRecords(t, o, records...)
		addRecords(t, o, newRecord(gone.ID, pain.TypeNotes, recordNow))
		m, scores, slow := newMirror(), newMirror(), newMirror()
		settledFeed(t, all[0], o, m, 1000)
		settledFeed(t, all[0], o, slow, 1000)
		settledFeed(t, all[0], o, scores, 1000, pain.TypePainScores)
		m.equals(t, o, from, gone)

		if err := storetest.Merge(t.Context(), o, from.ID, to.ID); err != nil {
			t.Fatal(err)
		}
		erase := func(patientID id.Patient) {
			if err := o.ErasePatient(t.Context(), patientID, "asked for it", audit.Entry{At: time.Now(), Actor: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		erase(gone.ID)
		late := newMirror() // knows nothing of them
		for _, reader := range []*mirror{m, scores, late} {
			if reader == scores {
				settledFeed(t, all[0], o, reader, 1000, pain.TypePainScores)
			} else {
				settledFeed(t, all[0], o, reader, 700)
			}
			if len(reader.records) != len(records) || !slices.Equal(reader.removed, []id.Patient{from.ID, gone.ID}) {
				t.Errorf("%d records, %v removed", len(reader.records), reader.removed)
			}
			for _, rec := range reader.records {
				if rec.PatientID != to.ID {
					t.Fatalf("record %s is still of patient %s", rec.ID, rec.PatientID)
				}
			}
		}
		erase(to.ID)
		for _, reader := range []*mirror{m, slow} {
			settledFeed(t, all[0], o, reader, 1000)
			if len(reader.records) != 0 || !slices.Equal(reader.removed, []id.Patient{from.ID, gone.ID, to.ID}) {
				t.Errorf("after the last erasure: %d records, %v removed", len(reader.records), reader.removed)
			}
		}
	})
}

// Sixteen writers add and correct records on three nodes while a reader follows
// on each: every reader sees each change once, and its copy ends equal.
func TestFeedWhileOthersWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		const writers, rounds = 16, 25
		all, who := storetest.Nodes(t, 3, open)
		storetest.Run(t, all...)
		var people []pain.Patient
		for i := range 4 {
			people = append(people, storetest.AddPatient(t, all[0].For(&who), storetest.PatientName(i)))
		}
		var mu sync.Mutex
		want := map[id.Record]int{}
		note := func(ids ...id.Record) {
			mu.Lock()
			defer mu.Unlock()
			for _, one := range ids {
				want[one]++
			}
		}
		ctx, written := context.WithCancel(t.Context())
		mirrors := make([]*mirror, len(all))
		var readers sync.WaitGroup
		for i := range mirrors {
			mirrors[i] = newMirror()
			readers.Go(func() {
				for ctx.Err() == nil {
					if err := mirrors[i].follow(t.Context(), all[i].For(&who), []int{1, 7, 1000}[i]); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		storetest.Together(t, writers, func(w int) error {
			random := rand.New(rand.NewPCG(uint64(w), 0))
			o, p := all[w%len(all)].For(&who), people[w%len(people)].ID
			for range rounds {
				var records []pain.Record
				for range 1 + random.IntN(4) {
					records = append(records, storetest.Record(t, p, `{"data_type":"pain_scores","value":5}`))
				}
				if err := storetest.AddRecords(ctx, o, p, records...); err != nil {
					return err
				}
				for _, rec := range records {
					note(rec.ID)
				}
				if random.IntN(2) == 0 {
					c, err := storetest.Correct(ctx, o, p, records[0].ID, []string{`{"value":3}`, `{"entered_in_error":true,"reason":"x"}`}[random.IntN(2)])
					if err != nil {
						return err
					}
					if note(c.Old.ID); c.Replaced {
						note(c.New.ID)
					}
				}
			}
			return nil
		})
		written()
		readers.Wait()
		for i, m := range mirrors {
			settledFeed(t, all[i], all[i].For(&who), m, 1000)
			m.equals(t, all[i].For(&who), people...)
			if !maps.Equal(m.changes, want) {
				t.Errorf("reader %d saw %d records change, want %d", i, len(m.changes), len(want))
			}
		}
	})
}

// A page reads the range of the journal that it covers, and looks each record
// up by its identifier.
func TestFeedGoesByIndex(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		explain, column := "EXPLAIN QUERY PLAN ", 3
		wanted := map[string][]string{
			patients.FeedEntries:                   {"SEARCH journal USING PRIMARY KEY (org_no=? AND pos>? AND pos<?)", "SEARCH j USING PRIMARY KEY (org_no=? AND pos>? AND pos<?)"},
			all[0].Database().Dialect().Identified: {"SEARCH r USING INDEX clinical_record_id (org_no=? AND id=?)", "SEARCH p USING PRIMARY KEY (org_no=? AND patient_no=?)"},
		}
		if all[0].Engine() == storetest.Postgres {
			// Small tables are read as a whole, whatever indexes there are.
			for _, sql := range []string{
				`INSERT INTO journal (org_no, pos, at, event_type, event_data, audit, packed)
					SELECT o, n, 0, CASE WHEN n % 3 = 0 THEN 'clinical_data.updated' END, CASE WHEN n % 3 = 0 THEN '{}' END, 'x', 0
					FROM generate_series(1, 2) o, generate_series(100, 30000) n`,
				`INSERT INTO clinical_record (org_no, patient_no, recorded_at, id, data_type, status, created_at, value, notes, source, author, encounter_id)
					SELECT 1, n, 0, decode(lpad(to_hex(n), 32, '0'), 'hex'), 1, 0, 0, '', '', '', '', '' FROM generate_series(1, 30000) n`,
				`INSERT INTO patient (org_no, patient_no, id, version, created_at, name, date_of_birth, gender, email, phone, medical_history)
					SELECT 1, n, decode(lpad(to_hex(n), 32, '0'), 'hex'), 1, 0, '', '', '', '', '', '' FROM generate_series(1, 30000) n`,
				`ANALYZE`,
			} {
				storetest.Exec(t, all[0], sql)
			}
			explain, column = "EXPLAIN ", 0
			wanted = map[string][]string{
				patients.FeedEntries:                   {"Index Scan using journal_pkey on journal ", "Index Scan using journal_pkey on journal j", "(pos <= (max("},
				all[0].Database().Dialect().Identified: {"Index Scan using clinical_record_id", "Index Scan using patient_pkey"},
			}
		}
		if pgcluster.Distributed() { // the names are those of shards
			wanted[patients.FeedEntries] = []string{"Index Scan using journal_pkey_", "Index Cond: ((org_no = '1'::bigint) AND (pos >= "}
		}
		for sql, parts := range wanted {
			args := []any{int64(who.Org), int64(1), int64(1001), int64(50), int64(8000)}
			if sql != patients.FeedEntries {
				args = []any{int64(who.Org), `["00"]`, int64(-1), int64(50)}
			}
			var plan []string
			if err := all[0].Database().Read(t.Context(), func(tx engine.Tx) error {
				return tx.Query(explain+sql, func(r engine.Row) error {
					plan = append(plan, r.Text(column))
					return nil
				}, args...)
			}); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(plan, "\n")
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in the plan:\n%s", part, text)
				}
			}
			for _, part := range []string{"Seq Scan on journal ", "SCAN journal", "SCAN r", "SCAN j "} {
				if strings.Contains(text, part) {
					t.Errorf("%q in the plan:\n%s", part, text)
				}
			}
		}
	})
}
