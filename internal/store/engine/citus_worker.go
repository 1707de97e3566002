package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// directTime is the deadline of a round on a worker, and directLockWait how
	// long it waits for a lock.
	directTime, directLockWait = 2 * time.Second, 100 * time.Millisecond
	// firstRest and longestRest bound how long a worker is not asked after that
	// failed. It grows if that happens again within longestRest.
	firstRest, longestRest = time.Second, time.Minute
)

// workerLink holds the connections to a worker.
type workerLink struct {
	d       *direct
	address string
	pool    *pgxpool.Pool
	rounds  *Rounds[ask, found]

	// The lock of direct guards these.
	reachable bool
	probing   bool
	failed    time.Time // when it could not be asked
	rest      time.Duration
	identity  string // of the server that the coordinator knows by this address
}

// newWorker returns the link to a worker, without connecting to it.
func (d *direct) newWorker(address string) (*workerLink, error) {
	w := &workerLink{d: d, address: address}
	cfg, err := workerConfig(d.cfg, address)
	if err != nil {
		return nil, err
	}
	prepare := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		return errors.Join(prepare(ctx, conn), w.identify(ctx, conn))
	}
	if w.pool, err = pgxpool.NewWithConfig(d.ctx, cfg); err != nil {
		return nil, postgresError(err)
	}
	w.rounds = NewRounds(RoundsConfig{Lanes: roundLanes(), Spare: spareLanes, Most: callsPerRound}, w.answer)
	return w, nil
}

// workerConfig returns the configuration of connections to a worker. They differ
// from those of rounds in the address, can only read, and do not wait for locks.
func workerConfig(coordinator *pgxpool.Config, address string) (*pgxpool.Config, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, err
	}
	cfg := roundsConfig(coordinator, roundLanes())
	conn := cfg.ConnConfig
	ways := []*pgconn.FallbackConfig{{Host: conn.Host, Port: conn.Port, TLSConfig: conn.TLSConfig}}
	for _, other := range conn.Fallbacks {
		if other.Host == conn.Host && other.Port == conn.Port { // with and without TLS
			ways = append(ways, other)
		}
	}
	plain := false
	for i, way := range ways {
		secure := way.TLSConfig
		if secure != nil {
			secure = secure.Clone()
			secure.ServerName = host
		}
		plain = plain || secure == nil
		ways[i] = &pgconn.FallbackConfig{Host: host, Port: uint16(port), TLSConfig: secure}
	}
	switch here, there := isLocal(conn.Host), isLocal(host); {
	case there && !here:
		return nil, errors.New("the coordinator means a server on its own machine by that address")
	case here && !there && plain:
		return nil, errors.New("the connection to the coordinator stays on this machine, so its settings do not say how to secure one over the network; use sslmode=verify-full, or an address of the network")
	}
	conn.Host, conn.Port, conn.TLSConfig, conn.Fallbacks = host, uint16(port), ways[0].TLSConfig, ways[1:]
	conn.RuntimeParams["default_transaction_read_only"] = "on"
	conn.RuntimeParams["lock_timeout"] = fmt.Sprint(directLockWait.Milliseconds())
	conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	return cfg, nil
}

// isLocal reports whether the connections to a host stay on this machine.
func isLocal(host string) bool {
	network, _ := pgconn.NetworkAddress(host, 0)
	ip := net.ParseIP(host)
	return network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback()
}

// systemOf is the identity of a server.
const systemOf = `SELECT CAST(system_identifier AS TEXT) FROM pg_control_system()`

