package patients_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/strictjson"
	"anodyne.example/anodyne/internal/testwait"
)

func aliasChange(action audit.Action) journal.Change {
	return journal.Change{Audit: audit.Entry{At: recordNow, Actor: "test", Action: action}}
}

func addAlias(ctx context.Context, o store.Org, name, code string) (id.Alias, error) {
	a := patients.Alias{ID: id.New[id.AliasKind](recordNow), Alias: pain.Alias{Name: name, RxNormCode: code}, CreatedBy: "cli_1", CreatedAt: recordNow}
	_, err := o.CreateAlias(ctx, &a, aliasChange(audit.AliasCreate), nil, idempotency.Outcome{})
	return a.ID, err
}

func removeAlias(ctx context.Context, o store.Org, aliasID id.Alias) error {
	return o.DeleteAlias(ctx, aliasID, func(pain.Alias) journal.Change { return aliasChange(audit.AliasDelete) })
}

// houseMedicine makes a record of a medicine as the API does.
func houseMedicine(patientID id.Patient, aliases *pain.Aliases, name string) (pain.Record, error) {
	object, err := strictjson.Parse([]byte(`{"data_type":"medications","recorded_at":"2025-06-01T09:00:00Z","value":{"name":"` + name + `","quantity":180,"days_supply":30}}`))
	if err != nil {
		return pain.Record{}, err
	}
	records, _, err := pain.NewRecords(object, pain.Intake{PatientID: patientID, NewID: func() id.Record { return id.New[id.RecordKind](recordNow) }, Now: recordNow, Aliases: aliases})
	if err != nil {
		return pain.Record{}, err
	}
	return records[0], nil
}

// take stores a medicine as the API does, and returns the number of attempts.
func take(ctx context.Context, o store.Org, patientID id.Patient, name string) (tries int, err error) {
	for tries = 1; ; tries++ {
		_, aliases, err := o.Intake(ctx, patientID)
		if err != nil {
			return tries, err
		}
		rec, err := houseMedicine(patientID, aliases, name)
		if err != nil {
			return tries, err
		}
		_, err = o.AddRecords(ctx, patientID, []pain.Record{rec}, clinicalChange(audit.ClinicalCreate, rec), nil, recordNow, idempotency.Outcome{})
		if !patients.AliasesChanged(err) {
			return tries, err
		}
	}
}

// bases lists what a patient's medications are derived from.
func bases(t *testing.T, o store.Org, patientID id.Patient) (list []string) {
	t.Helper()
	records, _ := listed(t, o, patientID, patients.RecordQuery{Page: 1, Limit: 100, Types: []pain.DataType{pain.TypeMedications}})
	for _, r := range records {
		d, err := pain.DerivedOf(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d.Basis)
	}
	return list
}

