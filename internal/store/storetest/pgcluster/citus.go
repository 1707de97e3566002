package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// LayoutEnv is the environment variable that scripts/citus sets to "citus" if
// the server that ANODYNE_TEST_POSTGRES names is the coordinator of a Citus
// cluster.
const LayoutEnv = "ANODYNE_TEST_LAYOUT"

// Distributed reports whether the databases of this run are on a Citus cluster,
// over which the schema is to be distributed.
func Distributed() bool { return os.Getenv(LayoutEnv) == "citus" }

// worker is a server of the cluster beside the coordinator.
type worker struct {
	server *url.URL
	admin  *pgx.Conn
}

// connectWorkers connects to the workers that the coordinator knows.
func (m *maker) connectWorkers(server *url.URL) error {
	if !Distributed() {
		return nil
	}
	rows, err := m.admin.Query(context.Background(), `SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY groupid`)
	if err != nil {
		return err
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	m.workers = nil
	for _, host := range hosts {
		address := *server
		address.Host = host
		admin, err := pgx.Connect(context.Background(), address.String())
		if err != nil {
			return err
		}
		m.workers = append(m.workers, worker{&address, admin})
	}
	return nil
}

// everywhere runs a statement on the coordinator and on all workers at once.
func (m *maker) everywhere(sql string) error {
	conns := []*pgx.Conn{m.admin}
	for _, w := range m.workers {
		conns = append(conns, w.admin)
	}
	errs := make([]error, len(conns))
	var all sync.WaitGroup
	for i, conn := range conns {
		all.Go(func() { _, errs[i] = conn.Exec(context.Background(), sql) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// dropAll drops a database on all servers. Citus may start a process in it
// meanwhile, which ends only if it is told again.
func (m *maker) dropAll(name string) (err error) {
	for range 50 {
		err = m.exec("DROP DATABASE IF EXISTS %s WITH (FORCE)", name)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != pgInUse {
			return err
		}
	}
	return err
}

// pgInUse is the error of a database that is in use.
const pgInUse = "55006"

// unite makes the databases of one name on all servers a cluster. Tests need no
// more than two shards.
func (m *maker) unite(server *url.URL, name string) error {
	join := []string{fmt.Sprintf(`SELECT citus_set_coordinator_host('%s', %s)`, server.Hostname(), server.Port())}
	for _, w := range m.workers {
		if err := statements(address(w.server, name), `CREATE EXTENSION citus`); err != nil {
			return err
		}
		join = append(join, fmt.Sprintf(`SELECT citus_add_node('%s', %s)`, w.server.Hostname(), w.server.Port()))
	}
	join = append(join, `ALTER DATABASE `+pgx.Identifier{name}.Sanitize()+` SET citus.shard_count = 2`)
	return statements(address(server, name), append([]string{`CREATE EXTENSION citus`}, join...)...)
}

// settle gives a copy of a database the settings of its source, which are not
// copied with it.
func (m *maker) settle(name, source string) error {
	return m.everywhere(fmt.Sprintf(`DO $$
		DECLARE
			setting record;
		BEGIN
			SET LOCAL citus.enable_ddl_propagation = off;
			FOR setting IN
				SELECT setrole, split_part(pair, '=', 1) AS name, substr(pair, strpos(pair, '=') + 1) AS value
				FROM pg_db_role_setting, unnest(setconfig) AS pair WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = '%s')
			LOOP
				IF setting.setrole = 0 THEN
					EXECUTE format('ALTER DATABASE %%I SET %%s = %%L', '%s', setting.name, setting.value);
				ELSE
					EXECUTE format('ALTER ROLE %%I IN DATABASE %%I SET %%s = %%L', pg_get_userbyid(setting.setrole), '%s', setting.name, setting.value);
				END IF;
			END LOOP;
		END $$`, source, name, name))
}

// leave ends all connections to a database, so that it can be copied. Citus has
// its own, and would make them again.
func (m *maker) leave(name string) error {
	if err := m.everywhere(`ALTER DATABASE ` + pgx.Identifier{name}.Sanitize() + ` ALLOW_CONNECTIONS false`); err != nil {
		return err
	}
	return m.everywhere(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '` + name + `'`)
}

// statements runs statements on a database.
func statements(dsn string, list ...string) error {
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		return err
	}
	for _, sql := range list {
		if err == nil {
			_, err = conn.Exec(context.Background(), sql)
		}
	}
	return errors.Join(err, conn.Close(context.Background()))
}

// NeedsCitus fails a test that is not run on a Citus cluster. Such tests have the
// build tag citus, so that only make citus builds them.
func NeedsCitus(tb testing.TB) {
	tb.Helper()
	if !Distributed() {
		tb.Fatal("this test needs a Citus cluster: run make citus")
	}
}
