package api

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/worker"
)

// metrics counts requests by route and status. Labels are bounded: a path that
// matches no route is counted as "unknown".
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	routes   map[*route]*routeMetrics
	// guesses counts requests with invalid credentials. They differ from the
	// 401 responses, which become 429 beyond the allowance of the address.
	guesses prometheus.Counter
	usage   *worker.Rounds
}

// alerted are the statuses used by alerts and dashboards. They are exported as
// zero for every route, because the first sample of a new series is not seen
// as an increase.
var alerted = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// routeMetrics caches the metrics of a route, which would otherwise be looked
// up by label for every request.
type routeMetrics struct {
	latency  prometheus.Observer
	byStatus [600]atomic.Pointer[prometheus.Counter]
}

func newMetrics(registry prometheus.Registerer, routes []route) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_http_requests_total", Help: "HTTP requests, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "anodyne_http_request_seconds", Help: "Response time, by route.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 14),
		}, []string{"route"}),
		routes: map[*route]*routeMetrics{},
		guesses: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_http_bad_credentials_total", Help: "Requests without valid credentials, rejected with 401 or 429.",
		}),
		usage: worker.NewRounds(registry, "usage", usageEvery),
	}
	m.add(nil)
	m.add(pages)
	for i := range routes {
		m.add(&routes[i])
	}
	if registry != nil {
		registry.MustRegister(m.requests, m.seconds, m.guesses)
	}
	return m
}

func (m *metrics) add(rt *route) {
	of := &routeMetrics{latency: m.seconds.WithLabelValues(rt.name())}
	m.routes[rt] = of
	for _, status := range alerted {
		m.counter(rt, of, status)
	}
}

func (rt *route) name() string {
	if rt == nil {
		return "unknown"
	}
	return rt.method + " " + rt.pattern
}

func (m *metrics) observe(rt *route, status int, took time.Duration) {
	of := m.routes[rt]
	of.latency.Observe(took.Seconds())
	m.counter(rt, of, status).Inc()
}

// counter returns the counter of a route and status, and caches it.
func (m *metrics) counter(rt *route, of *routeMetrics, status int) prometheus.Counter {
	counter := of.byStatus[status].Load()
	if counter == nil {
		made := m.requests.WithLabelValues(rt.name(), strconv.Itoa(status))
		counter = &made
		of.byStatus[status].Store(counter)
	}
	return *counter
}
