package patients_test

import (
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

func execute(t *testing.T, o store.Org, w patients.Write) error {
	t.Helper()
	_, err := o.WriteAll(t.Context(), []patients.Write{w}, recordNow, nil, nil)
	return err
}

// addKept adds a record with what is kept beside it.
func addKept(t *testing.T, o store.Org, patientID id.Patient, kept string, identifiers ...patients.RecordIdentifier) pain.Record {
	t.Helper()
	rec := newRecord(patientID, pain.TypePainScores, recordNow)
	if err := execute(t, o, &patients.NewRecords{
		Patient: patientID, Records: []pain.Record{rec}, Extra: []patients.Extra{{Kept: kept, Identifiers: identifiers}},
		Change: clinicalChange(audit.ClinicalCreate, rec),
	}); err != nil {
		t.Fatal(err)
	}
	return rec
}

// All versions of a record are found by the first one, and by no other.
// Corrections through /v1 carry along what is kept. The migration finds the
// chains of an older database.
func TestVersionsOfRecord(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		first := addKept(t, o, p.ID, `{"Observation/":{"device":{}}}`)
		second, err := correct(t, o, p.ID, first.ID, `{"value":{"score":6}}`)
		if err != nil {
			t.Fatal(err)
		}
		third, err := correct(t, o, p.ID, second.New.ID, `{"value":{"score":7}}`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := correct(t, o, p.ID, third.New.ID, `{"entered_in_error":true,"reason":"wrong patient"}`); err != nil {
			t.Fatal(err)
		}
		addKept(t, o, p.ID, "")
		check := func(when string) {
			t.Helper()
			chain, err := o.FHIRVersions(t.Context(), first.ID)
			if err != nil || len(chain) != 3 {
				t.Fatalf("%s: %d versions, %v", when, len(chain), err)
			}
			for i, want := range []struct {
				id     id.Record
				number int64
			}{{first.ID, 1}, {second.New.ID, 2}, {third.New.ID, 4}} {
				if got := chain[i]; got.ID != want.id || got.Number != want.number || got.Root != first.ID || got.Kept != `{"Observation/":{"device":{}}}` {
					t.Errorf("%s: version %d is %+v", when, i, got)
				}
			}
			if _, err := o.FHIRVersions(t.Context(), second.New.ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: the second record: %v", when, err)
			}
		}
		check("as written")
		for _, inError := range []bool{false, true} {
			c, err := o.FHIRChart(t.Context(), p.ID, patients.FHIRQuery{Types: []pain.DataType{pain.TypePainScores}, InError: inError})
			want := 1
			if inError {
				want = 2
			}
			if err != nil || len(c.Records) != want {
				t.Errorf("chart: %d records, %v, want %d", len(c.Records), err, want)
			}
			of := 0
			if _, err := o.FHIRCharts(t.Context(), 1, 10, patients.FHIRQuery{Types: []pain.DataType{pain.TypePainScores}, InError: inError}, func(c *patients.FHIRChart) error {
				of += len(c.Records)
				return nil
			}); err != nil || of != want {
				t.Errorf("charts: %d records, %v, want %d", of, err, want)
			}
		}
		if pgcluster.Distributed() {
			return // the migration is older than the support for Citus
		}
		storetest.Exec(t, all[0], `UPDATE clinical_record SET root = NULL, version = NULL WHERE org_no > 0`)
		if problems, err := all[0].System().CheckTables(t.Context()); err != nil || len(problems) != 1 {
			t.Errorf("without roots: %v, %v", problems, err)
		}
		for _, stmt := range storetest.MigrationStatements(all[0].Engine(), "fhir") {
			if strings.Contains(stmt, "WITH RECURSIVE") {
				storetest.Exec(t, all[0], stmt)
			}
		}
		check("as migrated")
		if problems, err := all[0].System().CheckTables(t.Context()); err != nil || len(problems) != 0 {
			t.Errorf("as migrated: %v, %v", problems, err)
		}
	})
}

// Merged patients keep what is kept of both, and the identifiers of their
// records. Erased ones leave none.
func TestKeptIsMergedAndErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		create := func(name, kept string) pain.Patient {
			p := storetest.Patient(name)
			if err := execute(t, o, &patients.NewPatient{Patient: p, Extra: patients.Extra{Kept: kept}, Change: storetest.Created(p)}); err != nil {
				t.Fatal(err)
			}
			return p
		}
		from := create("A", `{"Patient/":{"address":{"now":1},"photo":{"now":2},"active":{"now":false},"link":{"now":[]},"_deceasedBoolean":{"now":{}},"text":{"now":{}}},"Condition/a":{"x":{"now":3},"text":{"now":5}}}`)
		into := create("B", `{"Patient/":{"address":{"now":4}}}`)
		number := patients.RecordIdentifier{Identifier: pain.Identifier{System: "lab", Value: "17"}, Resource: "Observation/"}
		rec := addKept(t, o, from.ID, "", number)
		if err := storetest.Merge(t.Context(), o, from.ID, into.ID); err != nil {
			t.Fatal(err)
		}
		p, err := o.FHIRPatient(t.Context(), into.ID)
		if want := `{"Condition/a":{"text":{"now":5},"x":{"now":3}},"Patient/":{"address":{"now":4},"photo":{"now":2}}}`; err != nil || p.Kept != want || p.Version != into.Version+1 {
			t.Errorf("version %d, kept %s, %v, want %s", p.Version, p.Kept, err, want)
		}
		// What is about the merged resource alone is not added, and changes nothing.
		if err := storetest.Merge(t.Context(), o, create("C", `{"Patient/":{"active":{"now":false},"address":{"now":6}}}`).ID, into.ID); err != nil {
			t.Fatal(err)
		}
		if same, err := o.FHIRPatient(t.Context(), into.ID); err != nil || same.Kept != p.Kept || same.Version != p.Version {
			t.Errorf("version %d, kept %s, %v", same.Version, same.Kept, err)
		}
		if _, err := o.FHIRPatient(t.Context(), from.ID); !fault.Is(err, fault.PatientMerged) {
			t.Errorf("the merged patient: %v", err)
		}
		chain, err := o.FHIRVersions(t.Context(), rec.ID)
		if err != nil || chain[0].PatientID != into.ID || !chain[0].Rederived() {
			t.Errorf("the record: %+v, %v", chain, err)
		}
		if list, err := o.IdentifiedRecords(t.Context(), "lab", "17"); err != nil || len(list) != 1 || list[0].Root != rec.ID {
			t.Errorf("by identifier: %+v, %v", list, err)
		}
		again := newRecord(into.ID, pain.TypePainScores, recordNow)
		add := patients.NewRecords{Patient: into.ID, Records: []pain.Record{again}, Change: clinicalChange(audit.ClinicalCreate, again), Sought: number}
		if err := execute(t, o, &add); !patients.Outdated(err) {
			t.Errorf("added again: %v", err)
		}
		if err := o.ErasePatient(t.Context(), into.ID, "asked", audit.Entry{At: recordNow, Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		if left := storetest.Number(t, all[0], `SELECT count(*) FROM record_identifier`); left != 0 {
			t.Errorf("%d identifiers are left", left)
		}
	})
}
