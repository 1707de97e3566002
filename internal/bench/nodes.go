package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"anodyne.example/anodyne/internal/store"
)

// NodesResult compares several servers on one database with a single one under
// the same load. Everything runs on this machine, including the database.
type NodesResult struct {
	Nodes int         `json:"nodes"`
	Paths []NodesPath `json:"paths"`
}

// NodesPath is one path with one server and with all of them.
type NodesPath struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// OneRate and Rate are requests per second; Ratio is Rate divided by
	// OneRate.
	OneRate    float64 `json:"one_requests_per_second"`
	Rate       float64 `json:"requests_per_second"`
	Ratio      Ratio   `json:"ratio"`
	OneLatency Latency `json:"one_latency"`
	Latency    Latency `json:"latency"`
	Errors     int     `json:"errors"`
	FirstError string  `json:"first_error,omitempty"`
}

// nodes starts more servers and measures the paths with one and with all, in
// turns.
func (m *measurement) nodes(ctx context.Context, db *database) (result *NodesResult, err error) {
	m.server.resume()
	all := []*child{m.server}
	defer func() {
		for _, c := range all[1:] {
			err = errors.Join(err, c.stop())
		}
	}()
	for i := 2; i <= m.Nodes; i++ {
		// A separate directory with the keys of the first, as on another
		// machine.
		other := *db
		other.DataDir = filepath.Join(filepath.Dir(db.DataDir), fmt.Sprint("node", i))
		if err := store.WriteKeyFiles(other.DataDir, m.keys); err != nil {
			return nil, err
		}
		c, err := startServer(ctx, &m.Options, &other)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	result = &NodesResult{Nodes: m.Nodes}
	for i, name := range m.Paths {
		m.Progress("nodes", i, len(m.Paths))
		if p := findPath(name); !p.apart {
			measured, err := m.nodesPath(ctx, p, all)
			if err != nil {
				return result, fmt.Errorf("%d nodes: %s: %w", m.Nodes, name, err)
			}
			result.Paths = append(result.Paths, measured)
		}
	}
	m.Progress("nodes", len(m.Paths), len(m.Paths))
	return result, nil
}

// nodesPath measures one path. No server is paused: they share a database, and
// a paused one may hold a lock.
func (m *measurement) nodesPath(ctx context.Context, p *path, all []*child) (r NodesPath, err error) {
	s := newScript(p, m.server.name(), m.IdempotencyKey)
	one, err := connect(ctx, all[:1], s, m.slots, true)
	if err != nil {
		return r, err
	}
	defer one.close()
	many, err := connect(ctx, all, s, m.slots, true)
	if err != nil {
		return r, err
	}
	defer many.close()
	one.free, many.free = true, true
	defer context.AfterFunc(ctx, func() { one.close(); many.close() })()
	if err := errors.Join(m.warm(one, many), m.alternate(one, many)); err != nil {
		return r, err
	}
	_, _, ofOne := one.latencies()
	_, _, ofMany := many.latencies()
	r = NodesPath{Name: p.name, Title: p.title, OneRate: sum(one.turns).rate(), Rate: sum(many.turns).rate(), Ratio: compare(many.turns, one.turns),
		OneLatency: latencyOf(&ofOne), Latency: latencyOf(&ofMany)}
	for _, sd := range []*side{one, many} {
		count, first := sd.errors()
		r.Errors += count
		r.FirstError = max(r.FirstError, first)
	}
	return r, nil
}
