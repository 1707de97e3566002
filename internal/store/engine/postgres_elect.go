package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	pulseChannel  = "anodyne_pulse"
	leaderChannel = "anodyne_leader"

	// nodeLocks is the first number of the advisory locks of nodes; the second
	// is the number of the node.
	nodeLocks = 0x616e6f64

	clockMillis = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`
	lockedNodes = `SELECT CAST(objid AS BIGINT) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1634627428
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
)

// candidacy makes a node the elected one, or renews its lease, unless another
// node has a valid lease and its process is alive. Only the clock of the database
// counts. A lease that ends too far ahead was written before that clock was set
// back.
var candidacy = fmt.Sprintf(`INSERT INTO leader AS l (one, node, term, until) VALUES (1, $1, 1, %[1]s + $2)
	ON CONFLICT (one) DO UPDATE SET node = excluded.node, until = excluded.until, term = CASE WHEN l.node = excluded.node THEN l.term ELSE l.term + 1 END
	WHERE l.node = $1 OR l.until <= %[1]s OR l.until > %[1]s + 10 * $2 OR l.node NOT IN (%[2]s) RETURNING term`, clockMillis, lockedNodes)

// elector is this node's session in the election. It holds the lock that shows
// others that the process is alive.
type elector struct {
	*nodes
	e     *postgresEngine
	log   *slog.Logger
	conn  *pgx.Conn
	node  int64
	there map[int64]bool // the nodes that were alive at the last pulse
}

func (e *postgresEngine) elect(ctx context.Context, n *nodes, log *slog.Logger) error {
	for ctx.Err() == nil {
		err := e.candidate(ctx, n, log)
		if ctx.Err() == nil {
			n.rounds.Done(err)
			log.Warn("cannot take part in the election for background work; this node does all of it in the meantime", "error", err)
		}
		pause(ctx, time.Second)
	}
	return nil
}

// candidate takes part in the election until the connection is lost.
func (e *postgresEngine) candidate(ctx context.Context, n *nodes, log *slog.Logger) error {
	pooled, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	c := &elector{nodes: n, e: e, log: log, conn: pooled.Hijack()}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTime)
		defer cancel()
		c.withdraw(last)
		c.resign(last)
		_ = c.conn.Close(last)
	}()
	if err := c.register(ctx); err != nil {
		return e.failed(ctx, err)
	}
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		if c.stands(time.Now()) {
			if err := c.run(ctx); err != nil {
				return e.failed(ctx, err)
			}
		}
		if c.outdated() {
			if err := c.readMembers(ctx); err != nil {
				return e.failed(ctx, err)
			}
		}
		n.rounds.Done(nil)
		select {
		case <-tick.C:
		case <-c.resigns:
		case <-ctx.Done():
			return nil
		}
	}
}

// register takes a number and its lock. The lease need not survive a crash of
// the server, so its renewals do not wait for the disk.
func (c *elector) register(ctx context.Context) error {
	tx := c.e.tx(ctx, c.conn)
	if _, err := tx.Exec(`SET synchronous_commit = off`); err != nil {
		return err
	}
	for range 10 {
		c.node = 1 + rand.Int64N(1<<31-1)
		locked := false
		if err := tx.Query(`SELECT CAST(pg_try_advisory_lock($1, $2) AS INTEGER)`, func(r Row) error {
			locked = r.Int(0) == 1
			return nil
		}, nodeLocks, c.node); err != nil {
			return err
		}
		if locked {
			c.called(c.node)
			return c.announce(ctx)
		}
	}
	return errors.New("no free number for this node")
}

// stands reports whether to stand for election: to stay elected, or because the
// elected node has resigned or was not heard for a while. The random delay keeps
// nodes from standing at the same moment.
func (c *elector) stands(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.leads.IsZero() || now.Sub(c.pulse.At) > PulseTime+rand.N(pulseEvery)
}

