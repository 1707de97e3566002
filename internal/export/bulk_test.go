package export

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// bulk writes a bulk export into memory and returns its lines by table. Each
// line is a resource that can be read back.
func bulk(t testing.TB, o store.Org, b Bulk, now time.Time) map[string][][]byte {
	t.Helper()
	folder := newBox()
	made, err := RunBulk(t.Context(), o, b, fhir.Mapping{}, now, folder, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][][]byte{}
	for _, f := range made.Files {
		content := folder.files[f.Name].Bytes()
		lines := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
		if int64(len(content)) != f.Size || int64(len(lines)) != f.Rows || f.Rows == 0 {
			t.Errorf("%s has %d bytes and %d lines, want %d and %d", f.Name, len(content), len(lines), f.Size, f.Rows)
		}
		tables[f.Table] = append(tables[f.Table], lines...)
	}
	for table, lines := range tables {
		seen := map[string]bool{}
		for _, line := range lines {
			var r struct{ ResourceType, ID string }
			if err := json.Unmarshal(line, &r); err != nil || table != Deleted && (r.ResourceType != table || r.ID == "" || seen[r.ID]) {
				t.Errorf("%s: %v in %.200s", table, err, line)
			}
			seen[r.ID] = true
			if table == "Group" || table == Deleted {
				continue
			}
			if _, issues := (fhir.Mapping{}).Read(line); slices.ContainsFunc(issues, func(i fhir.Issue) bool { return i.Severity == "error" }) {
				t.Errorf("%s: %+v in %.300s", table, issues, line)
			}
		}
	}
	return tables
}

