package deploy

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// breakTable causes an internal error by renaming a table.
func breakTable(n *node) {
	n.signIn()
	n.exec(`ALTER TABLE patient RENAME TO away`)
	if status := n.ask("GET", "/v1/patients", ""); status != http.StatusInternalServerError {
		n.t.Errorf("answered %d", status)
	}
}

// lockTable holds a lock until reads that wait for it time out.
func lockTable(n *node) {
	n.signIn()
	conn := n.postgres()
	if _, err := conn.Exec(n.t.Context(), `BEGIN; LOCK TABLE patient IN ACCESS EXCLUSIVE MODE`); err != nil {
		n.t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 10 {
		readers.Go(func() {
			if status := n.ask("GET", "/v1/patients", ""); status != http.StatusServiceUnavailable {
				n.t.Errorf("answered %d", status)
			}
		})
	}
	readers.Wait()
	if _, err := conn.Exec(n.t.Context(), `ROLLBACK`); err != nil {
		n.t.Fatal(err)
	}
}

// stopSequencer takes the lock of the node that assigns positions, and makes
// waiting entries look older.
func stopSequencer(n *node) {
	n.signIn()
	if _, err := n.postgres().Exec(n.t.Context(), `SELECT pg_advisory_lock(1936028021, CAST(org_no AS INTEGER)) FROM org`); err != nil {
		n.t.Fatal(err)
	}
	n.addPatient()
	n.exec(`UPDATE journal_pending SET at = at - 3600000`)
}

// makeHole takes an entry out of a journal, so that it cannot be sealed.
func makeHole(n *node) {
	for range 3 {
		n.addPatient()
	}
	n.exec(`BEGIN IMMEDIATE; DELETE FROM journal_seal; DELETE FROM journal WHERE pos = 2; UPDATE journal SET at = at - 3600000; COMMIT`)
}

// stopShipping keeps audit entries of reads out of the database, and makes
// them look old.
func stopShipping(n *node) {
	n.addPatient()
	n.exec(`ALTER TABLE spool_segment RENAME TO away`)
	if status := n.ask("GET", "/v1/patients", ""); status != http.StatusOK {
		n.t.Errorf("answered %d", status)
	}
	dir := filepath.Join(n.dataDir, "spool")
	n.eventually(nil, func(_, now scrape) bool { // one that was rotated is not the server's own any more
		paths, err := filepath.Glob(filepath.Join(dir, "*.spool"))
		if err != nil {
			n.t.Error(err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				_ = os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour))
			}
		}
		return now[`anodyne_spool_oldest_seconds{job="anodyne"}`] > 300
	})
}

// fillDisk leaves less than a hundredth of the disk.
func fillDisk(n *node) {
	free := storetest.Fill(n.t, n.dataDir)
	n.t.Cleanup(free)
}

func fullDisk(before, now scrape) bool {
	const free, size = `anodyne_disk_free_bytes{volume="data",job="anodyne"}`, `anodyne_disk_size_bytes{volume="data",job="anodyne"}`
	return now[size] > 0 && now[free]/now[size] < 0.03
}

// guess sends requests with invalid tokens.
func guess(n *node) {
	n.token = "at_nobody"
	for range 150 {
		n.ask("GET", "/v1/patients", "")
	}
}

// loadMany searches several organisations.
func loadMany(n *node) {
	for _, name := range strings.Fields("a b c d e f g h i j") {
		n.client = storetest.Client(n.t, n.server.Store(), name)
		n.secret = "secret of " + name
		n.signIn()
		if status := n.ask("GET", "/v1/patients?search=finch", ""); status != http.StatusOK {
			n.t.Errorf("answered %d", status)
		}
	}
}

// sealed waits until an entry is sealed, and returns the file in which the
// node records that.
func (n *node) sealed() (witness string) {
	n.addPatient()
	witness = filepath.Join(n.dataDir, "seal", "witness")
	n.eventually(nil, func(_, _ scrape) bool {
		text, err := os.ReadFile(witness)
		return err == nil && sealedEntry.Match(text)
	})
	return witness
}

var sealedEntry = regexp.MustCompile(`"position":[1-9]`)