// run stands for election, or renews the lease, and sends a pulse if elected.
func (c *elector) run(ctx context.Context) error {
	began := time.Now()
	var term int64
	there := map[int64]bool{}
	var members []Member
	c.mu.Lock()
	carry, known := c.carry, "\n"+digest(c.members)
	c.mu.Unlock()
	if carry == "" {
		carry = `SELECT ''`
	}
	err := c.e.transaction(ctx, c.conn, "BEGIN", func(tx Tx) error {
		tx.Last(
			Stmt{SQL: candidacy, Args: []any{c.node, leaseTime.Milliseconds()}, Each: func(r Row) error {
				term = r.Int(0)
				return nil
			}},
			Stmt{SQL: `SELECT pg_notify($2, (` + carry + `) || $3) FROM leader WHERE node = $1`, Args: []any{c.node, pulseChannel, known}, Each: func(Row) error { return nil }},
			Stmt{SQL: runningNodes, Each: func(r Row) error {
				there[r.Int(0)] = true
				members = appendMember(members, r)
				return nil
			}},
		)
		return nil
	})
	if err != nil {
		return err
	}
	if term == 0 {
		if c.lead(time.Time{}) {
			c.log.Info("another node does the background work", "node", c.node)
		}
		return nil
	}
	c.met(members)
	elected := c.lead(began.Add(leaseTime - pulseEvery))
	if elected {
		c.log.Info("this node was elected for background work", "node", c.node, "term", term)
	}
	gone := false
	for node := range c.there {
		gone = gone || !there[node]
	}
	c.there = there
	if gone || elected {
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	if gone {
		c.log.Info("a node is gone; all nodes look for work that it left")
		return c.tell(ctx, "gone")
	}
	return nil
}

// tell tells all nodes about a change.
func (c *elector) tell(ctx context.Context, text string) error {
	return c.e.tx(ctx, c.conn).Query(`SELECT pg_notify($1, $2)`, nil, leaderChannel, text)
}

// resign lets the others elect another node at once.
func (c *elector) resign(ctx context.Context) {
	if !c.lead(time.Time{}) || c.conn.IsClosed() {
		return
	}
	if changed, err := c.e.tx(ctx, c.conn).Exec(`UPDATE leader SET until = 0 WHERE node = $1`, c.node); err == nil && changed > 0 {
		_ = c.tell(ctx, "resigned")
	}
}

// tell does not wait for the disk: after a crash of the server, nodes poll
// anyway.
func (e *postgresEngine) tell(ctx context.Context, channel, text string) error {
	return e.read(ctx, func(tx Tx) error {
		return tx.Query("SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)", nil, channel, text)
	})
}

func (e *postgresEngine) listen(ctx context.Context, n *nodes, log *slog.Logger) error {
	for ctx.Err() == nil {
		err := e.listenOnce(ctx, n)
		n.listening(false)
		if err != nil && ctx.Err() == nil {
			log.Warn("cannot receive notifications from other nodes; polling instead", "error", err)
		}
		pause(ctx, time.Second)
	}
	return nil
}

// listenOnce listens until the connection is lost.
func (e *postgresEngine) listenOnce(ctx context.Context, n *nodes) error {
	pooled, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // a listening connection must not return to the pool
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
		defer cancel()
		_ = conn.Close(last) // the server may be unreachable
	}()
	listen := "LISTEN " + pulseChannel + "; LISTEN " + leaderChannel
	n.mu.Lock()
	for channel := range n.hears {
		listen += "; LISTEN " + channel
	}
	n.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, e.limits.silence)
	_, err = conn.PgConn().Exec(limited, listen).ReadAll()
	cancel()
	if err != nil {
		return err
	}
	n.listening(true)
	for { // without a deadline; TCP keep-alive detects a lost connection
		said, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		n.heard(said.Channel, said.Payload)
	}
}

// heard handles a notification.
func (n *nodes) heard(channel, text string) {
	switch channel {
	case pulseChannel:
		n.beat(text, time.Now())
	case leaderChannel:
		if text != "resigned" {
			n.alarm()
			return
		}
		n.beat("", time.Time{})
		select {
		case n.resigns <- struct{}{}:
		default:
		}
	default:
		n.mu.Lock()
		heard := n.hears[channel]
		n.mu.Unlock()
		heard(text)
	}
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
