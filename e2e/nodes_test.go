package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultThreeNodes kills one of three nodes after another under load: first
// the one that is assigning positions to events, then a random one. The others
// continue at once, and together the three are one service throughout: what
// one acknowledged is in the next response of another, allowances are shared,
// what was revoked is refused everywhere, and reports and webhooks of a killed
// node are finished by others.
func TestFaultThreeNodes(t *testing.T) {
	t.Parallel() // at its end it waits for the claims of the killed to end, as other tests do
	h := newHouse(t)
	h.report()
	spent := h.spend()
	h.round(h.sequencing)
	for range faulttest.Rounds(t, 1) {
		h.round(h.whichever)
	}
	h.useUp(spent)
	h.finish()
}

// house is three nodes and those who use them.
type house struct {
	*service
	t      *testing.T
	random *rand.Rand
	nodes  []*node
	crowd  *crowd
	log    *reader
	told   []*receiver

	// office is an application of another organisation, to which only the test
	// itself writes.
	office  application
	written int
	asked   []string // reports

	// standard is a token whose allowance is small.
	standard client.Option
}

func newHouse(t *testing.T) *house {
	h := &house{service: newService(t, storetest.Postgres), t: t, random: rand.New(rand.NewPCG(faulttest.Seed(t), 0))}
	for i := range 3 {
		h.nodes = append(h.nodes, h.launchNamed(i))
	}
	for _, n := range h.nodes {
		n.ready()
	}
	h.crowd = newCrowd(t, h.register("enterprise"))
	h.office = h.credentials("client", "create", "--name", "office", "--organization", "Other", "--tier", "enterprise", "--json")
	h.log = follow(t, h.nodes[0], h.crowd.app)
	for _, n := range h.nodes {
		r := newReceiver(t)
		r.register(n.as(h.crowd.app))
		h.told = append(h.told, r)
	}
	return h
}

// launchNamed starts a node with connections that can be identified.
func (h *house) launchNamed(number int) *node {
	return h.launch(number, "--dev", "--database", fmt.Sprintf("%s&application_name=node%d", h.database, number))
}

// sequencing returns the node that is assigning positions, and holds it there.
func (h *house) sequencing() (victim int, release func()) {
	h.t.Helper()
	ctx := h.t.Context()
	conn, err := pgx.Connect(ctx, h.database)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, `BEGIN; LOCK TABLE journal_head IN EXCLUSIVE MODE`); err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.nodes[0].as(h.office).CreatePatient(ctx, client.NewPatient{Name: "Position", DateOfBirth: "1980-02-29"}); err != nil {
		h.t.Fatal(err)
	}
	h.written++
	eventually(h.t, patience, "a node holds the lock of the positions", func() bool {
		err := conn.QueryRow(ctx, `SELECT right(a.application_name, 1)::int FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND l.objsubid = 2 AND l.classid = 1936028021 LIMIT 1`).Scan(&victim)
		return err == nil
	})
	return victim, func() {
		if err := conn.Close(ctx); err != nil {
			h.t.Error(err)
		}
	}
}

// whichever gives any node.
func (h *house) whichever() (victim int, release func()) {
	return h.random.IntN(len(h.nodes)), func() {}
}

// round kills a node in the middle of a load. The others must respond, assign
// positions, and be one service; then it comes back.
func (h *house) round(pick func() (victim int, release func())) {
	h.t.Helper()
	const more = 300
	before := h.crowd.count()
	grown := make(chan struct{})
	go func() {
		defer close(grown)
		h.crowd.grow(before+more, h.nodes...)
	}()
	some := before + 10 + h.random.IntN(more/2)
	eventually(h.t, takeover, "some patients", func() bool { return h.crowd.count() >= some })
	victim, release := pick()
	h.nodes[victim].kill()
	release()
	alive := append(append([]*node{}, h.nodes[:victim]...), h.nodes[victim+1:]...)
	h.log.node.Store(alive[0])
	<-grown
	h.crowd.grow(before+more, alive...)
	h.sameEverywhere(alive)
	h.positions()

	h.nodes[victim] = h.launchNamed(victim)
	h.nodes[victim].ready()
	h.sameEverywhere(h.nodes)
	h.revoked()
	h.t.Logf("node %d was killed; %d patients", victim, h.crowd.count())
}

// positions waits until every event has its position.
func (h *house) positions() {
	h.t.Helper()
	eventually(h.t, takeover, "all events get a position", func() bool { return h.number(`SELECT count(*) FROM journal_pending`) == 0 })
	if holes := h.number(`SELECT count(*) FROM (SELECT org_no FROM journal GROUP BY org_no HAVING count(*) <> max(pos) OR min(pos) <> 1) holes`); holes != 0 {
		h.t.Errorf("the journals of %d organisations have holes", holes)
	}
}