func TestAliasesOfAnOrganisation(t *testing.T) {
	patients.FewAliases(t, 3)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		stranger := storetest.Client(t, all[0], "Theirs")
		o, other, theirs := all[0].For(&who), all[1].For(&who), all[0].For(&stranger)
		blue, err := addAlias(t.Context(), o, "Blue Pills", "1049621")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := addAlias(t.Context(), other, "blue-pills", "7804"); !fault.Is(err, fault.Conflict) {
			t.Errorf("the same name: %v", err)
		}
		if _, err := addAlias(t.Context(), theirs, "blue pills", "7804"); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"éa", "zz"} {
			if _, err := addAlias(t.Context(), other, name, "7804"); err != nil {
				t.Error(err)
			}
		}
		if _, err := addAlias(t.Context(), o, "one more", "7804"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "3 aliases") {
			t.Errorf("beyond the limit: %v", err)
		}
		// Both nodes see all of them at once, in the same order.
		for _, o := range []store.Org{o, other} {
			list, total, err := o.AliasPage(t.Context(), 1, 2)
			if err != nil || total != 3 || len(list) != 2 || list[0].ID != blue || list[0].Name != "Blue Pills" || list[1].Name != "éa" || list[0].CreatedBy != "cli_1" || !list[0].CreatedAt.Equal(recordNow) {
				t.Errorf("%+v, %d, %v", list, total, err)
			}
			if a, err := o.Aliases(t.Context()); err != nil || a.Version() != 3 || a.Code("BLUE PILLS") != "1049621" || a.Code("ea") != "7804" || a.Code("pills") != "" {
				t.Errorf("%+v, %v", a, err)
			}
		}
		if a, err := theirs.Aliases(t.Context()); err != nil || a.Version() != 1 || a.Code("blue pills") != "7804" || a.Code("zz") != "" {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := theirs.Alias(t.Context(), blue); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		if err := removeAlias(t.Context(), theirs, blue); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		if _, err := theirs.UpdateAlias(t.Context(), blue, nil); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		// A change without effect leaves the version.
		for i, code := range []string{"1049621", "7804"} {
			a, err := other.UpdateAlias(t.Context(), blue, func(old pain.Alias) (pain.Alias, *journal.Change, error) {
				if old.RxNormCode == code {
					return old, nil, nil
				}
				c := aliasChange(audit.AliasUpdate)
				return pain.Alias{Name: old.Name, RxNormCode: code}, &c, nil
			})
			if err != nil || a.RxNormCode != code {
				t.Errorf("%+v, %v", a, err)
			}
			if a, err := o.Aliases(t.Context()); err != nil || a.Version() != 3+int64(i) || a.Code("blue pills") != code {
				t.Errorf("%+v, %v", a, err)
			}
		}
		if err := removeAlias(t.Context(), other, blue); err != nil {
			t.Error(err)
		}
		if a, err := o.Aliases(t.Context()); err != nil || a.Version() != 5 || a.Code("blue pills") != "" {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// A medication derived with aliases that have changed since is not stored as it
// is, on any path; other records are not affected.
func TestMedicationsUnderstoodBeforeAChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o, other := all[0].For(&who), all[1].For(&who)
		p := storetest.AddPatient(t, o, "A")
		kept, err := houseMedicine(p.ID, nil, "calm mix")
		if err != nil {
			t.Fatal(err)
		}
		addRecords(t, o, kept)
		_, before, err := o.Intake(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := houseMedicine(p.ID, before, "calm mix")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := addAlias(t.Context(), other, "Calm Mix", "6470"); err != nil {
			t.Fatal(err)
		}
		key := &idempotency.Once{Key: []byte("key"), Body: []byte("body")}
		if _, err := o.AddRecords(t.Context(), p.ID, []pain.Record{rec}, clinicalChange(audit.ClinicalCreate, rec), key, recordNow, idempotency.Outcome{}); !patients.AliasesChanged(err) {
			t.Errorf("added: %v", err)
		}
		if _, err := correct(t, o, p.ID, kept.ID, `{"value":{"name":"calm mix"}}`); !patients.AliasesChanged(err) {
			t.Errorf("corrected: %v", err)
		}
		if _, err := correct(t, o, p.ID, kept.ID, `{"entered_in_error":true,"reason":"x"}`); err != nil {
			t.Errorf("taken back: %v", err)
		}
		addRecords(t, o, newRecord(p.ID, pain.TypePainScores, recordNow))
		if tries, err := take(t.Context(), o, p.ID, "calm mix"); tries != 1 || err != nil {
			t.Errorf("%d tries, %v", tries, err)
		}
		// An import derives it again by itself.
		var imported string // as the last change has it; an earlier one is prepared with what the line says
		group := patients.ImportedRecords{Patient: p.ID, Hashes: []patients.ImportHash{hashOf(1)}, Records: []pain.Record{rec}, Change: func(added []pain.Record) journal.Change {
			imported = added[0].Value.JSON()
			return clinicalChange(audit.ClinicalCreate, added...)
		}}
		if added, _, err := o.ImportRecords(t.Context(), []patients.ImportedRecords{group}); added != 1 || err != nil || !strings.Contains(imported, `"basis":"alias"`) {
			t.Errorf("%d imported as %s, %v", added, imported, err)
		}
		if got := bases(t, o, p.ID); fmt.Sprint(got) != "[alias alias]" {
			t.Errorf("the medications rest on %v", got)
		}
		if err := all[0].System().Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		derivedRight(t, all[0].System())
	})
}

