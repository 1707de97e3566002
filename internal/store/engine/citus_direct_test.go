//go:build citus

package engine_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// onShard matches statements about the tables of a shard, which only a worker has.
var onShard = regexp.MustCompile(`\bFROM (?:patient|org_counter)_\d+ `)

// onWorkers returns how many statements were sent to workers.
func (s *sentSQL) onWorkers() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sql := range s.all {
		if onShard.MatchString(sql) {
			n++
		}
	}
	return n
}

// readsDirectly waits until lookups of an organisation are made by a worker.
func readsDirectly(t *testing.T, o store.Org, p pain.Patient, sent *sentSQL) {
	t.Helper()
	testwait.Until(t, "lookups are made by a worker", func() bool {
		before := sent.onWorkers()
		storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID))
		return sent.onWorkers() > before
	})
}

// workerOf returns the address of the worker with an organisation.
func workerOf(t *testing.T, s *store.Store, org access.OrgNo) string {
	t.Helper()
	return storetest.Texts(t, s, 1, `SELECT nodename || ':' || nodeport FROM pg_dist_shard_placement
		WHERE shardid = get_shard_id_for_distribution_column('patient', CAST($1 AS BIGINT))`, int64(org))[0]
}

// connectTo connects to a database on another server, if an address is given.
func connectTo(t *testing.T, database, address string) *pgx.Conn {
	t.Helper()
	to := storetest.Must[*pgx.ConnConfig](t)(pgx.ParseConfig(database))
	if address != "" {
		at := storetest.Must[*pgx.ConnConfig](t)(pgx.ParseConfig("postgres://" + address))
		to.Host, to.Port = at.Host, at.Port
	}
	conn := storetest.Must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), to))
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// Lookups of different organisations on one worker are combined there, and each
// gets the rows of its own.
func TestLookupsOnWorkers(t *testing.T) {
	s, _, sent := distributed(t)
	var who []access.Principal
	var people []pain.Patient
	place := ""
	shared := map[string]int{}
	for len(shared) == len(who) { // until two are on one shard
		p := storetest.Client(t, s, fmt.Sprint("organisation ", len(who)))
		place = storetest.Texts(t, s, 1, `SELECT CAST(get_shard_id_for_distribution_column('patient', CAST($1 AS BIGINT)) AS TEXT)`, int64(p.Org))[0]
		shared[place]++
		who = append(who, p)
		people = append(people, storetest.AddPatient(t, s.For(&p), fmt.Sprint("of ", len(who))))
	}
	for i := range who {
		readsDirectly(t, s.For(&who[i]), people[i], sent)
	}
	storetest.Together(t, 20*len(who), func(n int) error {
		i := n % len(who)
		other := (i + 1) % len(who)
		o := s.For(&who[i])
		got, err := o.Patient(t.Context(), people[i].ID)
		if err == nil && got.Name != people[i].Name {
			err = fmt.Errorf("the patient is %q, want %q", got.Name, people[i].Name)
		}
		if _, none := o.Patient(t.Context(), people[other].ID); err == nil && none == nil {
			err = fmt.Errorf("organisation %d reads a patient of %d", i, other)
		}
		var names []string
		if err == nil {
			var total int64
			total, err = o.PatientPage(t.Context(), 1, 10, func(p patients.PatientItem) { names = append(names, string(p.Name)) })
			if err == nil && (total != 1 || len(names) != 1 || names[0] != people[i].Name) {
				err = fmt.Errorf("organisation %d has a page with %d patients: %q", i, total, names)
			}
		}
		return err
	})
	combined := fmt.Sprintf("patient_%s ", place)
	testwait.Until(t, "lookups of organisations on one shard are combined", func() bool {
		storetest.Together(t, 8*len(who), func(n int) error {
			_, err := s.For(&who[n%len(who)]).Patient(t.Context(), people[n%len(who)].ID)
			return err
		})
		sent.mu.Lock()
		defer sent.mu.Unlock()
		for _, sql := range sent.all {
			if strings.HasPrefix(sql, "SELECT asked.place") && strings.Contains(sql, combined) && !strings.Contains(sql, "org_no = $1 ") {
				return true
			}
		}
		return false
	})
}