// identify returns an error if a connection leads to another server than that
// of the coordinator: what an address means may depend on who uses it.
func (w *workerLink) identify(ctx context.Context, conn *pgx.Conn) error {
	var identity string
	if err := conn.QueryRow(ctx, systemOf).Scan(&identity); err != nil {
		return err
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	if identity != w.identity {
		return fmt.Errorf("%s is another server for this node than for the coordinator", w.address)
	}
	return nil
}

// learnIdentity asks the coordinator for the identity of the worker, on a
// connection of its own, because it may have to wait for the worker.
func (w *workerLink) learnIdentity(ctx context.Context) error {
	host, port, err := net.SplitHostPort(w.address)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, w.d.e.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var answered bool
	var identity string
	if err := conn.QueryRow(ctx, `SELECT success, result FROM master_run_on_worker(ARRAY[$1], ARRAY[CAST(CAST($2 AS TEXT) AS INT)], ARRAY[$3], false)`, host, port, systemOf).Scan(&answered, &identity); err != nil {
		return err
	}
	if !answered {
		return errors.New("the coordinator cannot connect to it: " + identity)
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.identity = identity
	return nil
}

// usable reports whether lookups can be sent to the worker. If not, it may start
// to find out whether that has changed. It must be called with the lock of direct
// held.
func (w *workerLink) usable() bool {
	if !w.reachable && !w.probing && time.Since(w.failed) > w.rest {
		w.probing = true
		w.d.begin(w.probe)
	}
	return w.reachable
}

// asks is usable for callers without the lock.
func (w *workerLink) asks() bool {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	return w.usable()
}

// probe connects to the worker.
func (w *workerLink) probe() {
	ctx, cancel := context.WithTimeout(w.d.ctx, 2*connectTime)
	defer cancel()
	err := w.learnIdentity(ctx)
	if err == nil {
		err = w.pool.Ping(ctx)
	}
	if err != nil {
		w.fail(err)
	} else {
		w.d.e.log.Info("connected to a worker of the Citus cluster, which makes the lookups of its organisations", "worker", w.address)
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.probing, w.reachable = false, err == nil
}

// fail records that the worker could not be asked.
func (w *workerLink) fail(err error) {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	again := time.Since(w.failed) < w.rest+longestRest
	if !again {
		w.rest = 0
	}
	w.rest = min(max(2*w.rest, firstRest), longestRest)
	w.reachable, w.failed = false, time.Now()
	if !again && w.d.ctx.Err() == nil {
		w.d.e.log.Info("cannot ask a worker of the Citus cluster; its lookups are made by the coordinator, which costs more", "worker", w.address, "error", err)
	}
}

// answer carries out a round on the worker.
func (w *workerLink) answer(ctx context.Context, asked []ask, answers []found) error {
	if !w.asks() {
		return errDetour // it failed while this round was waiting
	}
	e := w.d.e
	questions, again := e.questions(0, asked, answers)
	if err := w.send(ctx, asked, questions); err != nil {
		return err
	}
	for _, q := range questions {
		for _, place := range q.calls {
			if q.err != nil {
				answers[place] = found{err: errDetour}
			}
			if pg, ok := errors.AsType[*pgconn.PgError](q.err); ok && pg.Code == undefinedTable {
				w.d.moved(asked[place].shard)
			}
		}
	}
	for _, r := range again {
		answers[r.place] = answers[r.first]
	}
	var shards []*shard
	for i := range asked {
		if !slices.Contains(shards, asked[i].shard) {
			shards = append(shards, asked[i].shard)
		}
	}
	now, err := e.versions(ctx, shards)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return errDetour
	}
	for i := range asked {
		if s := asked[i].shard; now[s.id] != s.version {
			w.d.moved(s)
			answers[i] = found{err: errDetour}
		}
	}
	return nil
}

const undefinedTable = "42P01"

// send sends the questions of a round. It returns an error if none was answered.
func (w *workerLink) send(ctx context.Context, asked []ask, questions []question) error {
	var concerned reach
	for i := range asked {
		concerned.orgs = append(concerned.orgs, asked[i].args[0].(int64))
	}
	within, end, err := w.d.e.watch.begin(ctx, concerned)
	if err != nil {
		return errDetour // some of the organisations may be on another worker now
	}
	limited, cancel := context.WithTimeout(within, directTime)
	defer cancel()
	err = end(w.d.e.inRound(limited, w.pool, questions))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err() // of a single caller
	case !errors.Is(err, errSilent):
		w.fail(err)
	}
	return errDetour
}