// sameEverywhere writes on each node and looks on every other: the very next
// answer has it.
func (h *house) sameEverywhere(nodes []*node) {
	h.t.Helper()
	ctx := h.t.Context()
	for _, here := range nodes {
		name := fmt.Sprintf("Here %d", h.written)
		p, err := here.as(h.office).CreatePatient(ctx, client.NewPatient{Name: name, DateOfBirth: "1980-02-29"})
		if err != nil {
			h.t.Fatal(err)
		}
		h.written++
		for _, there := range nodes {
			c := there.as(h.office)
			if got, err := c.Patient(ctx, p.ID); err != nil || got.Name != name {
				h.t.Errorf("a patient of another node: %v", err)
			}
			found, err := c.Patients(ctx, client.PatientQuery{Search: name, Limit: 1})
			if err != nil || found.Pagination.Total != 1 || found.Data[0].ID != p.ID {
				h.t.Errorf("a search for a patient of another node: %+v, %v", found, err)
			}
			all, err := c.Patients(ctx, client.PatientQuery{Limit: 1})
			if err != nil || all.Pagination.Total != h.written {
				h.t.Errorf("a list has %+v, want %d, %v", all, h.written, err)
			}
			health, err := c.PopulationHealth(ctx, client.AnalyticsQuery{})
			if err != nil || health.Cohort.Patients.Count == nil || *health.Cohort.Patients.Count != h.written {
				h.t.Errorf("analytics know %+v, want %d, %v", health, h.written, err)
			}
		}
	}
}

// revoked ends a token on one node and a client on the command line: both are
// refused everywhere.
func (h *house) revoked() {
	h.t.Helper()
	ctx := h.t.Context()
	app := h.register("standard")
	c := h.nodes[h.random.IntN(len(h.nodes))].as(app)
	first, err := c.Token(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	second, err := h.nodes[0].as(app).Token(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	good := func(token string) (passed int) {
		for _, one := range each(h.nodes, client.WithToken(token)) {
			if _, err := one.Patients(ctx, client.PatientQuery{Limit: 1}); err == nil {
				passed++
			} else if !refused(err) {
				h.t.Fatal(err)
			}
		}
		return passed
	}
	if n := good(first.AccessToken) + good(second.AccessToken); n != 2*len(h.nodes) {
		h.t.Errorf("good tokens were taken %d times", n)
	}
	if err := c.Revoke(ctx, first.AccessToken); err != nil {
		h.t.Fatal(err)
	}
	eventually(h.t, patience, "the token is refused everywhere", func() bool { return good(first.AccessToken) == 0 })
	h.must("client", "revoke", app.ID)
	eventually(h.t, patience, "the client is refused everywhere", func() bool { return good(second.AccessToken) == 0 })
}

// spend begins to use an allowance up, over all nodes.
func (h *house) spend() *spent {
	h.t.Helper()
	var clients []*client.Client
	h.standard, clients = standard(h.t, h.service, h.nodes)
	return spend(h.t, clients, standardLimit/3)
}

// useUp asks for more than is left of it.
func (h *house) useUp(total *spent) {
	h.t.Helper()
	clients := each(h.nodes, h.standard)
	total.send(h.t, clients, standardLimit)
	if passed := total.passed.Load(); passed != standardLimit-1 {
		h.t.Errorf("%d requests passed over three nodes, of an allowance of %d", passed, standardLimit-1)
	}
	allUsedUp(h.t, clients)
}

// report asks every node for reports.
func (h *house) report() {
	h.t.Helper()
	for i := range 12 {
		r, err := h.nodes[i%len(h.nodes)].as(h.office).CreateReport(h.t.Context(), client.NewReport{Type: client.PopulationReport, Format: client.PDF})
		if err != nil {
			h.t.Fatal(err)
		}
		h.asked = append(h.asked, r.ID)
	}
}

// finish waits for what the dead had begun.
func (h *house) finish() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), takeover)
	defer cancel()
	for i, id := range h.asked {
		if r, err := h.nodes[i%len(h.nodes)].as(h.office).WaitReport(ctx, id); err != nil || r.Status != client.ReportCompleted {
			h.t.Errorf("a report: %+v, %v", r, err)
		}
	}
	events := h.log.log(h.crowd)
	repeats := 0
	for _, r := range h.told {
		eventually(h.t, takeover, "every event arrives", func() bool { arrived, _ := r.count(); return arrived >= len(events) })
		repeats += r.holds(events)
	}
	for _, n := range h.nodes {
		n.transport.CloseIdleConnections()
		n.signal()
	}
	for _, n := range h.nodes {
		if code := n.wait(); code != 0 {
			h.t.Errorf("exit code %d after SIGTERM", code)
		}
	}
	h.check()
	h.t.Logf("%d events, %d messages to %d receivers were repeats", len(events), repeats, len(h.told))
}
