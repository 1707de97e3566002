//go:build citus

package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
	"anodyne.example/anodyne/internal/testwait"
)

// sentSQL collects the statements that are sent to a database.
type sentSQL struct {
	mu  sync.Mutex
	all []string
}

func (s *sentSQL) watch(cfg *store.Config) {
	cfg.Observe = func(_ context.Context, sql ...string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, sql...)
	}
}

// count returns how many statements begin with a text.
func (s *sentSQL) count(beginning string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sql := range s.all {
		if strings.HasPrefix(sql, beginning) {
			n++
		}
	}
	return n
}

// distributed opens a store on a distributed database.
func distributed(t *testing.T) (*store.Store, store.Config, *sentSQL) {
	pgcluster.NeedsCitus(t)
	cfg, sent := storetest.Database(t, storetest.Postgres), &sentSQL{}
	sent.watch(&cfg)
	return storetest.Start(t, cfg), cfg, sent
}

// Calls about one organisation are combined on a cluster, and every caller gets
// the rows of its own organisation.
func TestDistributedLookups(t *testing.T) {
	s, _, sent := distributed(t)
	const each = 8
	var who [3]access.Principal
	var people [len(who)][each]pain.Patient
	for i := range who {
		who[i] = storetest.Client(t, s, fmt.Sprint("organisation ", i))
		for j := range people[i] {
			people[i][j] = storetest.AddPatient(t, s.For(&who[i]), fmt.Sprint(i, " ", j))
		}
	}
	calls := 0
	testwait.Until(t, "lookups are combined", func() bool {
		storetest.Together(t, len(who)*each, func(n int) error {
			i, j := n%len(who), n/len(who)
			got, err := s.For(&who[i]).Patient(t.Context(), people[i][j].ID)
			if err == nil && got.Name != people[i][j].Name {
				err = fmt.Errorf("the patient is %q, want %q", got.Name, people[i][j].Name)
			}
			return err
		})
		calls += len(who) * each
		return sent.count("SELECT version,") < calls && sent.count("SELECT asked.place") > 0
	})
	combined := sent.count("SELECT asked.place")
	testwait.Until(t, "pages are combined", func() bool {
		storetest.Together(t, len(who)*each, func(n int) error {
			i, page := n%len(who), int64(n/len(who)+1)
			var names []string
			total, err := s.For(&who[i]).PatientPage(t.Context(), page, 1, func(p patients.PatientItem) { names = append(names, string(p.Name)) })
			if want := []string{fmt.Sprint(i, " ", page-1)}; err == nil && (total != each || len(names) != 1 || names[0] != want[0]) {
				err = fmt.Errorf("page %d of %d is %q, want %q", page, total, names, want)
			}
			return err
		})
		return sent.count("SELECT asked.place") > combined
	})
	if _, err := s.For(&who[0]).Patient(t.Context(), people[1][0].ID); err == nil {
		t.Error("an organisation reads a patient of another")
	}
}

// A write of one organisation is sent to one worker, which commits it alone.
func TestDistributedWrites(t *testing.T) {
	s, _, sent := distributed(t)
	who := storetest.Client(t, s, "one")
	o := s.For(&who)
	inTwoPhases := func() int64 { return storetest.Number(t, s, `SELECT count(*) FROM pg_dist_transaction`) }
	before := inTwoPhases()

	added := 0
	testwait.Until(t, "new patients are combined", func() bool {
		storetest.AddPatients(t, o, 40, storetest.PatientName)
		added += 40
		return sent.count("INSERT INTO patient ") < added
	})
	p := storetest.AddPatient(t, o, "with records")
	records := make([]pain.Record, 150)
	for i := range records {
		records[i] = storetest.RecordAt(t, time.Now().AddDate(0, 0, -i), p.ID, `{"data_type":"pain_scores","value":`+fmt.Sprint(i%11)+`}`)
		records[i].CreatedAt = records[0].CreatedAt // as in a request
	}
	if err := storetest.AddRecords(t.Context(), o, p.ID, records...); err != nil {
		t.Fatal(err)
	}
	if n := sent.count("INSERT INTO clinical_record"); n > 3 {
		t.Errorf("%d statements for %d records", n, len(records))
	}
	if _, err := storetest.Correct(t.Context(), o, p.ID, records[0].ID, `{"reason":"typo","value":3}`); err != nil {
		t.Error(err)
	}
	storetest.AddReport(t, s, &who, reporttype.Types()[0], time.Now())
	storetest.AddWebhook(t, o, "https://receiver.example/hook", event.PatientCreated)
	storetest.Settle(t, s)

	if n := storetest.Number(t, s, `SELECT patients FROM org_counter WHERE org_no = $1`, int64(who.Org)); n != int64(added+1) {
		t.Errorf("%d patients are counted, want %d", n, added+1)
	}
	if n := storetest.Number(t, s, `SELECT count(DISTINCT patient_no) FROM patient WHERE org_no = $1 AND patient_no BETWEEN 1 AND $2`, int64(who.Org), added+1); n != int64(added+1) {
		t.Errorf("%d of %d patients have a number of their own", n, added+1)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM clinical_record WHERE org_no = $1`, int64(who.Org)); n != int64(len(records)+1) {
		t.Errorf("%d records, want %d", n, len(records)+1)
	}
	if n := storetest.Number(t, s, `SELECT count(*) - max(pos) FROM journal WHERE org_no = $1`, int64(who.Org)); n != 0 {
		t.Errorf("positions are not without gaps: %d", n)
	}
	if n := inTwoPhases(); n > before {
		t.Errorf("%d transactions were committed in two phases", n-before)
	}
	// Citus forgets such transactions after a minute.
	no := 1000000
	testwait.Until(t, "a transaction in two phases is counted", func() bool {
		no++
		storetest.Exec(t, s, `INSERT INTO patient_gone (org_no, patient_no, id, kind, gone_at)
			SELECT CAST($1 AS BIGINT), no, CAST(CAST(no AS TEXT) AS BYTEA), 1, 0 FROM unnest(ARRAY[CAST($2 AS BIGINT)]) AS no`, int64(who.Org), no)
		return inTwoPhases() > before
	})
}
