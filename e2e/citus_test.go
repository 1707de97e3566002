//go:build citus

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// divided is a service of three nodes on a Citus cluster, with organisations on
// either worker.
type divided struct {
	t       *testing.T
	cluster *pgcluster.Citus
	s       *service
	nodes   []*node
	// lost is the load of an organisation on the first worker, and kept that of one
	// on the second. Both have to do with the same node.
	lost, kept     *load
	onLost, onKept []*client.Client
	// visitors are clients of the first organisation, one on each node.
	visitors []*client.Client
	// after and beside are neighbours of these organisations.
	after, beside *neighbour
}

func newDivided(t *testing.T) *divided {
	t.Helper()
	cluster := pgcluster.StartCitus(t, 2)
	d := &divided{t: t, cluster: cluster, s: &service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}, nodes: make([]*node, 3)}
	d.s.must("migrate", "--distribute")
	for i := range d.nodes {
		d.nodes[i] = d.s.launch(i, "--dev", "--admin-listen", "127.0.0.1:0")
	}
	for _, n := range d.nodes {
		n.ready()
	}
	hit, spared := spread(d.s, cluster)
	d.lost, d.kept = newLoad(newLedger(t), faulttest.Seed(t)), newLoad(newLedger(t), faulttest.Seed(t))
	d.lost.away = true
	d.onLost, d.onKept = dial(d.nodes[0], hit[:1]), dial(d.nodes[0], spared[:1])
	for _, n := range d.nodes {
		d.visitors = append(d.visitors, dial(n, hit[:1])...)
	}
	for _, c := range slices.Concat(d.onLost, d.onKept, d.visitors) {
		if _, err := c.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d.after, d.beside = newNeighbour(t, d.nodes[2], hit[1]), newNeighbour(t, d.nodes[2], spared[1])
	d.after.live()
	return d
}

// refused checks that requests of an organisation on the first worker get 503,
// and that each node then calls itself degraded.
func (d *divided) refused() {
	d.t.Helper()
	for i, c := range d.visitors {
		_, err := c.Patients(d.t.Context(), client.PatientQuery{})
		if !client.IsCode(err, client.CodeServiceUnavailable) {
			d.t.Errorf("a list of an organisation on the lost worker: %v", err)
		} else {
			d.lost.away503(err)
		}
		if text := page(d.t, d.nodes[i], "/readyz"); !strings.Contains(text, "degraded") {
			d.t.Errorf("after that, readyz says %s", text)
		}
	}
}

// all waits until something holds for every node.
func (d *divided) all(what string, holds func(*node) bool) {
	d.t.Helper()
	for _, n := range d.nodes {
		eventually(d.t, 2*patience, what, func() bool { return holds(n) })
	}
}

// down waits until every node has noticed whether a worker is down.
func (d *divided) down(workers int) {
	d.t.Helper()
	said := map[bool]string{true: `"degraded"`, false: `"ready"`}[workers > 0]
	d.all("readyz to say "+said, func(n *node) bool { return strings.Contains(page(d.t, n, "/readyz"), said) })
	d.all("the metric of workers that are down", d.metric(fmt.Sprintf(`anodyne_store_workers{state="down"} %d`, workers)))
}

func (d *divided) metric(line string) func(*node) bool {
	return func(n *node) bool {
		_, text := fetch(d.t, n.admin+"/metrics")
		return strings.Contains(text, line+"\n")
	}
}

// end checks that everything acknowledged is there.
func (d *divided) end() {
	d.t.Helper()
	d.lost.verifyAll(d.onLost)
	d.kept.verifyAll(d.onKept)
	d.beside.read()
	d.after.read()
	d.all("no alarm", d.metric("anodyne_audit_seal_broken 0"))
	for _, n := range d.nodes {
		n.terminate()
	}
	d.s.check()
}

