package api

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests by route and status. Labels are bounded: a path
// that matches no route is "unknown".
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	routes   map[*route]*routeMetrics
}

// routeMetrics are looked up by their labels once, not with every request.
type routeMetrics struct {
	latency  prometheus.Observer
	byStatus [600]atomic.Pointer[prometheus.Counter]
}

func newMetrics(registry prometheus.Registerer, routes []route) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "anodyne_http_request_seconds", Help: "Time to answer, by route.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 14),
		}, []string{"route"}),
		routes: map[*route]*routeMetrics{},
	}
	m.add(nil)
	m.add(pages)
	for i := range routes {
		m.add(&routes[i])
	}
	if registry != nil {
		registry.MustRegister(m.requests, m.seconds)
	}
	return m
}

func (m *metrics) add(rt *route) {
	m.routes[rt] = &routeMetrics{latency: m.seconds.WithLabelValues(rt.name())}
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
	counter := of.byStatus[status].Load()
	if counter == nil {
		made := m.requests.WithLabelValues(rt.name(), strconv.Itoa(status))
		counter = &made
		of.byStatus[status].Store(counter)
	}
	(*counter).Inc()
}
