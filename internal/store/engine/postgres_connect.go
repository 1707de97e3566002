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

// postgresConfig parses the address of a database and configures its
// connections.
func postgresConfig(dsn string, limits timeLimits) (*pgxpool.Config, error) {
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
		"lock_timeout": fmt.Sprint(limits.lock.Milliseconds()), "statement_timeout": fmt.Sprint(limits.write.Milliseconds()),
		// PostgreSQL must not keep the locks of a node that has disappeared.
		"idle_in_transaction_session_timeout": fmt.Sprint(limits.idle.Milliseconds()),
		"tcp_keepalives_idle":                 fmt.Sprint(int(keepAlive.Idle.Seconds())),
		"tcp_keepalives_interval":             fmt.Sprint(int(keepAlive.Interval.Seconds())), "tcp_keepalives_count": fmt.Sprint(keepAlive.Count),
		// A bitmap scan reads the dead entries of an index every time; an index
		// scan marks them. In journal_pending, a queue, most entries are dead.
		"enable_bitmapscan": "off",
	} {
		if _, set := conn.RuntimeParams[name]; !set {
			conn.RuntimeParams[name] = value
		}
	}
	conn.StatementCacheCapacity = 256
	cfg.AfterConnect = sendsArrays
	conn.OnNotice = noteWarning
	several := namesSeveral(conn)
	if several && conn.ValidateConnect == nil {
		// Of several servers, only the one that accepts writes will do.
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

// namesSeveral reports whether the address lists more than one server. A single
// server has several entries if it is tried with and without TLS.
func namesSeveral(conn *pgx.ConnConfig) bool {
	for _, other := range conn.Fallbacks {
		if other.Host != conn.Host || other.Port != conn.Port {
			return true
		}
	}
	return false
}

// redactDSN removes the address, which may contain a password, from a message.
func redactDSN(message, dsn string) string { return strings.ReplaceAll(message, dsn, "postgres://...") }

// If a COMMIT that waits for a synchronous standby is cancelled, by a timeout
// or an administrator, it succeeds with a warning: the transaction is durable
// on this server, but perhaps on no other. Treating that as success could lose
// it with the server.

// warningOf is the key under which a connection stores that it received the
// warning.
const warningOf = "anodyne warned"

func noteWarning(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningOf] = true
	}
}

func forgetWarning(conn *pgx.Conn) { delete(conn.PgConn().CustomData(), warningOf) }

func warned(conn *pgx.Conn) bool { return conn.PgConn().CustomData()[warningOf] != nil }

// errUnconfirmed reports a COMMIT that a standby may not have received.
var errUnconfirmed = fault.Away("The database's standby did not confirm the change; it may or may not have been saved.", nil)