// TestFaultWorkerKilled kills a worker of a Citus cluster under load. Requests of
// organisations on the other one never fail, and neither do their webhooks, reports,
// audit logs and erasures; requests of organisations on the killed one get 503 until
// it is back. Nothing acknowledged is lost.
func TestFaultWorkerKilled(t *testing.T) {
	d := newDivided(t)
	endLost, endKept := d.lost.background(d.onLost), d.kept.background(d.onKept)
	for range faulttest.Rounds(t, 1) {
		d.lost.answered(t, 2*patience, 50)
		d.kept.answered(t, 2*patience, 50)
		d.beside.live()
		d.cluster.Kill(1)
		d.refused()
		for range 3 {
			d.beside.live()
		}
		d.kept.answered(t, 2*patience, 100)
		d.down(1)
		d.beside.live()
		d.cluster.Restart(1)
		began := time.Now()
		d.lost.answered(t, 2*patience, 100)
		t.Logf("100 requests were answered %v after the restart", time.Since(began).Round(time.Second/10))
		d.down(0)
		d.after.live() // on a node that may have noticed later
	}
	endLost()
	endKept()
	d.end()
}

// TestFaultWorkerHangs suspends a worker of a Citus cluster under load: it accepts
// connections and never answers. Requests of organisations on the other worker do
// not fail, although both have to do with the same node; all requests of those on the
// suspended one get 503 meanwhile. When it resumes, everything does.
func TestFaultWorkerHangs(t *testing.T) {
	d := newDivided(t)
	endKept := d.kept.background(d.onKept)
	for range faulttest.Rounds(t, 1) {
		endLost := d.lost.background(d.onLost)
		d.lost.answered(t, 2*patience, 50)
		d.kept.answered(t, 2*patience, 50)
		began := time.Now()
		resume := d.cluster.Pause(1)
		d.refused()
		t.Logf("a request was refused after %v", time.Since(began).Round(time.Second/10))
		d.beside.live()
		d.kept.answered(t, 2*patience, 100)
		d.down(1)
		d.beside.live()
		endLost() // all of its requests have been answered
		resume()
		endLost = d.lost.background(d.onLost)
		began = time.Now()
		d.lost.answered(t, 2*patience, 100)
		t.Logf("100 requests were answered %v after the worker resumed", time.Since(began).Round(time.Second/10))
		d.down(0)
		d.after.live() // on a node that may have noticed later
		endLost()
	}
	endKept()
	d.end()
}

// TestFaultCoordinatorKilled kills the coordinator of a Citus cluster under load:
// all requests fail with 503 until it is back, and nothing acknowledged is lost.
func TestFaultCoordinatorKilled(t *testing.T) {
	cluster := pgcluster.StartCitus(t, 2)
	(&service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}).must("migrate", "--distribute")
	outages(t, cluster.DSN(), outage{name: "coordinator killed", away: func() func() {
		cluster.Kill(0)
		return func() { cluster.Restart(0) }
	}})
}

// TestFaultRebalance adds a worker to a Citus cluster under load, and moves
// shards to it. Requests may fail with 503 meanwhile; nothing acknowledged is lost.
func TestFaultRebalance(t *testing.T) {
	cluster := pgcluster.StartCitus(t, 3)
	cluster.Ask(`SELECT citus_remove_node(` + cluster.Address(3) + `)`)
	s := &service{t, storetest.Postgres, cluster.DSN(), t.TempDir()}
	s.must("migrate", "--distribute")
	nodes := s.nodes(2)
	first, second := spread(s, cluster)
	var loads []*load
	var clients [][]*client.Client
	var ends []func()
	for i, app := range []application{first[0], second[0]} {
		loads, clients = append(loads, newLoad(newLedger(t), faulttest.Seed(t))), append(clients, dial(nodes[i], []application{app}))
		loads[i].away = true
		ends = append(ends, loads[i].background(clients[i]))
	}
	answered := func() {
		t.Helper()
		for _, l := range loads {
			l.answered(t, 2*patience, 100)
		}
	}
	answered()
	cluster.Ask(`SELECT citus_add_node(` + cluster.Address(3) + `)`)
	cluster.Ask(`SELECT citus_rebalance_start()`)
	began := time.Now()
	eventually(t, 5*patience, "the rebalancing to end", func() bool {
		state := cluster.Ask(`SELECT state FROM citus_rebalance_status()`)
		if state == "failed" || state == "cancelled" {
			t.Fatal(cluster.Ask(`SELECT details FROM citus_rebalance_status()`))
		}
		return state == "finished"
	})
	t.Logf("rebalanced within %v", time.Since(began).Round(time.Second))
	answered()
	for _, end := range ends {
		end()
	}
	if moved := cluster.Ask(`SELECT count(*) > 0 FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid WHERE n.nodeport = ` + strings.TrimPrefix(cluster.Address(3), "'127.0.0.1', ")); moved != "t" {
		t.Error("the new worker has no shards")
	}
	for i, l := range loads {
		l.verifyAll(clients[i])
	}
	for _, n := range nodes {
		n.terminate()
	}
	s.check()
}

