package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// service is one database and the nodes that serve it.
type service struct {
	tb       testing.TB
	engine   string
	database string
	dir      string
}

// newService makes an empty database; the first node brings the schema. On a
// Citus cluster it makes one whose tables are distributed.
func newService(tb testing.TB, engine string) *service {
	tb.Helper()
	dir := tb.TempDir()
	if engine == storetest.SQLite {
		return &service{tb, engine, "sqlite:" + filepath.Join(dir, "anodyne.db"), dir}
	}
	if pgcluster.Distributed() {
		return &service{tb, engine, storetest.Database(tb, engine).Database, dir}
	}
	return &service{tb, engine, pgcluster.Database(tb, nil), dir}
}

// eachEngine runs a subtest on one node with SQLite, and on three nodes with
// PostgreSQL.
func eachEngine(t *testing.T, test func(t *testing.T, s *service, nodes []*node)) {
	count := map[string]int{storetest.SQLite: 1, storetest.Postgres: 3}
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			s := newService(t, engine)
			test(t, s, s.nodes(count[engine]))
		})
	}
}

// flags are those that say where the data is. On PostgreSQL every node has a
// folder of its own, as on a machine of its own.
func (s *service) flags(node string) []string {
	if s.engine == storetest.SQLite {
		return []string{"--database", s.database}
	}
	dir := filepath.Join(s.dir, node)
	storetest.PutKeys(s.tb, dir)
	return []string{"--database", s.database, "--data-dir", dir}
}

// node is a running server.
type node struct {
	*process
	url, admin string
	transport  *http.Transport
}

// node starts a server and returns when it serves. One that is started again
// with the same number finds its folder.
func (s *service) node(number int, args ...string) *node {
	s.tb.Helper()
	n := s.launch(number, args...)
	n.ready()
	return n
}

// nodes starts several servers at once.
func (s *service) nodes(count int) []*node {
	s.tb.Helper()
	list := make([]*node, count)
	for i := range list {
		list[i] = s.launch(i)
	}
	for _, n := range list {
		n.ready()
	}
	return list
}

func (s *service) launch(number int, args ...string) *node {
	s.tb.Helper()
	return s.launchAs(nil, number, args...)
}

// launchAs does that with a process that is prepared first.
func (s *service) launchAs(prepare func(*exec.Cmd), number int, args ...string) *node {
	s.tb.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""}, s.flags(fmt.Sprint("node", number))...)
	return &node{process: start(s.tb, prepare, append(all, args...)...), transport: newTransport(s.tb)}
}

func (n *node) ready() {
	n.tb.Helper()
	line := n.await("msg=serving")
	n.url, n.admin = word(line, "url"), word(line, "admin")
}

func newTransport(tb testing.TB) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 256
	// More connections than these would only wait in the kernel.
	t.MaxConnsPerHost = 256
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

// anodyne runs a command on the service's database, beside the nodes.
func (s *service) anodyne(args ...string) *process {
	s.tb.Helper()
	return s.anodyneAt("operator", args...)
}

// anodyneAt does that with the data directory of a node.
func (s *service) anodyneAt(node string, args ...string) *process {
	s.tb.Helper()
	p := start(s.tb, nil, append(args, s.flags(node)...)...)
	p.wait()
	return p
}

// must runs a command that must succeed and returns its output.
func (s *service) must(args ...string) string {
	s.tb.Helper()
	p := s.anodyne(args...)
	if p.code != 0 {
		s.tb.Fatalf("anodyne %s: exit code %d\n%s%s", strings.Join(args, " "), p.code, p.stdout, p.stderr)
	}
	return p.stdout.String()
}

// check looks the database over.
func (s *service) check(args ...string) {
	s.tb.Helper()
	if out := s.must(append([]string{"check"}, args...)...); out != "ok\n" {
		s.tb.Errorf("anodyne check says %q", out)
	}
}

// application is a registered client.
type application struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

// register makes a client on the command line.
func (s *service) register(tier string, flags ...string) application {
	s.tb.Helper()
	return s.credentials(append([]string{"client", "create", "--name", "test", "--tier", tier, "--json"}, flags...)...)
}

// credentials reads what a command prints as JSON.
func (s *service) credentials(args ...string) (a application) {
	s.tb.Helper()
	out := s.must(args...)
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		s.tb.Fatalf("%v in %s", err, out)
	}
	return a
}

// as returns an application's client for this node. It does not retry, so that
// every response is seen.
func (n *node) as(a application, opts ...client.Option) *client.Client {
	h := &http.Client{Transport: keyless{n.transport}, Timeout: patience}
	return client.New(n.url, a.ID, a.Secret, append([]client.Option{client.WithHTTPClient(h), client.WithMaxRetries(0)}, opts...)...)
}

// noKey makes a call go out without an idempotency key, which the Go client
// otherwise always sends.
const noKey = "none"

type keyless struct{ next http.RoundTripper }

func (k keyless) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Idempotency-Key") == noKey {
		r = r.Clone(r.Context())
		r.Header.Del("Idempotency-Key")
	}
	return k.next.RoundTrip(r)
}

// run runs a command that needs no service and returns its process after it
// has ended.
func run(tb testing.TB, prepare func(*exec.Cmd), args ...string) *process {
	tb.Helper()
	p := start(tb, prepare, args...)
	p.wait()
	return p
}
