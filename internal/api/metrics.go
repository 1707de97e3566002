package api

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/worker"
)

// metrics counts requests by route and status. Labels are bounded: a path
// that matches no route is "unknown".
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	routes   map[*route]*routeMetrics
	// guesses are requests whose credentials were not valid. They are not the
	// answers 401: beyond the allowance of their address these become 429.
	guesses prometheus.Counter
	usage   *worker.Rounds
}

// alerted are the statuses that alerts and panels count. They are exported as
// zeros for every route, because the first of a series is no increase.
var alerted = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// routeMetrics are looked up by their labels once, not with every request.
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

// counter is that of a route and a status; it is looked up once.
func (m *metrics) counter(rt *route, of *routeMetrics, status int) prometheus.Counter {
	counter := of.byStatus[status].Load()
	if counter == nil {
		made := m.requests.WithLabelValues(rt.name(), strconv.Itoa(status))
		counter = &made
		of.byStatus[status].Store(counter)
	}
	return *counter
}