// neighbour is an organisation that uses everything the service does in the
// background.
type neighbour struct {
	t      *testing.T
	c      *client.Client
	to     *receiver
	lives  int
	erased []string
}

func newNeighbour(t *testing.T, n *node, app application) *neighbour {
	t.Helper()
	o := &neighbour{t: t, c: n.as(app), to: newReceiver(t)}
	o.to.registerFor(o.c, client.EventPatientCreated, client.EventPatientErased)
	return o
}

// live creates a patient, has a report made, reads the audit log and erases the
// patient. The events of all that arrive.
func (o *neighbour) live() {
	t, ctx := o.t, o.t.Context()
	t.Helper()
	began := time.Now()
	p, err := o.c.CreatePatient(ctx, client.NewPatient{Name: "Åsa Neighbour", DateOfBirth: "1960-05-17"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.c.Patient(ctx, p.ID); err != nil {
		t.Error(err)
	}
	report, err := o.c.CreateReport(ctx, someReport(o.lives))
	if err != nil {
		t.Fatal(err)
	}
	if report := wholeReport(t, ctx, o.c, report.ID); report.Status != client.ReportCompleted {
		t.Errorf("%+v", report)
	}
	o.readAudit(p.ID, "patient.read")
	if err := o.c.ErasePatient(ctx, p.ID, "asked for"); err != nil {
		t.Error(err)
	}
	o.lives, o.erased = o.lives+1, append(o.erased, p.ID)
	eventually(t, patience, "the events of the patient", func() bool { events, _ := o.to.count(); return events == 2*o.lives })
	t.Logf("an organisation lived for %v", time.Since(began).Round(time.Second/100))
}

// readAudit checks that an action on a patient is in the audit log, once.
func (o *neighbour) readAudit(id, action string) {
	o.t.Helper()
	log, err := o.c.Audit(o.t.Context(), client.AuditQuery{PatientID: id, Action: action})
	if err != nil || len(log.Data) != 1 {
		o.t.Errorf("the audit log of %s: %+v, %v", id, log, err)
	}
}

// read looks at everything again.
func (o *neighbour) read() {
	o.t.Helper()
	for _, id := range o.erased {
		o.readAudit(id, "patient.read")
		o.readAudit(id, "patient.erase")
		if _, err := o.c.Patient(o.t.Context(), id); err == nil {
			o.t.Errorf("%s is still there", id)
		}
	}
}

// spread makes clients of two organisations on the first worker, and of two on
// the second.
func spread(s *service, cluster *pgcluster.Citus) (first, second []application) {
	s.tb.Helper()
	for i := 0; len(first) < 2 || len(second) < 2; i++ {
		name := fmt.Sprint("Hospital ", i)
		app := s.register("enterprise", "--organization", name, "--scope", access.AllScopes.String())
		if cluster.Ask(`SELECT n.groupid FROM org o JOIN pg_dist_shard_placement p ON p.shardid = get_shard_id_for_distribution_column('patient', o.org_no)
			JOIN pg_dist_node n ON n.nodename = p.nodename AND n.nodeport = p.nodeport WHERE o.name = '`+name+`'`) == "1" {
			first = append(first, app)
		} else {
			second = append(second, app)
		}
	}
	return first, second
}

// page returns the body of a page that needs no token.
func page(t *testing.T, n *node, path string) string {
	t.Helper()
	resp, err := (&http.Client{Transport: n.transport, Timeout: patience}).Get(n.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
