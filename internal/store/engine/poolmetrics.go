package engine

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// poolState is the state of a connection pool: on SQLite that of the readers,
// on PostgreSQL that of all connections.
type poolState struct {
	most, inUse, idle int
	waiting           int64         // now
	waits             int64         // so far
	waited            time.Duration // in total
}

// waits counts callers that wait for a connection.
type waits struct{ now, count, nanos atomic.Int64 }

// begin records that a caller waits, until end is called.
func (w *waits) begin() (end func()) {
	start := time.Now()
	w.now.Add(1)
	w.count.Add(1)
	return func() {
		w.now.Add(-1)
		w.nanos.Add(int64(time.Since(start)))
	}
}

func (e *sqliteEngine) connections() poolState {
	r := e.readers
	idle := len(r.free)
	return poolState{most: r.most(), inUse: r.most() - idle, idle: idle,
		waiting: r.waits.now.Load(), waits: r.waits.count.Load(), waited: time.Duration(r.waits.nanos.Load())}
}

func (e *postgresEngine) connections() poolState {
	stat := e.pool.Stat()
	s := poolState{waiting: e.acquiring.Load(), waits: stat.EmptyAcquireCount() + stat.CanceledAcquireCount(), waited: stat.EmptyAcquireWaitTime()}
	for _, pool := range e.pools() {
		stat := pool.Stat()
		s.most, s.inUse, s.idle = s.most+int(stat.MaxConns()), s.inUse+int(stat.AcquiredConns()), s.idle+int(stat.IdleConns())
	}
	return s
}

// poolCollector collects the state of the pool when scraped.
type poolCollector struct {
	state                             func() poolState
	connections, most, waiting, total *prometheus.Desc
	seconds                           *prometheus.Desc
}

func newPoolCollector(state func() poolState) *poolCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &poolCollector{
		state:       state,
		connections: desc("anodyne_store_connections", "Database connections by state (SQLite: read connections).", "state"),
		most:        desc("anodyne_store_connections_max", "Maximum number of database connections."),
		waiting:     desc("anodyne_store_connection_waiting", "Calls currently waiting for a database connection."),
		total:       desc("anodyne_store_connection_waits_total", "Calls that had to wait for a database connection."),
		seconds:     desc("anodyne_store_connection_wait_seconds_total", "Total time that calls waited for a database connection."),
	}
}

// Describe implements [prometheus.Collector].
func (c *poolCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.connections, c.most, c.waiting, c.total, c.seconds} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *poolCollector) Collect(out chan<- prometheus.Metric) {
	s := c.state()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(c.connections, float64(s.inUse), "in_use")
	gauge(c.connections, float64(s.idle), "idle")
	gauge(c.most, float64(s.most))
	gauge(c.waiting, float64(s.waiting))
	out <- prometheus.MustNewConstMetric(c.total, prometheus.CounterValue, float64(s.waits))
	out <- prometheus.MustNewConstMetric(c.seconds, prometheus.CounterValue, s.waited.Seconds())
}
