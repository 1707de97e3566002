package engine

import (
	"fmt"
	"strings"
)

// workerSettings are settings that the sessions on the workers need. Citus does
// not pass on those of the session on the coordinator, so they become defaults of
// the database user.
//
// There is no statement_timeout: the coordinator cancels what takes too long, and
// backups and moving shards to another worker may take long.
var workerSettings = []struct{ name, value string }{
	{"lock_timeout", fmt.Sprint(LockWait.Milliseconds())},
	{"enable_bitmapscan", "off"},
	{"tcp_keepalives_idle", fmt.Sprint(int(keepAlive.Idle.Seconds()))},
	{"tcp_keepalives_interval", fmt.Sprint(int(keepAlive.Interval.Seconds()))},
	{"tcp_keepalives_count", fmt.Sprint(keepAlive.Count)},
}

// WorkerSettings describes the settings that [Distribute] makes on all servers of
// a Citus cluster.
func WorkerSettings() string {
	var list []string
	for _, s := range workerSettings {
		list = append(list, s.name+" = "+s.value)
	}
	return "defaults of the database user on all servers: " + strings.Join(list, ", ")
}

// setWorkers makes the settings.
func setWorkers(tx Tx) error {
	var database string
	if _, err := One(tx, `SELECT quote_ident(current_database())`, func(r Row) { database = r.Text(0) }); err != nil {
		return err
	}
	for _, s := range workerSettings {
		if _, err := tx.Exec("ALTER ROLE CURRENT_USER IN DATABASE " + database + " SET " + s.name + " = '" + s.value + "'"); err != nil {
			return fmt.Errorf("setting %s on the workers: %w", s.name, err)
		}
	}
	return nil
}
