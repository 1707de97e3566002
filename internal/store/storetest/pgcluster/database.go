package pgcluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Database returns the address of a new database on the server that DSN names.
// It is dropped when the test ends, even if connections are open.
//
// The template function fills a database once per process, usually with the
// schema; tests get copies of it, which takes milliseconds. It must close its
// connections. Functions are distinguished by their code, so closures that
// differ only in what they capture share one template. If the function is nil,
// the database is empty.
func Database(tb testing.TB, template func(dsn string) error) string {
	tb.Helper()
	server, err := url.Parse(DSN(tb))
	if err != nil || !strings.HasPrefix(server.Scheme, "postgres") {
		tb.Fatalf("%s is not a postgres:// URL", Env)
	}
	name, err := process.create(server, template)
	if err != nil {
		tb.Fatalf("creating a test database: %v", err)
	}
	tb.Cleanup(func() {
		if err := process.drop(server, name); err != nil {
			tb.Errorf("dropping a test database: %v", err)
		}
	})
	return address(server, name)
}

// prefix begins the name of every database created here: prefix, process,
// number.
const prefix = "anodyne_test_"

var process = maker{id: strings.ToLower(rand.Text()[:12]), templates: map[uintptr]madeTemplate{}}

// maker creates and drops the databases of this process, one at a time: a
// template must not be in use when it is copied.
type maker struct {
	id string

	mu        sync.Mutex
	admin     *pgx.Conn // stays open to show others that this process is alive
	workers   []worker  // of a Citus cluster
	made      int
	templates map[uintptr]madeTemplate
}

// madeTemplate also stores a failure: a schema that cannot be installed should
// fail every test at once, rather than being tried again for each.
type madeTemplate struct {
	name string
	err  error
}

func (m *maker) create(server *url.URL, template func(dsn string) error) (name string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.connect(server); err != nil {
		return "", err
	}
	source, err := m.template(server, template)
	if err != nil {
		return "", err
	}
	return m.copyOf(source)
}

func (m *maker) drop(server *url.URL, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.connect(server); err != nil {
		return err
	}
	return m.dropAll(name)
}

// connect ensures that there is a connection, and drops the databases that
// killed processes left on a permanent server.
func (m *maker) connect(server *url.URL) error {
	if m.admin != nil && !m.admin.IsClosed() {
		return nil
	}
	config, err := pgx.ParseConfig(server.String())
	if err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = prefix + m.id
	admin, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		return err
	}
	m.admin = admin
	if err := m.connectWorkers(server); err != nil {
		return err
	}
	return m.sweep()
}

// sweep drops the databases whose process is no longer connected. Another
// process may be sweeping too, so a database that cannot be dropped is left
// alone.
func (m *maker) sweep() error {
	rows, err := m.admin.Query(context.Background(), `
		SELECT d.datname FROM pg_database d
		WHERE starts_with(d.datname, $1) AND NOT EXISTS (
			SELECT FROM pg_stat_activity a
			WHERE starts_with(a.application_name, $1) AND starts_with(d.datname, a.application_name || '_'))`, prefix)
	if err != nil {
		return err
	}
	orphans, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range orphans {
		_ = m.dropAll(name)
	}
	return nil
}

// template returns the name of the database that fill has filled.
func (m *maker) template(server *url.URL, fill func(dsn string) error) (string, error) {
	const empty = "template0"
	if fill == nil && !Distributed() {
		return empty, nil
	}
	var key uintptr
	if fill != nil {
		key = reflect.ValueOf(fill).Pointer()
	}
	if t, ok := m.templates[key]; ok {
		return t.name, t.err
	}
	name, err := m.copyOf(empty)
	if err != nil {
		return "", err
	}
	t := madeTemplate{name: name}
	if Distributed() {
		t.err = m.unite(server, name)
	}
	if fill != nil && t.err == nil {
		t.err = fill(address(server, name))
		// On a busy cluster, the coordinator may lose a connection to a worker.
		// Distributing tables is safe to repeat.
		for try := 1; t.err != nil && Distributed() && try < 3; try++ {
			t.err = fill(address(server, name))
		}
	}
	if Distributed() && t.err == nil {
		t.err = m.leave(name)
	}
	if t.err != nil {
		t.err = fmt.Errorf("filling the template: %w", t.err)
	}
	m.templates[key] = t
	return t.name, t.err
}

// copyOf creates the next database of this process and returns its name.
func (m *maker) copyOf(source string) (name string, err error) {
	m.made++
	name = fmt.Sprintf("%s%s_%d", prefix, m.id, m.made)
	err = m.exec("CREATE DATABASE %s TEMPLATE %s", name, source)
	if err == nil && Distributed() {
		err = m.settle(name, source)
	}
	return name, err
}

// exec runs a statement with identifiers, which cannot be parameters, on all
// servers.
func (m *maker) exec(statement string, names ...string) error {
	quoted := make([]any, len(names))
	for i, name := range names {
		quoted[i] = pgx.Identifier{name}.Sanitize()
	}
	return m.everywhere(fmt.Sprintf(statement, quoted...))
}

// address returns the address of a database on the server.
func address(server *url.URL, name string) string {
	u := *server
	u.Path = "/" + name
	return u.String()
}
