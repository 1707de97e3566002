package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"anodyne.example/anodyne/internal/fault"
)

// postgresConfig reads the address of a database and says how connections are
// made.
func postgresConfig(dsn string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("database address: " + redactDSN(err.Error(), dsn))
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = int32(max(16, 4*runtime.GOMAXPROCS(0)))
	}
	if cfg.PingTimeout == 0 {
		cfg.PingTimeout = pingTime
	}
	conn := cfg.ConnConfig
	for name, value := range map[string]string{
		"application_name": "anodyne", "timezone": "UTC",
		"lock_timeout": fmt.Sprint(LockWait.Milliseconds()), "statement_timeout": fmt.Sprint(WriteTime.Milliseconds()),
		// Of a node that is gone without a word, PostgreSQL must not keep the locks.
		"idle_in_transaction_session_timeout": fmt.Sprint(idleTime.Milliseconds()),
		"tcp_keepalives_idle":                 fmt.Sprint(int(keepAlive.Idle.Seconds())),
		"tcp_keepalives_interval":             fmt.Sprint(int(keepAlive.Interval.Seconds())), "tcp_keepalives_count": fmt.Sprint(keepAlive.Count),
		// A bitmap scan walks the dead entries of an index again each time; a
		// plain one marks them. Of journal_pending, a queue, most are dead.
		"enable_bitmapscan": "off",
	} {
		if _, set := conn.RuntimeParams[name]; !set {
			conn.RuntimeParams[name] = value
		}
	}
	conn.StatementCacheCapacity = 256
	conn.OnNotice = noteWarning
	several := namesSeveral(conn)
	if several && conn.ValidateConnect == nil {
		// Of several servers one takes writes, and none of the others will do.
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if validate := conn.ValidateConnect; validate != nil {
		conn.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
			if err := validate(ctx, c); err != nil {
				return fmt.Errorf("%w: %w", errNotPrimary, err)
			}
			return nil
		}
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTime
		if several {
			conn.ConnectTimeout = nextServer
		}
	}
	dialer := &net.Dialer{Timeout: conn.ConnectTimeout, Control: boundSilence, KeepAliveConfig: keepAlive}
	conn.DialFunc = dialer.DialContext
	return cfg, nil
}

// namesSeveral reports an address with more than one server. One server has
// several entries when it is tried with and without TLS.
func namesSeveral(conn *pgx.ConnConfig) bool {
	for _, other := range conn.Fallbacks {
		if other.Host != conn.Host || other.Port != conn.Port {
			return true
		}
	}
	return false
}

// redactDSN takes the address, which may hold a password, out of a message.
func redactDSN(message, dsn string) string { return strings.ReplaceAll(message, dsn, "postgres://...") }

// A COMMIT that waits for a synchronous standby and is cancelled, by a timeout
// or an administrator, succeeds with a warning: the transaction is on this
// server and perhaps on no other. Whoever takes that for an acknowledgement
// loses it with the server.

// warningOf is where a connection keeps that it was warned.
const warningOf = "anodyne warned"

func noteWarning(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningOf] = true
	}
}

func forgetWarning(conn *pgx.Conn) { delete(conn.PgConn().CustomData(), warningOf) }

func warned(conn *pgx.Conn) bool { return conn.PgConn().CustomData()[warningOf] != nil }

// errUnconfirmed is a COMMIT of which a standby may know nothing.
var errUnconfirmed = fault.Away("The database's standby did not confirm the change; it may or may not have been saved.", nil)
