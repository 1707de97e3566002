package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// directTime is the deadline of a round on a worker.
	directTime = 2 * time.Second
	// firstProbe and longestProbe bound how long no connection to a worker is
	// tried after one failed.
	firstProbe, longestProbe = time.Second, time.Minute
)

// workerLink is the connections to a worker. The fields below rounds are guarded by the lock of
// direct.
type workerLink struct {
	d       *direct
	address string
	pool    *pgxpool.Pool
	rounds  *Rounds[ask, found]

	reachable bool
	probing   bool
	pause     time.Duration // after the last probe, if it failed
	next      time.Time     // when to probe

	identity string // of the server that the coordinator knows by this address
}

// newWorker returns a worker, without connecting to it.
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
// from those of rounds in the address, and can only read.
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
	if strings.HasPrefix(conn.Host, "/") {
		return nil, errors.New("the address of the database does not say how to secure a connection over the network")
	}
	ways := []*pgconn.FallbackConfig{{Host: conn.Host, Port: conn.Port, TLSConfig: conn.TLSConfig}}
	for _, other := range conn.Fallbacks {
		if other.Host == conn.Host && other.Port == conn.Port { // with and without TLS
			ways = append(ways, other)
		}
	}
	for i, way := range ways {
		secure := way.TLSConfig
		if secure != nil {
			secure = secure.Clone()
			secure.ServerName = host
		}
		ways[i] = &pgconn.FallbackConfig{Host: host, Port: uint16(port), TLSConfig: secure}
	}
	conn.Host, conn.Port, conn.TLSConfig, conn.Fallbacks = host, uint16(port), ways[0].TLSConfig, ways[1:]
	conn.RuntimeParams["default_transaction_read_only"] = "on"
	conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	return cfg, nil
}

// systemOf is the identity of a server.
const systemOf = `SELECT CAST(system_identifier AS TEXT) FROM pg_control_system()`

// identify returns an error if a connection leads to another server than that
// of the coordinator: an address such as localhost depends on who uses it.
func (w *workerLink) identify(ctx context.Context, conn *pgx.Conn) error {
	var is string
	if err := conn.QueryRow(ctx, systemOf).Scan(&is); err != nil {
		return err
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	if is != w.identity {
		return fmt.Errorf("%s is another server for this node than for the coordinator", w.address)
	}
	return nil
}

// usable reports whether lookups can be sent to the worker. If not, it may start
// to find out whether that has changed. It must be called with the lock of direct
// held.
func (w *workerLink) usable() bool {
	if !w.reachable && !w.probing && time.Now().After(w.next) {
		w.probing = true
		w.d.begin(w.probe)
	}
	return w.reachable
}

// probe connects to the worker.
func (w *workerLink) probe() {
	ctx, cancel := context.WithTimeout(w.d.ctx, 2*connectTime)
	defer cancel()
	err := w.know(ctx)
	if err == nil {
		err = w.pool.Ping(ctx)
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.probing, w.reachable = false, err == nil
	if err == nil {
		w.d.e.log.Debug("connected to a worker of the Citus cluster", "worker", w.address)
		w.pause = 0
		return
	}
	if w.pause == 0 && w.d.ctx.Err() == nil {
		w.d.e.log.Info("cannot connect to a worker of the Citus cluster; its lookups are made by the coordinator, which costs more", "worker", w.address, "error", err)
	}
	w.pause = min(max(2*w.pause, firstProbe), longestProbe)
	w.next = time.Now().Add(w.pause)
}

// know asks the coordinator for the identity of the worker.
func (w *workerLink) know(ctx context.Context) error {
	identity := ""
	err := w.d.e.read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT nodename, CAST(nodeport AS TEXT), result FROM run_command_on_workers($1) WHERE success`, func(r Row) error {
			if net.JoinHostPort(r.Text(0), r.Text(1)) == w.address {
				identity = r.Text(2)
			}
			return nil
		}, systemOf)
	})
	if err == nil && identity == "" {
		err = errors.New("the coordinator cannot connect to it")
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.identity = identity
	return err
}

// lost records that the worker cannot be reached.
func (w *workerLink) lost() {
	w.pool.Reset()
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.reachable, w.next = false, time.Now().Add(firstProbe)
}

// answer carries out a round on the worker.
func (w *workerLink) answer(ctx context.Context, asked []ask, answers []found) error {
	e := w.d.e
	questions, again := e.questions(0, asked, answers)
	var concerned reach
	var shards []int64
	for i := range asked {
		concerned.orgs = append(concerned.orgs, asked[i].args[0].(int64))
		if !slices.Contains(shards, asked[i].shard) {
			shards = append(shards, asked[i].shard)
		}
	}
	here, doubt := make(map[int64]bool, len(shards)), false
	questions = append(questions, question{sql: stillHere, args: []any{shards}, each: func(r postgresRow) error {
		here[r.Int(0)], doubt = true, r.Int(1) == 1
		return nil
	}})
	within, end, err := e.watch.begin(ctx, concerned)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(within, directTime)
	err = end(e.inRound(limited, w.pool, questions))
	cancel()
	switch {
	case errors.Is(err, errSilent):
		return err
	case err != nil && ctx.Err() != nil:
		return ctx.Err() // of a single caller
	case err != nil:
		w.lost()
		return errDetour
	}
	for _, q := range questions {
		if q.err != nil {
			for _, place := range q.calls {
				answers[place] = found{err: errDetour}
			}
		}
	}
	for _, r := range again {
		answers[r.place] = answers[r.first]
	}
	for i := range asked {
		if !here[asked[i].shard] {
			w.d.forget(asked[i].args[0].(int64))
		}
		if doubt || !here[asked[i].shard] {
			answers[i] = found{err: errDetour}
		}
	}
	return nil
}