// While shards move between workers, no lookup returns a row that is older than
// an acknowledged write, and afterwards lookups are made by the new worker.
func TestLookupsWhileShardsMove(t *testing.T) {
	s, cfg, sent := distributed(t)
	writer := storetest.Start(t, storetest.Node(t, cfg))
	admin := connectTo(t, cfg.Database, "")
	who := storetest.Client(t, s, "moving")
	o, p := s.For(&who), storetest.AddPatient(t, s.For(&who), "A")
	readsDirectly(t, o, p, sent)

	var version, reads, writes atomic.Int64
	version.Store(p.Version)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 9)
	go func() {
		for ctx.Err() == nil {
			got, err := writer.For(&who).UpdatePatient(context.WithoutCancel(ctx), p.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
				old.Version++
				c := storetest.Updated(old)
				return old, &c, nil
			})
			if err == nil {
				version.Store(got.Version)
				writes.Add(1)
			}
		}
		ended <- nil
	}()
	for range 8 {
		go func() {
			for ctx.Err() == nil {
				acknowledged := version.Load()
				got, err := o.Patient(context.WithoutCancel(ctx), p.ID)
				if err == nil && got.Version < acknowledged {
					ended <- fmt.Errorf("version %d was read after %d was acknowledged", got.Version, acknowledged)
					return
				}
				reads.Add(1)
			}
			ended <- nil
		}()
	}
	for _, mode := range []string{"block_writes", "force_logical", "block_writes"} {
		before, read, written := workerOf(t, s, who.Org), reads.Load(), writes.Load()
		if _, err := admin.Exec(t.Context(), `SELECT citus_move_shard_placement(p.shardid, p.nodename, p.nodeport, n.nodename, n.nodeport, CAST(CAST($2 AS TEXT) AS citus.shard_transfer_mode))
			FROM pg_dist_shard_placement p JOIN pg_dist_node n ON n.groupid > 0 AND n.nodeport <> p.nodeport
			WHERE p.shardid = get_shard_id_for_distribution_column('patient', CAST($1 AS BIGINT))`, int64(who.Org), mode); err != nil {
			t.Fatal(err)
		}
		if now := workerOf(t, s, who.Org); now == before {
			t.Fatalf("the shard is still on %s", now)
		}
		readsDirectly(t, o, p, sent)
		t.Logf("%s: %d reads and %d writes", mode, reads.Load()-read, writes.Load()-written)
	}
	stop()
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// When the coordinator changes the address of a worker, for example to that of
// its standby, the rows of the old one are not returned, although it still answers.
func TestLookupsAfterFailover(t *testing.T) {
	s, cfg, sent := distributed(t)
	who := storetest.Client(t, s, "one")
	o, p := s.For(&who), storetest.AddPatient(t, s.For(&who), "A")
	readsDirectly(t, o, p, sent)
	// It is the same server, under another name.
	if _, err := connectTo(t, cfg.Database, "").Exec(t.Context(), `SELECT citus_update_node(nodeid, 'localhost', nodeport) FROM pg_dist_node WHERE nodename || ':' || nodeport = $1`, workerOf(t, s, who.Org)); err != nil {
		t.Fatal(err)
	}
	all, direct := sent.count("SELECT version,"), sent.onWorkers()
	storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID))
	if all, direct = sent.count("SELECT version,")-all, sent.onWorkers()-direct; all != 2 || direct != 1 {
		t.Errorf("%d statements were sent, %d of them to the worker; want 2 and 1", all, direct)
	}
	readsDirectly(t, o, p, sent)
}

// Tables of the same name in another schema are not ours.
func TestLookupsBesideAnotherSchema(t *testing.T) {
	s, cfg, sent := distributed(t)
	if _, err := connectTo(t, cfg.Database, "").Exec(t.Context(), `CREATE SCHEMA archive; CREATE TABLE archive.patient (LIKE patient INCLUDING ALL);
		SELECT create_distributed_table('archive.patient', 'org_no', colocate_with => 'public.patient')`); err != nil {
		t.Fatal(err)
	}
	who := storetest.Client(t, s, "one")
	o, p := s.For(&who), storetest.AddPatient(t, s.For(&who), "A")
	readsDirectly(t, o, p, sent)
	storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID))
}

// A connection that leads to another server than that of the coordinator is not
// used, although that server would answer.
func TestAnotherServerAtTheAddress(t *testing.T) {
	s, cfg, _ := distributed(t)
	who := storetest.Client(t, s, "one")
	address := workerOf(t, s, who.Org)
	is := ""
	if err := connectTo(t, cfg.Database, address).QueryRow(t.Context(), `SELECT CAST(system_identifier AS TEXT) FROM pg_control_system()`).Scan(&is); err != nil {
		t.Fatal(err)
	}
	if err := engine.PingWorker(t.Context(), s.Database(), address, is); err != nil {
		t.Error(err)
	}
	if err := engine.PingWorker(t.Context(), s.Database(), address, "1"); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("another server is asked: %v", err)
	}
}