// Adding, changing and removing an alias restarts the derivation, wherever it
// was. It continues after an interruption, and writes only what differs.
func TestAliasesBeginTheDerivationAnew(t *testing.T) {
	patients.ShortDerivation(t)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		stranger := storetest.Client(t, all[0], "Theirs")
		o, sys := all[0].For(&who), all[0].System()
		var patients []id.Patient
		for i, name := range []string{"calm mix", "ibuprofen", "calm mix", "oxycodone", "calm mix"} {
			p := storetest.AddPatient(t, o, fmt.Sprint(i))
			if _, err := take(t.Context(), o, p.ID, name); err != nil {
				t.Fatal(err)
			}
			patients = append(patients, p.ID)
		}
		foreign := storetest.AddPatient(t, all[0].For(&stranger), "Foreign")
		if _, err := take(t.Context(), all[0].For(&stranger), foreign.ID, "calm mix"); err != nil {
			t.Fatal(err)
		}
		rederive := func() {
			t.Helper()
			storetest.Together(t, 2, func(node int) error { return all[node].System().Rederive(t.Context()) })
			derivedRight(t, sys)
		}
		want := func(wanted ...string) {
			t.Helper()
			for i, p := range patients {
				if got := bases(t, o, p); len(got) != 1 || got[0] != wanted[i] {
					t.Errorf("patient %d rests on %v, want %s", i, got, wanted[i])
				}
			}
			if got := bases(t, all[0].For(&stranger), foreign.ID); got[0] != "none" {
				t.Errorf("another organisation's medicine rests on %v", got)
			}
		}
		rederive()
		calm, err := addAlias(t.Context(), o, "calm mix", "6470")
		if err != nil {
			t.Fatal(err)
		}
		// A check detects it before the derivation does.
		if problems, _, err := sys.CheckDerived(t.Context(), false, storetest.NoProgress); err != nil || len(problems) != 3 || !strings.Contains(problems[0], "(class unclassified, now benzodiazepine)") {
			t.Errorf("%q, %v", problems, err)
		}
		// It was interrupted after the third patient, and continues there.
		storetest.Exec(t, all[0], `UPDATE derivation SET patient_no = 3 WHERE aliases = 1`)
		if err := sys.Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("none", "name", "none", "name", "alias")
		// The next change starts with the first.
		if _, err := addAlias(t.Context(), o, "another", "7804"); err != nil {
			t.Fatal(err)
		}
		rederive()
		want("alias", "name", "alias", "name", "alias")
		storetest.Settle(t, all[0])
		lines, _, err := o.Audit(t.Context(), journal.AuditCursor{}, 100, journal.AuditFilter{Action: audit.ClinicalDerive})
		if err != nil || len(lines) != 3 {
			t.Errorf("%d audit lines of three patients, %v", len(lines), err)
		}

		if err := removeAlias(t.Context(), o, calm); err != nil {
			t.Fatal(err)
		}
		if problems, repaired, err := sys.CheckDerived(t.Context(), true, storetest.NoProgress); err != nil || len(problems) > 0 || repaired != 3 {
			t.Errorf("%d repaired, %q, %v", repaired, problems, err)
		}
		want("none", "name", "none", "name", "none")
		rederive()
	})
}

// A round that is interrupted continues later, and one whose aliases change
// meanwhile starts again.
func TestDerivationIsEndedAndOvertaken(t *testing.T) {
	patients.ShortDerivation(t)
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			database := storetest.Database(t, engine)
			var derived atomic.Int64 // patients that were rewritten
			var middle atomic.Pointer[func()]
			database.Observe = func(_ context.Context, sql ...string) {
				for _, s := range sql {
					if strings.HasPrefix(s, "UPDATE clinical_record SET value") && derived.Add(1) == 3 {
						if do := middle.Load(); do != nil {
							(*do)()
						}
					}
				}
			}
			s, other := storetest.Start(t, database), storetest.Start(t, storetest.Node(t, database))
			who := storetest.Client(t, s, "Ours")
			o := s.For(&who)
			var patients []id.Patient
			for i := range 6 {
				p := storetest.AddPatient(t, o, fmt.Sprint(i))
				if _, err := take(t.Context(), o, p.ID, "calm mix"); err != nil {
					t.Fatal(err)
				}
				patients = append(patients, p.ID)
			}
			calm, err := addAlias(t.Context(), o, "calm mix", "6470")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			end := func() { cancel() }
			middle.Store(&end)
			if err := s.System().Rederive(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("it was not ended: %v", err)
			}
			if n := storetest.Number(t, s, `SELECT patient_no FROM derivation WHERE aliases = 1`); n < 1 || n > 3 {
				t.Errorf("%d patients are noted", n)
			}
			if err := other.System().Rederive(t.Context()); err != nil {
				t.Fatal(err)
			}
			derivedRight(t, s.System())
			for _, p := range patients {
				if got := bases(t, o, p); got[0] != "alias" {
					t.Errorf("%v", got)
				}
			}
			// Now the alias is removed while others are derived for a second
			// one. On SQLite the writer itself calls the observer, so it cannot
			// wait here.
			if err := removeAlias(t.Context(), o, calm); err != nil {
				t.Fatal(err)
			}
			derived.Store(0)
			overtaken := make(chan error, 1)
			overtake := func() {
				go func() {
					_, err := addAlias(context.WithoutCancel(t.Context()), other.For(&who), "calm mix", "3322")
					overtaken <- err
				}()
			}
			middle.Store(&overtake)
			if err := s.System().Rederive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-overtaken; err != nil {
				t.Fatal(err)
			}
			if err := s.System().Rederive(t.Context()); err != nil {
				t.Fatal(err)
			}
			derivedRight(t, s.System())
			for _, p := range patients {
				if got := bases(t, o, p); got[0] != "alias" {
					t.Errorf("%v", got)
				}
			}
		})
	}
}