// subjects lists the patients that resources are about.
func subjects(t testing.TB, lines [][]byte) []string {
	t.Helper()
	found := map[string]bool{}
	for _, line := range lines {
		var r struct {
			ResourceType, ID string
			Subject          struct{ Reference string }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.ResourceType == "Patient" {
			r.Subject.Reference = "Patient/" + r.ID
		}
		found[r.Subject.Reference] = true
	}
	return slices.Sorted(maps.Keys(found))
}

func references(people ...pain.Patient) (list []string) {
	for _, p := range people {
		list = append(list, "Patient/"+fhir.ResourceID(p.ID))
	}
	return slices.Sorted(slices.Values(list))
}

func all(tables map[string][][]byte) (lines [][]byte) {
	for _, list := range tables {
		lines = append(lines, list...)
	}
	return lines
}

func addCohort(t testing.TB, o store.Org, c patients.Cohort) patients.Cohort {
	t.Helper()
	c.ID, c.CreatedAt = id.New[id.CohortKind](time.Now()), time.Now()
	change := journal.Change{Audit: audit.Entry{At: time.Now(), Actor: audit.Operator, Action: audit.CohortCreate, Resource: c.ID.String()}}
	if _, err := o.CreateCohort(t.Context(), &c, change, nil, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// Every resource of an organisation is exported once, and none of another. A
// group has exactly its patients. An export since a time has what changed, also
// by a correction, a retraction or a merge, and tells which patients are gone.
func TestBulkExport(t *testing.T) {
	old := splitBytes
	splitBytes = 2000
	t.Cleanup(func() { splitBytes = old })
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		north, south := storetest.Client(t, s, "north"), storetest.Client(t, s, "south")
		o := s.For(&north)
		now := time.Now().Add(-2 * time.Hour)
		var people []pain.Patient
		var records []pain.Record
		for _, name := range []string{"Ada A", "Bo B", "Cy C", "Di D", "Ed E"} {
			p := storetest.Patient(name)
			p.CreatedAt = now.UTC().Truncate(time.Second)
			if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
				t.Fatal(err)
			}
			people = append(people, p)
			for _, body := range []string{
				`{"data_type":"pain_scores","recorded_at":"2025-12-01T09:00:00Z","value":8}`,
				`{"data_type":"vitals","recorded_at":"2025-12-01T09:00:00Z","value":{"systolic":120,"diastolic":80,"heart_rate":70}}`,
				`{"data_type":"procedures","recorded_at":"2025-12-01T09:00:00Z","value":{"procedure_type":"nerve_block"}}`,
			} {
				rec := storetest.RecordAt(t, now, p.ID, body)
				records = append(records, rec)
				if err := storetest.AddRecordsAt(t.Context(), o, now, p.ID, rec); err != nil {
					t.Fatal(err)
				}
			}
		}
		storetest.AddPatient(t, s.For(&south), "Somebody else")
		list := addCohort(t, o, patients.Cohort{Name: "Some", Patients: []id.Patient{people[1].ID, people[3].ID}})

		everything := bulk(t, o, Bulk{Types: BulkTypes()}, now)
		if got := subjects(t, slices.Concat(everything["Patient"], everything["Observation"])); !slices.Equal(got, references(people...)) {
			t.Errorf("of %v", got)
		}
		if n := []int{len(everything["Patient"]), len(everything["Observation"]), len(everything["Procedure"]), len(everything["Group"])}; !slices.Equal(n, []int{5, 15, 5, 1}) || len(everything) != 5 {
			t.Errorf("%d of each in %d tables", n, len(everything))
		}
		if got := bulk(t, o, Bulk{Types: []string{"Procedure"}}, now); len(got) != 1 || len(got["Procedure"]) != 5 {
			t.Errorf("procedures: %v", slices.Collect(maps.Keys(got)))
		}
		group := bulk(t, o, Bulk{Types: PatientTypes(), Cohort: list.ID}, now)
		if got := subjects(t, all(group)); !slices.Equal(got, references(people[1], people[3])) || len(group["Observation"]) != 6 {
			t.Errorf("the group has %v", got)
		}
		if got := subjects(t, all(bulk(t, o, Bulk{Types: PatientTypes(), Cohort: list.ID, Patients: []id.Patient{people[3].ID, people[4].ID}}, now))); !slices.Equal(got, references(people[3])) {
			t.Errorf("of the group and the patients: %v", got)
		}

		// Nothing changed since, then a little.
		since := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
		now = time.Now()
		if got := bulk(t, o, Bulk{Types: PatientTypes(), Since: since}, now); len(got) != 0 {
			t.Errorf("since then: %v", slices.Collect(maps.Keys(got)))
		}
		if _, err := storetest.CorrectAt(t.Context(), o, now, people[0].ID, records[0].ID, `{"value":3}`); err != nil {
			t.Fatal(err)
		}
		if _, err := storetest.CorrectAt(t.Context(), o, now, people[0].ID, records[1].ID, `{"entered_in_error":true,"reason":"wrong"}`); err != nil {
			t.Fatal(err)
		}
		// One sign of several is retracted.
		removal, err := storetest.CorrectAt(t.Context(), o, now, people[2].ID, records[7].ID, `{"value":{"systolic":120,"diastolic":80}}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := statuses(t, bulk(t, o, Bulk{Types: PatientTypes(), Since: since, Patients: []id.Patient{people[2].ID}}, now)["Observation"]); got != "amended 2, entered-in-error 2" {
			t.Errorf("with a sign retracted: %s", got)
		}
		if _, err := storetest.CorrectAt(t.Context(), o, now, people[2].ID, removal.New.ID, `{"value":{"systolic":120,"diastolic":80,"heart_rate":70}}`); err != nil {
			t.Fatal(err)
		}
		if got := statuses(t, bulk(t, o, Bulk{Types: PatientTypes(), Since: since, Patients: []id.Patient{people[2].ID}}, now)["Observation"]); got != "amended 3, amended 3" {
			t.Errorf("with the sign again: %s", got)
		}
		changed := bulk(t, o, Bulk{Types: PatientTypes(), Since: since, Patients: []id.Patient{people[0].ID}}, now)
		if got := statuses(t, changed["Observation"]); got != "amended 2, entered-in-error 2, entered-in-error 2" || len(changed) != 1 {
			t.Errorf("changed: %s in %v", got, slices.Collect(maps.Keys(changed)))
		}
		if got := len(bulk(t, o, Bulk{Types: PatientTypes()}, now)["Observation"]); got != 13 {
			t.Errorf("%d observations without those entered in error", got)
		}
		if err := storetest.Merge(t.Context(), o, people[1].ID, people[2].ID); err != nil {
			t.Fatal(err)
		}
		if err := o.ErasePatient(t.Context(), people[4].ID, "asked", audit.Entry{At: time.Now(), Actor: audit.Operator}); err != nil {
			t.Fatal(err)
		}
		changed = bulk(t, o, Bulk{Types: PatientTypes(), Since: since}, now)
		var bundle struct {
			Entry []struct {
				Request struct {
					Method, URL string
					Extension   []struct{ ValueReference struct{ Reference string } }
				}
			}
		}
		if len(changed[Deleted]) != 1 || json.Unmarshal(changed[Deleted][0], &bundle) != nil || len(bundle.Entry) != 2 {
			t.Fatalf("deleted: %s", changed[Deleted])
		}
		merged, erased := bundle.Entry[0].Request, bundle.Entry[1].Request
		if merged.URL != references(people[1])[0] || merged.Method != "DELETE" || len(merged.Extension) != 1 || merged.Extension[0].ValueReference.Reference != references(people[2])[0] ||
			erased.URL != references(people[4])[0] || erased.Method != "DELETE" || len(erased.Extension) != 0 {
			t.Errorf("deleted: %s", changed[Deleted][0])
		}
		if got := subjects(t, changed["Procedure"]); !slices.Equal(got, references(people[2])) {
			t.Errorf("moved to %v", got)
		}
		if s.Engine() == storetest.SQLite {
			t.Run("judge", func(t *testing.T) {
				testneed.Long(t, "the FHIR validator")
				fhirtest.Judge(t, slices.Concat(all(everything), all(changed))...)
			})
		}
		if got := subjects(t, all(bulk(t, o, Bulk{Types: PatientTypes(), Cohort: list.ID}, now))); !slices.Equal(got, references(people[2], people[3])) {
			t.Errorf("after the merge the group has %v", got)
		}
	})
}

// statuses lists the statuses and versions of resources.
func statuses(t testing.TB, lines [][]byte) string {
	t.Helper()
	var list []string
	for _, line := range lines {
		var r struct {
			Status string
			Meta   struct{ VersionID string }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r.Status+" "+r.Meta.VersionID)
	}
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

// bulkPatients is how many patients of the demo, which has 500, are exported.
const bulkPatients = 40

// What synthetic patients become is valid, and every resource of a data type is
// in the export of its types alone.
func TestBulkExportOfSyntheticPatients(t *testing.T) {
	testneed.Long(t, "it maps thousands of resources")
	t.Parallel()
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	addSynthetic(t, o, bulkPatients, now)
	everything := bulk(t, o, Bulk{Types: BulkTypes()}, now)
	for _, name := range PatientTypes() {
		if alone := bulk(t, o, Bulk{Types: []string{name}}, now); !slices.EqualFunc(alone[name], everything[name], bytes.Equal) {
			t.Errorf("%s: %d alone, %d with the others", name, len(alone[name]), len(everything[name]))
		}
	}
	if got := len(everything[errorFile]); got != 0 {
		t.Errorf("%d errors: %s", got, everything[errorFile][0])
	}
	women, ok := analyticsParams(t, `{"gender":"female"}`, now), 0
	for _, line := range bulk(t, o, Bulk{Types: []string{"Patient"}, Filters: &women}, now)["Patient"] {
		if !bytes.Contains(line, []byte(`"gender":"female"`)) {
			t.Errorf("%.200s", line)
		}
		ok++
	}
	if ok == 0 || ok == bulkPatients {
		t.Errorf("%d women", ok)
	}
	fhirtest.Judge(t, all(everything)...)
}

// A folder that fails ends the export with its error.
func TestBulkExportFails(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	add(t, o, storetest.AddPatient(t, o, "Ada"), `{"data_type":"pain_scores","value":4}`)
	for _, after := range []int{0, 1} {
		if _, err := RunBulk(t.Context(), o, Bulk{Types: BulkTypes()}, fhir.Mapping{}, time.Now(), &failing{after}, func(int64, int64) {}); err == nil {
			t.Errorf("after %d: no error", after)
		}
	}
	if _, err := RunBulk(t.Context(), o, Bulk{Types: BulkTypes(), Cohort: id.New[id.CohortKind](time.Now())}, fhir.Mapping{}, time.Now(), newBox(), func(int64, int64) {}); err == nil {
		t.Error("a cohort that does not exist: no error")
	}
}
