package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultBulkExport kills the service while it runs a bulk export, and cancels
// others that are running. After the restart an export completes with the same
// files as one that was not interrupted, and nothing else is left.
func TestFaultBulkExport(t *testing.T) {
	needsLoad(t)
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := newService(t, engine)
			x := &exporting{t: t, service: s, node: s.node(0), random: rand.New(rand.NewPCG(faulttest.Seed(t), 0))}
			x.app = s.register("enterprise")
			s.must("import", scores(t, 200, 60))
			x.want = x.files(x.ehr(t).startExport("/$export"))
			for range faulttest.Rounds(t, 1) {
				x.kill()
				x.cancel()
			}
			if code := x.node.terminate(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			s.check()
		})
	}
}

// exporting is a service whose exports are interrupted.
type exporting struct {
	t       *testing.T
	service *service
	node    *node
	app     application
	random  *rand.Rand
	want    map[string]string // checksums of the files
}

func (x *exporting) ehr(t *testing.T) *ehr { return x.node.ehr(t, x.app) }

// scores writes a file of patients, each with so many pain scores.
func scores(t *testing.T, patients, each int) string {
	t.Helper()
	var b strings.Builder
	for p := range patients {
		fmt.Fprintf(&b, `{"resourceType":"Patient","id":"p%d","name":[{"text":"P%d"}],"birthDate":"1961-03-14"}`+"\n", p, p)
		for i := range each {
			b.WriteString(scoreOf(fmt.Sprintf("Patient/p%d", p), fmt.Sprintf("s%d-%d", p, i), i))
			b.WriteByte('\n')
		}
	}
	path := filepath.Join(t.TempDir(), "resources.ndjson")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// scoreOf is a pain score as an Observation.
func scoreOf(patient, id string, n int) string {
	return fmt.Sprintf(`{"resourceType":"Observation","id":%q,"status":"final","code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]},"subject":{"reference":%q},"effectiveDateTime":"2025-%02d-%02dT08:00:00Z","valueQuantity":{"value":%d,"unit":"{score}"}}`,
		id, patient, n%12+1, n%28+1, n%11)
}

// files waits for an export and returns the checksums of its files, by name.
func (x *exporting) files(status string) map[string]string {
	x.t.Helper()
	e := x.ehr(x.t)
	sums := map[string]string{}
	for _, f := range e.finished(status).Output {
		sum := sha256.Sum256(e.get(f.URL))
		sums[f.URL[strings.LastIndexByte(f.URL, '/')+1:]] = hex.EncodeToString(sum[:])
	}
	if len(sums) != 2 {
		x.t.Errorf("the export has the files %v", sums)
	}
	return sums
}

// run starts an export and returns once it is being written.
func (x *exporting) run(e *ehr) (status string) {
	e.t.Helper()
	status = e.startExport("/$export")
	eventually(e.t, patience, "the export to run", func() bool {
		code, h, _, err := e.exchange(e.t.Context(), "GET", status, "")
		return err == nil && (code == http.StatusOK || strings.Contains(h.Get("X-Progress"), "%"))
	})
	return status
}

// kill kills the service while an export is running.
func (x *exporting) kill() {
	x.t.Helper()
	for attempt := 1; ; attempt++ {
		status := x.run(x.ehr(x.t))
		<-time.After(time.Duration(x.random.Int64N(int64(200 * time.Millisecond)))) // the moment of the kill
		x.node.kill()
		x.node = x.service.node(0)
		status = x.node.url + status[strings.Index(status, "/fhir/"):]
		e := x.ehr(x.t)
		code, _, _, err := e.exchange(x.t.Context(), "GET", status, "")
		if err != nil {
			x.t.Fatal(err)
		}
		if got := x.files(status); fmt.Sprint(got) != fmt.Sprint(x.want) {
			x.t.Errorf("the files are %v, want %v", got, x.want)
		}
		e.send(http.StatusAccepted, "DELETE", status, "")
		x.nothingLeft()
		if code == http.StatusAccepted {
			return // it was running
		}
		if attempt == 20 {
			x.t.Fatal("the export was always complete before the kill")
		}
	}
}

// cancel deletes an export while it is running.
func (x *exporting) cancel() {
	x.t.Helper()
	e := x.ehr(x.t)
	status := x.run(e)
	e.send(http.StatusAccepted, "DELETE", status, "")
	e.send(http.StatusNotFound, "GET", status, "")
	e.send(http.StatusNotFound, "DELETE", status, "")
	for name := range x.want {
		e.send(http.StatusNotFound, "GET", status+"/"+name, "")
	}
	x.nothingLeft()
	if got := x.files(e.startExport("/$export")); fmt.Sprint(got) != fmt.Sprint(x.want) {
		x.t.Errorf("after cancelling another, the files are %v, want %v", got, x.want)
	}
}

// nothingLeft waits until the database and the data directory have no files of
// exports except those of x.want.
func (x *exporting) nothingLeft() {
	x.t.Helper()
	dir := filepath.Join(x.service.dir, "node0") // see service.flags
	if x.service.engine == storetest.SQLite {
		dir = store.DefaultDataDir(x.service.database)
	}
	s := storetest.Start(x.t, store.Config{Database: x.service.database, DataDir: dir})
	defer func() {
		if err := s.Close(); err != nil {
			x.t.Error(err)
		}
	}()
	eventually(x.t, patience, "the parts of removed exports to be gone", func() bool {
		return storetest.Number(x.t, s, `SELECT count(*) FROM report_garbage`) == 0 &&
			storetest.Number(x.t, s, `SELECT count(*) FROM report_chunk c WHERE NOT EXISTS (SELECT 1 FROM report r WHERE r.org_no = c.org_no AND r.report_no = c.report_no AND r.fence = c.fence AND r.status = 2)`) == 0
	})
	// A temporary file has a name for a moment, before it is removed from the directory.
	eventually(x.t, patience, "the directory of exports to be empty", func() bool {
		left, err := os.ReadDir(filepath.Join(dir, "exports"))
		if err != nil {
			x.t.Fatal(err)
		}
		return len(left) == 0
	})
}

// The entries of each transaction of TestFaultTransactions: 1,000 in all.
const (
	newPatients = 50
	newScores   = 19 // of each
)

// transaction is a Bundle that creates patients with scores. The patients have
// its name.
func transaction(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"resourceType":"Bundle","type":"transaction","entry":[`)
	for p := range newPatients {
		if p > 0 {
			b.WriteByte(',')
		}
		urn := fmt.Sprintf("urn:uuid:00000000-0000-4000-8000-%012d", p)
		fmt.Fprintf(&b, `{"fullUrl":%q,"resource":{"resourceType":"Patient","identifier":[{"system":"http://hospital.example/mrn","value":"%s %d"}],"name":[{"text":%q}],"birthDate":"1961-03-14"},"request":{"method":"POST","url":"Patient"}}`, urn, name, p, name)
		for i := range newScores {
			score := strings.Replace(scoreOf(urn, "", i), `"id":"",`, "", 1)
			fmt.Fprintf(&b, `,{"resource":%s,"request":{"method":"POST","url":"Observation"}}`, score)
		}
	}
	b.WriteString(`]}`)
	return b.String()
}

// TestFaultTransactions kills the service while it stores transactions of 1,000
// entries. Each is stored completely or not at all, and those that were
// acknowledged are stored.
func TestFaultTransactions(t *testing.T) {
	needsLoad(t)
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			killTransactions(t, newService(t, engine))
		})
	}
}

func killTransactions(t *testing.T, s *service) {
	const senders = 2
	n := s.node(0)
	app := s.register("enterprise")
	random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
	sent, acknowledged := map[string]bool{}, 0
	for round := range faulttest.Rounds(t, 4) {
		e := n.ehr(t, app)
		type result struct {
			sent []string
			done int
			err  error
		}
		results, first := make(chan result, senders), make(chan struct{}, senders)
		for sender := range senders {
			go func() {
				var r result
				for i := 0; ; i++ {
					name := fmt.Sprintf("R%03dS%dT%05d", round, sender, i)
					r.sent = append(r.sent, name)
					if i == 1 {
						first <- struct{}{}
					}
					status, _, body, err := e.exchange(context.Background(), "POST", fhirBase, transaction(name), "Content-Type", "application/fhir+json")
					switch {
					case err != nil: // killed
						results <- r
						return
					case status == http.StatusOK:
						r.done++
					case status != http.StatusServiceUnavailable && status != http.StatusConflict:
						r.err = fmt.Errorf("%s: %d %.500s", name, status, body)
						first <- struct{}{}
						results <- r
						return
					}
				}
			}()
		}
		<-first
		<-time.After(time.Duration(random.Int64N(int64(300 * time.Millisecond)))) // the moment of the kill
		n.kill()
		for range senders {
			r := <-results
			if r.err != nil {
				t.Fatal(r.err)
			}
			acknowledged += r.done
			for _, name := range r.sent {
				sent[name] = true
			}
		}
		n = s.node(0)
	}
	stored := countTransactions(n.ehr(t, app), sent)
	t.Logf("%d transactions were sent, %d acknowledged, %d are stored", len(sent), acknowledged, stored)
	if stored < acknowledged || acknowledged == 0 {
		t.Errorf("%d transactions are stored, and %d were acknowledged", stored, acknowledged)
	}
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.check()
}

// countTransactions returns how many transactions are stored, each of which must
// be complete.
func countTransactions(e *ehr, sent map[string]bool) int {
	e.t.Helper()
	whole := map[string]int{}
	for p, err := range e.client().AllPatients(e.t.Context(), client.PatientQuery{}) {
		if err != nil {
			e.t.Fatal(err)
		}
		whole[p.Name]++
	}
	for name, count := range whole {
		var found struct{ Total int }
		if err := json.Unmarshal(e.get(fhirBase+"/Observation?_total=accurate&_count=1&patient.name="+name), &found); err != nil {
			e.t.Fatal(err)
		}
		if !sent[name] || count != newPatients || found.Total != newPatients*newScores {
			e.t.Errorf("of transaction %s, %d patients and %d scores are stored; it was sent: %v", name, count, found.Total, sent[name])
		}
	}
	return len(whole)
}
