package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// tripPatients is how many patients make the round trip: ANODYNE_TEST_PATIENTS
// if it is set, few otherwise.
func tripPatients(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ANODYNE_TEST_PATIENTS")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ANODYNE_TEST_PATIENTS=%s is not a number of patients", text)
	}
	return n
}

// TestFHIRRoundTrip exports an organisation by Bulk Data, imports the files
// into another one, and exports that: the files are equal except for identifiers
// and times of the server, and so is everything that /v1 answers.
func TestFHIRRoundTrip(t *testing.T) {
	testneed.Long(t, "dozens of patients with all types of records")
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, newService(t, engine), tripPatients(t))
		})
	}
}

func roundTrip(t *testing.T, s *service, count int) {
	n := s.node(0)
	from := n.ehr(t, s.register("enterprise", "--organization", "Ours"))
	to := n.ehr(t, s.register("enterprise", "--organization", "Theirs"))
	from.fillCharts(count)

	dir := t.TempDir()
	paths, sent := from.download(from.finished(from.startExport("/$export")), dir)
	total := 0
	for _, kind := range []string{"Patient", "Condition", "Observation", "QuestionnaireResponse", "MedicationRequest", "MedicationStatement", "Procedure", "AdverseEvent", "DocumentReference"} {
		if len(sent[kind]) == 0 {
			t.Errorf("the export has no %s", kind)
		}
		total += len(sent[kind])
	}
	if s.engine == storetest.SQLite { // the same on the other
		t.Run("judge", func(t *testing.T) { fhirtest.Judge(t, sample(sent)...) })
	}
	began := time.Now()
	out := s.must(append([]string{"import", "--organization", "Theirs"}, paths...)...)
	t.Logf("%d patients, %d resources, imported in %v", len(sent["Patient"]), total, time.Since(began).Round(time.Millisecond))
	wantImport(t, out, total, 0)

	_, back := to.download(to.finished(to.startExport("/$export")), t.TempDir())
	same(t, "exported resources", neutral(t, sent), neutral(t, back))
	ours, theirs := from.patients(), to.patients()
	if len(ours) != len(theirs) {
		t.Fatalf("%d patients, want %d", len(theirs), len(ours))
	}
	for i := range ours {
		same(t, "answers about patient "+strconv.Itoa(i), from.answers(ours[i]), to.answers(theirs[i]))
	}
	same(t, "analytics", from.analytics(), to.analytics())

	// Again, in another order, there is nothing to do.
	slices.Reverse(paths)
	wantImport(t, s.must(append([]string{"import", "--organization", "Theirs"}, paths...)...), 0, total)
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.check()
}

// fillCharts creates patients, several at a time, and merges some of them.
func (e *ehr) fillCharts(count int) {
	e.t.Helper()
	ids := make([]string, count)
	ok := e.t.Run("fill", func(t *testing.T) {
		for n := range count {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				ids[n] = e.in(t).chart(n)
			})
		}
	})
	if !ok {
		e.t.FailNow()
	}
	for n := 10; n < count; n += 10 {
		e.send(http.StatusOK, "POST", "/v1/patients/"+ids[n]+"/merge", `{"into":"`+ids[n-1]+`"}`)
	}
}

// wantImport checks the counts that an import printed.
func wantImport(t *testing.T, out string, imported, already int) {
	t.Helper()
	words := strings.Fields(strings.ReplaceAll(out, ",", ""))
	text := strings.Join(words, " ")
	if want := fmt.Sprintf("imported %d already present %d rejected 0 ", imported, already); !strings.Contains(text+" ", want) {
		t.Errorf("the import says %s, want %s", out, want)
	}
}

// sample returns some lines of each type: the validator is slow.
func sample(files map[string][]string) (all [][]byte) {
	for _, lines := range files {
		for _, line := range lines[:min(len(lines), 25)] {
			all = append(all, []byte(line))
		}
	}
	return all
}

// serverSet are the fields that the service sets.
var serverSet = []string{"id", "patient_id", "record_id", "corrects", "created_at", "updated_at", "generated_at", "version", "versionId", "lastUpdated"}

var ulid = regexp.MustCompile(`[0-9a-hjkmnp-tv-z]{26}`)

// plain returns JSON without what the server sets, with sorted names and with
// the patients' identifiers replaced.
func plain(t *testing.T, body []byte, patients map[string]int) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	strip(value)
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return ulid.ReplaceAllStringFunc(string(text), func(id string) string {
		if n, ok := patients[id]; ok {
			return fmt.Sprint("patient ", n)
		}
		return "id"
	})
}

func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range serverSet {
			delete(v, name)
		}
		for _, one := range v {
			strip(one)
		}
	case []any:
		for _, one := range v {
			strip(one)
		}
	}
}

// neutral returns the resources of an export in a form that does not depend
// on identifiers.
func neutral(t *testing.T, files map[string][]string) (all []string) {
	t.Helper()
	patients := map[string]int{}
	for n, line := range files["Patient"] {
		var p struct{ ID string }
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		patients[p.ID] = n
	}
	for kind, lines := range files {
		for n, line := range lines {
			text := plain(t, []byte(line), patients)
			if kind == "Patient" {
				text = fmt.Sprint("patient ", n, " ") + text
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// same compares sorted texts and shows the first that differ.
func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d, want %d", what, len(got), len(want))
	}
	shown := 0
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("%s:\n%s\nwant\n%s", what, got[i], want[i])
			if shown++; shown == 3 {
				return
			}
		}
	}
}

// patients lists the identifiers of all patients in order.
func (e *ehr) patients() (ids []string) {
	e.t.Helper()
	for page := 1; ; page++ {
		var list struct{ Data []made }
		if err := json.Unmarshal(e.get(fmt.Sprint("/v1/patients?limit=100&page=", page)), &list); err != nil {
			e.t.Fatal(err)
		}
		if len(list.Data) == 0 {
			return ids
		}
		for _, p := range list.Data {
			ids = append(ids, p.ID)
		}
	}
}

// answers returns what /v1 says about a patient.
func (e *ehr) answers(patient string) []string {
	e.t.Helper()
	path := "/v1/patients/" + patient
	var records []string
	for page := 1; ; page++ {
		var list struct{ Data []json.RawMessage }
		if err := json.Unmarshal(e.get(fmt.Sprint(path, "/clinical-data?limit=100&page=", page)), &list); err != nil {
			e.t.Fatal(err)
		}
		if len(list.Data) == 0 {
			break
		}
		for _, rec := range list.Data {
			records = append(records, plain(e.t, rec, nil))
		}
	}
	slices.Sort(records) // those of one time are ordered by identifier
	for _, part := range []string{"", "/summary", "/summary?as_of=" + time.Now().AddDate(0, -6, 0).Format(time.DateOnly)} {
		records = append(records, plain(e.t, e.get(path+part), nil))
	}
	return records
}

// analytics returns some outcomes and measures of the population.
func (e *ehr) analytics() (all []string) {
	e.t.Helper()
	year := pain.DateOf(time.Now()).String()
	for _, query := range []string{"outcomes", "outcomes?gender=female&interval=week", "outcomes?age_min=50&medication_class=opioid&adjust=case_mix", "outcomes?condition=M54",
		"population-health", "population-health?age_max=60&gender=male", "population-health?medication_class=opioid&end_date=" + year} {
		all = append(all, plain(e.t, e.get("/v1/analytics/"+query), nil))
	}
	return all
}
