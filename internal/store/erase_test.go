package store_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// marks returns the next of the texts that must be gone after an erasure.
type marks struct{ list []string }

func (m *marks) next() string {
	m.list = append(m.list, fmt.Sprintf("zqx%02dmarker", len(m.list)))
	return m.list[len(m.list)-1]
}

// planted is a patient about whom there is something everywhere.
type planted struct {
	marks
	patient, merged id.Patient
	reports         []id.Report
	files           []string // the marks in files of reports
}

// plant creates a patient, and another one that is merged into it, with a mark
// in every field, report, answer, stored response and audit detail.
func plant(t *testing.T, s *store.Store, who *access.Principal) *planted {
	t.Helper()
	o := s.For(who)
	x := &planted{}
	add := func() id.Patient {
		p := storetest.Patient(x.next() + " " + x.next())
		p.Gender, p.Contact = x.next(), pain.Contact{Email: x.next() + "@example.org", Phone: x.next()}
		p.MedicalHistory = pain.NewHistory(pain.HistoryEntry{Condition: x.next(), Notes: x.next()})
		key := &idempotency.Once{Key: []byte(p.ID.String()), Body: []byte("b")}
		out := idempotency.Outcome{Status: 201, Location: "/v1/patients/" + p.ID.String(), Body: []byte(`{"name":"` + p.Name + `"}`)}
		storetest.Must[idempotency.Outcome](t)(o.CreatePatient(t.Context(), &p, storetest.Created(p), key, out))
		key = &idempotency.Once{Key: []byte("fhir " + p.ID.String()), Body: []byte("b")}
		out = idempotency.Outcome{Status: 201, Location: "/fhir/R4/Observation/1", Body: []byte(`{"subject":{"reference":"Patient/` + strings.TrimPrefix(p.ID.String(), "pat_") + `"},"valueString":"` + x.next() + `"}`)}
		other := storetest.Patient("Somebody else")
		storetest.Must[idempotency.Outcome](t)(o.CreatePatient(t.Context(), &other, storetest.Created(other), key, out))
		rec := storetest.Record(t, p.ID, fmt.Sprintf(`{"data_type":"notes","recorded_at":"2024-05-01","value":{"text":%q},"notes":%q,"author":%q,"encounter_id":%q}`,
			x.next(), x.next(), x.next(), x.next()))
		if err := storetest.AddRecords(t.Context(), o, p.ID, rec); err != nil {
			t.Fatal(err)
		}
		storetest.Must[pain.Patient](t)(o.UpdatePatient(t.Context(), p.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
			before := old.Name
			old.Name = x.next()
			old.Version++
			change := storetest.Updated(old)
			change.Audit.Details = audit.Changes([]audit.Change{{Field: "name", Before: before, After: old.Name}})
			return old, &change, nil
		}))
		return p.ID
	}
	x.patient, x.merged = add(), add()
	if err := storetest.Merge(t.Context(), o, x.merged, x.patient); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []reporttype.Type{reporttype.PatientSummary, reporttype.Stewardship} {
		rep := storetest.NewReport(who, kind, time.Now().Add(-time.Hour)) // it waited for long
		rep.Title = x.next()
		if kind == reporttype.PatientSummary {
			rep.Patient = x.merged
		}
		change := storetest.ReportChange(rep, time.Now(), audit.ReportCreate)
		change.Audit.Details = journal.Details("title", rep.Title)
		key := &idempotency.Once{Key: []byte(rep.ID.String()), Body: []byte("b")}
		storetest.Must[idempotency.Outcome](t)(o.CreateReport(t.Context(), &rep, change, key, idempotency.Outcome{Status: 201, Body: []byte(`{"id":"` + rep.ID.String() + `","title":"` + x.next() + `"}`)}))
		x.files = append(x.files, x.next())
		claim := storetest.ClaimReport(t, s)
		if err := errors.Join(claim.Append(t.Context(), 0, []byte("a file about "+x.files[len(x.files)-1])), claim.Complete(t.Context(), 10, []byte("sum"), time.Hour)); err != nil {
			t.Fatal(err)
		}
		x.reports = append(x.reports, rep.ID)
	}
	storetest.Settle(t, s)
	answer := x.next()
	attempts := binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(nil, 1), 2), 500)
	for _, text := range []string{answer, x.next()} {
		attempts = append(binary.AppendUvarint(attempts, uint64(len(text))), text...)
	}
	storetest.Exec(t, s, `INSERT INTO webhook_delivery (org_no, webhook_no, id, pos, event_id, event_type, status, created_at, next_attempt_at, tries, attempts, payload)
		SELECT org_no, 1, event_id, pos, event_id, event_type, 1, at, NULL, 1, $2, NULL FROM journal
		WHERE org_no = $1 AND event_id IS NOT NULL AND subject IN ($3, $4)`, int64(who.Org), attempts, x.patient.Bytes(), x.merged.Bytes())
	storetest.Exec(t, s, `INSERT INTO patient_identifier (org_no, system, value, patient_no) SELECT org_no, 'mrn', $3, patient_no FROM patient WHERE org_no = $1 AND id = $2`,
		int64(who.Org), x.patient.Bytes(), x.next())
	return x
}