// While nodes add medications, change aliases and derive again, nothing derived
// with outdated aliases remains.
func TestAliasesChangeUnderLoad(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		var patients []id.Patient
		for i := range 8 {
			patients = append(patients, storetest.AddPatient(t, all[0].For(&who), fmt.Sprint(i)).ID)
		}
		ctx, stop := context.WithCancel(t.Context())
		var background sync.WaitGroup
		for _, s := range all {
			background.Go(func() {
				for ctx.Err() == nil {
					if err := s.System().Rederive(ctx); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			})
		}
		var again atomic.Int64
		storetest.Together(t, 6, func(i int) error {
			o := all[i%2].For(&who)
			var mine id.Alias
			var err error
			for n := range 15 {
				if i < 2 { // these change the aliases, each its own
					if mine, err = addAlias(t.Context(), o, []string{"calm mix", "blue pills"}[i], "6470"); err != nil {
						return err
					}
					if n == 14 && i == 0 {
						continue // the last one stays
					}
					if err := removeAlias(t.Context(), o, mine); err != nil {
						return err
					}
					continue
				}
				tries, err := take(t.Context(), o, patients[(i+n)%len(patients)], []string{"calm mix", "blue pills"}[n%2])
				if err != nil {
					return err
				}
				again.Add(int64(tries - 1))
			}
			return nil
		})
		stop()
		background.Wait()
		t.Logf("%d medications were understood again", again.Load())
		if err := all[0].System().Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		derivedRight(t, all[1].System())
	})
}

// The worker of a node derives again at once after its own changes, and soon
// after those of another node.
func TestWorkersDeriveAfterAChange(t *testing.T) {
	patients.AskForAliases(t, 10*time.Millisecond)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		if _, err := take(t.Context(), o, p.ID, "calm mix"); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var worker sync.WaitGroup
		worker.Go(func() {
			if err := all[0].System().KeepDerived(ctx); err != nil {
				t.Error(err)
			}
		})
		for _, s := range all {
			alias, err := addAlias(t.Context(), s.For(&who), "calm mix", "6470")
			if err != nil {
				t.Fatal(err)
			}
			testwait.Until(t, "the medicine is known", func() bool { return bases(t, o, p.ID)[0] == "alias" })
			if err := removeAlias(t.Context(), s.For(&who), alias); err != nil {
				t.Fatal(err)
			}
			testwait.Until(t, "the medicine is unknown again", func() bool { return bases(t, o, p.ID)[0] == "none" })
		}
		stop()
		worker.Wait()
	})
}

// A change of the aliases waits for a medication derived without it that
// another node is storing: otherwise nobody would derive it again.
func TestAChangeWaitsForMedications(t *testing.T) {
	var barrier storetest.Barrier
	database := storetest.Database(t, storetest.Postgres)
	database.Patience = testwait.Bound
	slow := database
	barrier.Watch(&slow)
	s, other := storetest.Start(t, slow), storetest.Start(t, storetest.Node(t, database))
	who := storetest.Client(t, s, "Ours")
	p := storetest.AddPatient(t, s.For(&who), "A")
	arrived, release := barrier.Hold("INSERT INTO clinical_record", 1)
	kept := make(chan error, 1)
	go func() {
		tries, err := take(t.Context(), s.For(&who), p.ID, "calm mix")
		if err == nil && tries != 1 {
			err = fmt.Errorf("it took %d tries", tries)
		}
		kept <- err
	}()
	<-arrived // the version was read, the record is not stored yet
	changed := make(chan error, 1)
	go func() {
		_, err := addAlias(t.Context(), other.For(&who), "calm mix", "6470")
		if err == nil {
			err = other.System().Rederive(t.Context())
		}
		changed <- err
	}()
	// This only gives a failure time to happen; success does not depend on it.
	var err error
	select {
	case err = <-changed:
		t.Error("the aliases changed beside the medication")
		changed <- err
	case <-time.After(100 * time.Millisecond):
	}
	release()
	if err := errors.Join(<-kept, <-changed); err != nil {
		t.Fatal(err)
	}
	if got := bases(t, s.For(&who), p.ID); fmt.Sprint(got) != "[alias]" {
		t.Errorf("the medication rests on %v", got)
	}
	derivedRight(t, s.System())
}