var witnessLost = moved("anodyne_audit_witness_lost_total", "")

// loseWitness removes the record of sealed heads until the node notices. If the
// node is about to replace the file, it cannot notice that it was removed.
func loseWitness(n *node) {
	witness := n.sealed()
	before, _ := n.look()
	n.eventually(before, func(before, now scrape) bool {
		if witnessLost(before, now) {
			return true
		}
		if err := os.Remove(witness); err != nil && !errors.Is(err, os.ErrNotExist) {
			n.t.Error(err)
		}
		return false
	})
}

// refuseSearches searches an organisation that does not fit into memory, in a
// database that answers too late. The search is the server's; only its limit
// and its deadline are the test's.
func refuseSearches(n *node) {
	n.addPatient()
	opened := storetest.Node(n.t, store.Config{Database: n.database})
	barrier := &storetest.Barrier{}
	barrier.Watch(&opened)
	org := storetest.Start(n.t, opened).For(&n.client)
	registry := prometheus.NewRegistry()
	exported := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	n.t.Cleanup(exported.Close)
	n.metricsURL = exported.URL
	cohorts := cohort.New(0, registry)
	if _, _, err := cohorts.List(n.t.Context(), org, cohort.Query{Term: "finch", Page: 1, Limit: 50}); err != nil { // which finds that it does not fit
		n.t.Fatal(err)
	}
	before, _ := n.look()
	n.eventually(before, func(before, now scrape) bool {
		_, release := barrier.Hold("FROM patient WHERE", 1000)
		defer release()
		ctx, cancel := context.WithTimeout(n.t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, _, err := cohorts.List(ctx, org, cohort.Query{Term: "finch", Page: 1, Limit: 50}); err == nil {
			n.t.Error("a search was answered without its database")
		}
		return by("anodyne_cohort_refused_total", 20)(before, now)
	})
}

// receiver registers a webhook whose receiver responds with a status, and
// sends an event to it.
func (n *node) receiver(status int) {
	n.signIn()
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	n.t.Cleanup(there.Close)
	if answer := n.ask("POST", "/v1/webhooks", `{"url":"`+there.URL+`","events":["patient.created"]}`); answer != http.StatusCreated {
		n.t.Fatalf("registering: %d", answer)
	}
	n.addPatient()
}

// agePending makes the delivery that waits seven hours old. Its identifier
// begins with the time.
func (n *node) agePending() {
	n.eventually(nil, func(_, now scrape) bool {
		return now[`anodyne_webhook_attempts_total{result="pending",job="anodyne"}`] > 0
	})
	var old [8]byte
	binary.BigEndian.PutUint64(old[:], uint64(time.Now().Add(-7*time.Hour).UnixMilli())<<16)
	n.exec(`UPDATE webhook_delivery SET id = unhex('` + hex.EncodeToString(old[:6]) + `' || substr(hex(id), 13))`)
}

// lockFile holds the lock of writing for over a second while a write waits, as
// often as it takes.
func lockFile(n *node) {
	n.signIn()
	before, _ := n.look()
	n.eventually(before, func(before, now scrape) bool {
		if slowWrite(before, now) {
			return true
		}
		release := n.holdFile()
		written := make(chan int, 1)
		go func() { written <- n.ask("POST", "/v1/patients", aPatient) }()
		select {
		case <-written:
		case <-time.After(1500 * time.Millisecond):
		}
		release()
		return false
	})
}

func slowWrite(before, now scrape) bool {
	const all, quick = `anodyne_writer_wait_seconds_bucket{le="+Inf",job="anodyne"}`, `anodyne_writer_wait_seconds_bucket{le="0.8192",job="anodyne"}`
	return now[all]-before[all] > now[quick]-before[quick]
}

// holdFile takes the lock of writing to a SQLite file.
func (n *node) holdFile() (release func()) {
	conn, err := sqlite3.Open(strings.TrimPrefix(n.database, "sqlite:"))
	if err != nil {
		n.t.Fatal(err)
	}
	if err := errors.Join(conn.BusyTimeout(time.Minute), conn.Exec("BEGIN IMMEDIATE")); err != nil {
		n.t.Fatal(err)
	}
	return func() { _ = conn.Close() }
}
