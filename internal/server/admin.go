package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"anodyne.example/anodyne/internal/config"
)

// buildInfo exports the version of the program as a metric.
func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anodyne_build_info", Help: "Version of the program and of Go; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// withToken requires the token, which is read for every request, so that it
// can be changed while the server runs.
func withToken(next http.Handler, token func() (string, error), log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want, err := token()
		if err != nil {
			log.Error("the admin listener rejects all requests", "error", err)
			http.Error(w, "cannot read the token file; see the log", http.StatusInternalServerError)
			return
		}
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		ok := strings.EqualFold(scheme, "Bearer")
		// Compare hashes, which have equal length, so that timing reveals
		// nothing about the token.
		wantSum, givenSum := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(wantSum[:], givenSum[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="anodyne admin"`)
			http.Error(w, "send the token of --admin-token-file: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mostAdminConnections is far above what a few monitoring systems need.
const mostAdminConnections = 64

// serveAdmin serves the admin listener. Strangers may reach it too, so it is
// protected as the public one is.
func (s *Server) serveAdmin(registry *prometheus.Registry) {
	handler := adminHandler(registry)
	if s.cfg.AdminTokenFile != "" {
		handler = withToken(handler, s.cfg.AdminToken, s.log)
	}
	room := newConnections(s.adminLn, min(mostAdminConnections, config.OpenFiles()/8), s.log.With("listener", "admin"), registry, "anodyne_admin_connections", "the admin listener")
	room.spare, room.patience, room.encrypted = 0, s.limits.patience, s.adminIsSecure() // the health checks are on the public one
	refuse := func(w http.ResponseWriter, _ *http.Request, status int) {
		w.Header().Set("Connection", "close")
		http.Error(w, http.StatusText(status), status)
	}
	s.admin = &http.Server{
		// A profile takes as long as its caller asks, so there is no WriteTimeout.
		Handler: &guard{room, refuse, handler, s.limits}, ReadHeaderTimeout: s.limits.header, IdleTimeout: s.limits.idle,
		ConnState: room.state, ConnContext: room.context, ErrorLog: s.public.ErrorLog,
	}
	if room.encrypted {
		go s.serve(s.admin, newHandshakes(room, s.public.TLSConfig, s.limits.header))
	} else {
		go s.serve(s.admin, room)
	}
}

// adminHandler serves the endpoints for the operator of the machine.
func adminHandler(registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
