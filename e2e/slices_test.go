package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestFaultSlices divides an organisation among three nodes, none of which has
// the memory for all of it. Every response equals, byte for byte, that of a node
// with enough memory: at first, after a change, and after a node was killed.
func TestFaultSlices(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "an organisation larger than memory")
	s := newService(t, storetest.Postgres)
	whole := s.node(0)
	app := s.register("enterprise")
	s.must("import", scores(t, 200, 20))
	multiply(t, s, 200, 200)

	const memory = "13MiB" // for one slice of three, and for two thirds of the organisation
	sharing := make([]*node, 3)
	for i := range sharing {
		sharing[i] = s.launch(i+1, "--cohort-memory", memory, "--node-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	}
	for _, n := range sharing {
		n.ready()
	}
	reference := whole.ehr(t, app)
	today := time.Now().UTC().Format(time.DateOnly) // the same for all, even at midnight
	equal := func(nodes []*node) {
		t.Helper()
		for _, query := range slicedQueries {
			query += "end_date=" + today
			want := withoutTime(reference.get(query))
			for i, n := range nodes {
				if got := withoutTime(n.ehr(t, app).get(query)); got != want {
					t.Errorf("%s on node %d: %s, want %s", query, i+1, got, want)
				}
			}
		}
	}
	eventually(t, patience, "each node has a slice", func() bool {
		sharing[0].ehr(t, app).get(slicedQueries[0] + "end_date=" + today)
		for _, n := range sharing {
			if metric(t, n, `anodyne_cohort_slices`) != 1 {
				return false
			}
		}
		return true
	})
	equal(sharing)
	if answered := metric(t, sharing[1], `anodyne_cohort_node_queries_total{result="answered"}`); answered == 0 {
		t.Error("node 2 has asked nobody")
	}

	// The change is in the slice of an imported patient, and of a new one.
	changing := sharing[0].ehr(t, app).client()
	old, err := changing.Patients(t.Context(), client.PatientQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	born, err := changing.CreatePatient(t.Context(), client.NewPatient{Name: "New", DateOfBirth: "1950-02-01", Gender: "female"})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{old.Data[0].ID, born.ID} {
		if _, err := changing.AddRecord(t.Context(), id, client.NewRecord{DataType: "pain_scores", Value: 9}); err != nil {
			t.Fatal(err)
		}
	}
	equal(sharing)

	sharing[2].kill()
	equal(sharing[:2])
}

var slicedQueries = []string{
	"/v1/analytics/outcomes?", "/v1/analytics/outcomes?gender=female&interval=week&", "/v1/analytics/outcomes?age_min=50&adjust=case_mix&",
	"/v1/analytics/population-health?", "/v1/analytics/population-health?gender=male&",
}

var generatedAt = regexp.MustCompile(`"generated_at":"[^"]*"`)

func withoutTime(body []byte) string { return generatedAt.ReplaceAllString(string(body), "") }

// multiply gives each of the first patients, numbered from 1, that many copies
// with their own gender. Importing them all would take minutes.
func multiply(t *testing.T, s *service, patients, copies int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	from := fmt.Sprintf(`, generate_series(1, %d) AS k WHERE patient_no <= %d`, copies-1, patients)
	for _, sql := range []string{
		fmt.Sprintf(`INSERT INTO patient (org_no, patient_no, id, version, created_at, name, date_of_birth, gender, email, phone, medical_history)
			SELECT org_no, patient_no + k * %d, decode(md5(encode(id, 'hex') || k), 'hex'), version, created_at, name, date_of_birth,
			(ARRAY['female', 'male', 'other'])[k %% 3 + 1], email, phone, medical_history FROM patient`, patients) + from,
		fmt.Sprintf(`INSERT INTO patient_series (org_no, patient_no, year, bytes)
			SELECT org_no, patient_no + k * %d, year, bytes FROM patient_series`, patients) + from,
		`UPDATE org_counter SET patients = (SELECT max(patient_no) FROM patient)`,
		`UPDATE derivation SET patient_no = (SELECT max(patient_no) FROM patient)`,
		`ANALYZE`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%v: %s", err, sql)
		}
	}
}

// metric returns the value of a metric of a node, 0 if there is none.
func metric(t *testing.T, n *node, name string) float64 {
	t.Helper()
	status, text := fetch(t, n.admin+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("metrics: %d", status)
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
	}
	return 0
}