// erase erases a patient as a request does.
func erase(t *testing.T, o store.Org, patientID id.Patient) error {
	t.Helper()
	return o.ErasePatient(t.Context(), patientID, "asked for it", audit.Entry{At: time.Now(), Actor: "test"})
}

// rows returns all rows of all tables as bytes.
func rows(t *testing.T, s *store.Store) []byte {
	t.Helper()
	var all []byte
	if err := s.System().Dump(t.Context(), func(d *engine.Dump) error {
		for _, table := range d.Tables {
			if err := d.Rows(table, func(r engine.Row) error {
				all = table.AppendRow(all, r)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// contents returns all files below folders.
func contents(t *testing.T, dirs ...string) []byte {
	t.Helper()
	var all []byte
	for _, dir := range dirs {
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			all = append(all, content...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func (x *planted) found(in []byte) (list []string) {
	for _, mark := range x.list {
		if bytes.Contains(in, []byte(mark)) {
			list = append(list, mark)
		}
	}
	return list
}

// After an erasure, nothing of the patient is in the tables, in the file, its log
// and its free pages, or in the data directory. What stays says that it was done,
// and the log verifies on every node.
func TestErase(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s, other := storetest.Start(t, cfg), storetest.Start(t, storetest.Node(t, cfg))
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		stays := storetest.AddPatient(t, o, "Somebody else")
		x := plant(t, s, &who)
		if len(x.list) < 20 || len(x.found(rows(t, s))) != len(x.list) {
			t.Fatalf("%d marks are planted, and %d are there", len(x.list), len(x.found(rows(t, s))))
		}
		sealed := func(when string) {
			t.Helper()
			for i, node := range []*store.Store{s, other} {
				storetest.Settle(t, node)
				storetest.Must[[]journal.SealedHead](t)(node.System().Seal(t.Context()))
				watched, err := node.System().WatchSeals(t.Context())
				verified, verifyErr := node.System().VerifySeals(t.Context(), nil, nil)
				if len(watched)+len(verified) > 0 || err != nil || verifyErr != nil {
					t.Fatalf("%s, node %d: %q %q %v %v", when, i, watched, verified, err, verifyErr)
				}
			}
		}
		sealed("before")
		if err := erase(t, o, x.patient); err != nil {
			t.Fatal(err)
		}
		sealed("after")
		if left := x.found(rows(t, other)); !slices.Equal(left, x.files) {
			t.Errorf("in the tables: %v, want the files of reports %v, to be purged", left, x.files)
		}
		for _, patientID := range []id.Patient{x.patient, x.merged} {
			if _, err := o.Patient(t.Context(), patientID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s: %v", patientID, err)
			}
		}
		if err := erase(t, o, x.patient); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("again: %v", err)
		}
		for _, rep := range x.reports {
			if _, err := o.Report(t.Context(), rep); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("report %s: %v", rep, err)
			}
		}
		if _, err := o.Patient(t.Context(), stays.ID); err != nil {
			t.Error(err)
		}
		lines := storetest.AuditLines(t, o, journal.AuditFilter{})
		var last struct {
			Action, Resource string
			Details          struct{ Reason string }
		}
		newest := lines[len(lines)-1]
		if err := json.Unmarshal(newest, &last); err != nil || last.Action != "patient.erase" || last.Resource != x.patient.String() || last.Details.Reason != "asked for it" {
			t.Errorf("the last line is %s", newest)
		}
		events, _, err := o.Events(t.Context(), 0, 1000)
		if err != nil || events[len(events)-1].Type != event.PatientErased || string(events[len(events)-1].Data) != `{"patient_id":"`+x.patient.String()+`"}` {
			t.Errorf("events %+v, %v", events, err)
		}
		storetest.Clean(t, s)
		if err := errors.Join(s.System().FinishErasures(t.Context()), other.System().FinishErasures(t.Context())); err != nil {
			t.Fatal(err)
		}
		if left := x.found(rows(t, other)); len(left) > 0 {
			t.Errorf("in the tables: %v", left)
		}
		dirs := []string{cfg.DataDir}
		if s.Engine() == storetest.SQLite {
			dirs = append(dirs, filepath.Dir(storetest.FileOf(cfg)))
		}
		if left := x.found(contents(t, dirs...)); len(left) > 0 {
			t.Errorf("in the files: %v", left)
		}
		list, err := store.ReadErasures(store.ErasuresPath(cfg.DataDir))
		if err != nil || len(list) != 2 || list[0].Org != who.OrgID {
			t.Errorf("the list of erasures is %v, %v", list, err)
		}
		if info, err := os.Stat(store.ErasuresPath(cfg.DataDir)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if n := storetest.Number(t, s, `SELECT count(*) FROM setting WHERE name = 'rewrite_erased'`); n != 0 {
			t.Error("the mark is still there")
		}
	})
}

// The marks of imported lines are erased with the patient and those merged into
// it, but not while another patient was created in the same millisecond.
func TestEraseMarks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var all []id.Patient
		for i, at := range []time.Duration{0, time.Millisecond, time.Second, time.Second, time.Minute} {
			p := storetest.Patient(fmt.Sprint("Ada ", i))
			p.ID = id.New[id.PatientKind](day.Add(at))
			storetest.Must[idempotency.Outcome](t)(o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}))
			mark := patients.HashOf([]byte{byte(i)}).Beside(p.ID)
			storetest.Exec(t, s, `INSERT INTO import_line (org_no, line_hash) VALUES ($1, $2)`, int64(who.Org), mark[:])
			all = append(all, p.ID)
		}
		left := func(want int64) {
			t.Helper()
			if n := storetest.Number(t, s, `SELECT count(*) FROM import_line`); n != want {
				t.Errorf("%d marks, want %d", n, want)
			}
		}
		if err := storetest.Merge(t.Context(), o, all[4], all[0]); err != nil {
			t.Fatal(err)
		}
		left(6)
		for i, want := range []int64{3, 2, 2, 0} {
			if err := erase(t, o, all[i]); err != nil {
				t.Fatal(err)
			}
			left(want)
		}
	})
}

// A list that cannot be read does not keep the files of the database from being
// rewritten.
func TestFinishErasuresWithADamagedList(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		if err := errors.Join(erase(t, o, storetest.AddPatient(t, o, "Ada").ID), os.WriteFile(store.ErasuresPath(cfg.DataDir), []byte("pat_\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := s.System().FinishErasures(t.Context()); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("the error is %v", err)
		}
		if n := storetest.Number(t, s, `SELECT count(*) FROM setting WHERE name = 'rewrite_erased'`); n != 0 {
			t.Error("the files were not rewritten")
		}
	})
}

// A log that somebody altered is not sealed again by an erasure, and nothing is
// erased.
func TestEraseKeepsTampering(t *testing.T) {
	for name, sql := range map[string]string{
		"edited": `UPDATE journal SET audit = 'x' WHERE org_no = $1 AND pos = 2`, "deleted": `DELETE FROM journal WHERE org_no = $1 AND pos = 2`,
		"seal changed": `UPDATE journal_seal SET pos = 2 WHERE org_no = $1`, "seal gone": `DELETE FROM journal_seal WHERE org_no = $1`,
		"cut": `UPDATE journal_head SET pos = 2 WHERE org_no = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, open func() *store.Store) {
				s := open()
				who := storetest.Client(t, s, "General Hospital")
				o := s.For(&who)
				p := storetest.AddPatient(t, o, "Ada")
				storetest.AddPatient(t, o, "Bea")
				storetest.Settle(t, s)
				storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
				storetest.Exec(t, s, sql, int64(who.Org))
				if err := erase(t, o, p.ID); err == nil {
					t.Error("it was erased")
				}
				if _, err := o.Patient(t.Context(), p.ID); err != nil {
					t.Error(err)
				}
				if problems, err := s.System().VerifySeals(t.Context(), nil, nil); len(problems) == 0 || err != nil {
					t.Errorf("%q, %v", problems, err)
				}
			})
		})
	}
}

// A forged acceptance of a changed log is no erasure.
func TestForgedErasure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		x := plant(t, s, &who)
		storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
		if err := erase(t, o, x.patient); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, s, `UPDATE journal SET audit = 'x' WHERE org_no = $1 AND pos = 2`, int64(who.Org))
		storetest.Exec(t, s, `INSERT INTO seal_acceptance (accepted_at, document) SELECT accepted_at + 1000, document FROM seal_acceptance`)
		problems, err := s.System().WatchSeals(t.Context())
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), "not what was sealed") {
			t.Errorf("%q, %v", problems, err)
		}
	})
}

// An erasure while others write to the patient and seal the log: it ends, and
// nothing of the patient is left.
func TestEraseUnderWriters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.Run(t, all...)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "Ada")
		storetest.Together(t, 9, func(i int) error {
			if i == 8 {
				return erase(t, o, p.ID)
			}
			for n := range 20 {
				rec := storetest.Record(t, p.ID, `{"data_type":"pain_scores","recorded_at":"2024-01-01","value":{"score":4},"notes":"zqx of a writer"}`)
				err := storetest.AddRecords(t.Context(), all[n%2].For(&who), p.ID, rec)
				if fault.CodeOf(err) == fault.NotFound {
					return nil
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if bytes.Contains(rows(t, all[0]), []byte("zqx of a writer")) {
			t.Error("a record is left")
		}
		storetest.Clean(t, all[0])
	})
}

// An erasure while others request reports of the patient: none is left, and
// none can be requested afterwards.
func TestEraseUnderReports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.Run(t, all...)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "Ada")
		request := func(n int) error {
			rep := storetest.NewReport(&who, reporttype.PatientSummary, time.Now())
			rep.Patient, rep.Title = p.ID, "zqx of a report"
			_, err := all[n%2].For(&who).CreateReport(t.Context(), &rep, storetest.ReportChange(rep, time.Now(), audit.ReportCreate), nil, idempotency.Outcome{})
			return err
		}
		storetest.Together(t, 5, func(i int) error {
			if i == 4 {
				err := erase(t, o, p.ID)
				for fault.Is(err, fault.Unavailable) { // more reports came while it ran
					err = erase(t, o, p.ID)
				}
				return err
			}
			for n := range 20 {
				if err := request(n); fault.Is(err, fault.NotFound) {
					return nil
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		if err := request(0); !fault.Is(err, fault.NotFound) {
			t.Errorf("a report of an erased patient: %v", err)
		}
		if bytes.Contains(rows(t, all[0]), []byte("zqx of a report")) {
			t.Error("a report is left")
		}
		storetest.Clean(t, all[0])
	})
}

// Erasures are applied to an older state of the database by their list.
func TestApplyErasures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who, others := storetest.Client(t, s, "General Hospital"), storetest.Client(t, s, "Elsewhere")
		ours, theirs := storetest.AddPatient(t, s.For(&who), "Ada"), storetest.AddPatient(t, s.For(&others), "Bea")
		path := filepath.Join(t.TempDir(), "list")
		text := fmt.Sprintf("# a comment\n\n%s %s 2026-01-15T10:30:00Z\n%s\n%s %s\n", ours.ID, who.OrgID, id.New[id.PatientKind](time.Now()), theirs.ID, who.OrgID)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list := storetest.Must[[]patients.Erased](t)(store.ReadErasures(path))
		if n, err := s.System().ApplyErasures(t.Context(), list, storetest.NoProgress); n != 1 || err != nil {
			t.Errorf("%d erased, %v", n, err)
		}
		if _, err := s.For(&who).Patient(t.Context(), ours.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("ours: %v", err)
		}
		if _, err := s.For(&others).Patient(t.Context(), theirs.ID); err != nil {
			t.Errorf("that of an organisation that the line does not name: %v", err)
		}
		if err := os.WriteFile(path, []byte("pat_x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.ReadErasures(path); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("a wrong line: %v", err)
		}
	})
}
