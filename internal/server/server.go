// Package server assembles the service: it opens the store, builds the API,
// listens, starts the workers, and stops everything in reverse order.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api"
	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/peer"
	"anodyne.example/anodyne/internal/portal"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/report"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/tracing"
	"anodyne.example/anodyne/internal/webhook"
	"anodyne.example/anodyne/internal/worker"
)

// Server is a running service.
type Server struct {
	cfg      config.Config
	log      *slog.Logger
	limits   timeouts
	now      func() time.Time
	store    *store.Store
	limiter  *ratelimit.Limiter
	workers  *worker.Group
	public   *http.Server
	admin    *http.Server
	listener net.Listener
	adminLn  net.Listener
	draining context.Context
	drain    context.CancelFunc

	// deliveries sends webhooks; closeSender closes its connections.
	deliveries  *worker.Group
	closeSender func()

	// answerer and asker talk to other nodes; nil if disabled.
	answerer *peer.Server
	asker    *peer.Client

	lines   *lineBuffer    // request log; nil if disabled
	tracing *tracing.Spans // nil if disabled
}

// timeouts limit how long a caller may take to send and receive.
type timeouts struct {
	header time.Duration // TLS handshake, and request header
	stall  time.Duration // next part of a body; see paced
	write  time.Duration // from the end of the body to the end of the response
	idle   time.Duration // between two requests
	// answer is for computing a response, counted from the request header. After
	// that, a 503 is sent while the connection can still be written to.
	answer time.Duration
	// patience is how long a caller may be slow before its connection may be
	// closed to make room for another.
	patience time.Duration
	// ready is how long /readyz waits for the database.
	ready time.Duration
	// spans and attempt are for sending spans to a collector, and for attempts to
	// deliver an event; 0 means the default.
	spans, attempt time.Duration
}

// limits are the timeouts of the public listener. A wait for events takes up
// to 30 s; each part of a report file has its own limit.
var limits = timeouts{header: 10 * time.Second, stall: 10 * time.Second, write: 90 * time.Second, idle: 120 * time.Second, answer: 75 * time.Second, patience: 2 * time.Second, ready: 3 * time.Second}

// addressCapacity limits the number of source addresses whose failed requests
// are counted.
const addressCapacity = 100_000

// Start migrates and opens the database and starts serving. The caller must
// Stop the server.
func Start(ctx context.Context, cfg config.Config, log *slog.Logger) (*Server, error) {
	return startWithin(ctx, cfg, log, limits, time.Now)
}

// startWithin is Start with other timeouts, and another clock for requests.
func startWithin(ctx context.Context, cfg config.Config, log *slog.Logger, slow timeouts, now func() time.Time) (*Server, error) {
	s := &Server{cfg: cfg, log: log, limits: slow, now: now, workers: worker.NewGroup(log), deliveries: worker.NewGroup(log)}
	s.draining, s.drain = context.WithCancel(context.Background())
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(s.cfg.Version))
	if s.cfg.RequestLog && s.cfg.LogOutput != nil {
		s.lines = newLineBuffer(s.cfg.LogOutput, registry)
	}
	if s.cfg.OTLPEndpoint != "" {
		s.tracing = tracing.Start(tracing.Config{Endpoint: s.cfg.OTLPEndpoint, Version: s.cfg.Version, Log: s.log, Registry: registry, Patience: s.limits.spans})
	}
	var err error
	if s.store, err = openStore(ctx, s.cfg, s.log, registry, s.tracing.Tracer()); err != nil {
		return err
	}
	handler, err := s.handler(ctx, registry)
	if err != nil {
		return err
	}
	return s.listen(handler, registry)
}

func openStore(ctx context.Context, cfg config.Config, log *slog.Logger, registry prometheus.Registerer, tracer trace.Tracer) (*store.Store, error) {
	sc, err := cfg.Opening(log)
	if err != nil {
		return nil, err
	}
	taken, err := store.Migrate(ctx, sc)
	if err != nil {
		return nil, err
	}
	for _, m := range taken {
		log.Info("migrated", "version", m.Version, "name", m.Name)
	}
	sc.Registry, sc.Tracer = registry, tracer
	return store.Open(ctx, sc)
}

// handler builds the API and starts the workers.
func (s *Server) handler(ctx context.Context, registry prometheus.Registerer) (*api.API, error) {
	sys := s.store.System()
	sender, err := s.newSender()
	if err != nil {
		return nil, err
	}
	authority := oauth.New(s.store, s.now)
	authority.FetchFrom(keysFrom(sender), s.log)
	if err := authority.Look(ctx); err != nil {
		return nil, err
	}
	s.limiter = ratelimit.NewClaiming(sys.Claim, sys.StartClaims, sys.Return, s.ahead(), s.now)
	s.limiter.OnUse(sys.WarnQuota)
	proxies, err := s.cfg.Proxies()
	if err != nil {
		return nil, err
	}
	mapping, err := s.cfg.Mapping()
	if err != nil {
		return nil, err
	}
	cohorts := cohort.New(int64(s.cfg.CohortMemory), registry)
	cohorts.LogTo(s.log)
	if err := s.share(cohorts, registry); err != nil {
		return nil, err
	}
	pages := portal.New(portal.Config{
		Store: s.store, Cohorts: cohorts, FHIR: mapping, NewSecret: oauth.NewSecret, ReadKeys: oauth.ReadKeys, CheckKeysURI: checkKeys(keysFrom(sender)), Source: api.Source(proxies),
		CheckWebhookURL: s.checkWebhookURL, NewWebhookSecret: webhook.NewSecret, ReadReport: report.ReadRequest, OpenAPI: openapi.JSON,
		SessionIdle: s.cfg.SessionIdle, SessionLifetime: s.cfg.SessionLifetime,
		Base: api.Base(s.cfg.BaseURL), Dev: s.cfg.Dev, AnswerTime: s.limits.answer, Now: s.now, Log: s.log,
	})
	reports := report.NewWorker(report.Config{Store: s.store, Analyst: cohorts, Mapping: mapping, Retention: s.cfg.ReportRetention, Log: s.log, Registry: registry})
	handler := api.New(api.Config{
		Store: s.store, Authority: authority, Limiter: s.limiter,
		Addresses:      ratelimit.NewAddresses(access.Standard.Limit(), addressCapacity, s.now),
		Revocations:    api.NewRevocations(addressCapacity, s.now),
		Cohorts:        cohorts,
		FHIR:           mapping,
		Pages:          pages,
		ReadReport:     report.ReadRequest,
		TrustedProxies: proxies, CORSOrigins: s.cfg.CORSOrigins, BaseURL: s.cfg.BaseURL,
		AnswerTime: s.limits.answer, ReadyTime: s.limits.ready, Now: s.now, Log: s.log, Registry: registry, Draining: s.draining,
		CheckWebhookURL:  s.checkWebhookURL,
		NewWebhookSecret: webhook.NewSecret,
		RequestLog:       s.requestLog(),
		RequestLogJSON:   s.cfg.LogFormat == "json",
		MaxWaiting:       max(1, s.cfg.MaxConnections/2), // the rest stays available
		Traced:           s.tracing != nil,
	})
	s.workers.Start("sequencer", sys.Sequence)
	s.workers.Start("listener", sys.Listen)
	s.workers.Start("leader", sys.Elect)
	s.workers.Start("sealer", sys.KeepSealed)
	s.workers.Start("purge", sys.KeepPurged)
	s.workers.Start("measure", sys.KeepMeasured)
	s.workers.Start("usage", handler.KeepUsage)
	s.workers.Start("alerts", sys.KeepAlerted)
	s.workers.Start("derivation", sys.KeepDerived)
	s.workers.Start("erasures", sys.KeepErased)
	s.workers.Start("reports", reports.Run)
	s.workers.Start("warmth", pages.KeepWarm)
	watched := worker.NewRounds(registry, "revocations", oauth.WatchEvery)
	s.workers.Start("revocations", func(ctx context.Context) error { return authority.Watch(ctx, s.log, watched) })
	s.startWebhooks(sender, registry)
	return handler, nil
}

// ahead returns how much of an allowance is reserved in advance. On SQLite
// there is one process, and a small reserve saves a write per request. With
// several nodes on PostgreSQL, a node must not hold allowance that another
// needs.
func (s *Server) ahead() func(limit int64) int64 {
	if s.store.Shared() {
		return func(int64) int64 { return 0 }
	}
	return func(limit int64) int64 { return limit / 50 }
}

// listen opens the sockets and serves on them.
func (s *Server) listen(handler *api.API, registry *prometheus.Registry) error {
	s.public = &http.Server{
		ReadHeaderTimeout: s.limits.header, // bodies are limited by paced
		WriteTimeout:      s.limits.write,
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    api.MaxHeaderBytes,
		// OPTIONS * gets the response of an unknown path, with its headers.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	if s.cfg.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(s.cfg.TLSCert, s.cfg.TLSKey)
		if err != nil {
			return fmt.Errorf("TLS certificate: %w", err)
		}
		s.public.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
	}
	var err error
	if s.listener, err = net.Listen("tcp", s.cfg.Listen); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if s.cfg.AdminListen != "" {
		if s.adminLn, err = net.Listen("tcp", s.cfg.AdminListen); err != nil {
			return fmt.Errorf("--admin-listen: %w", err)
		}
		s.serveAdmin(registry)
	}
	room := newConnections(s.listener, s.cfg.MaxConnections, s.log, registry, "anodyne_http_connections", "the public listener")
	if room.proxies, err = s.cfg.Proxies(); err != nil {
		return err
	}
	room.source, room.patience = api.Source(room.proxies), s.limits.patience
	room.encrypted = s.public.TLSConfig != nil
	room.answer = func(status int, peer string) []byte { return handler.Malformed(status, peer, room.encrypted) }
	s.listener = room
	s.public.Handler = &guard{room, handler.Refuse, s.tracing.Handler(handler), s.limits}
	s.public.ConnState, s.public.ConnContext = room.state, room.context
	if room.encrypted {
		go s.serve(s.public, newHandshakes(room, s.public.TLSConfig, s.limits.header))
	} else {
		go s.serve(s.public, room)
	}
	return nil
}

func (s *Server) serve(srv *http.Server, l net.Listener) {
	if err := srv.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		s.log.Error("listener failed", "address", l.Addr(), "error", err)
	}
}

// URL returns the base URL of the service.
func (s *Server) URL() string {
	if s.cfg.TLSCert != "" {
		return "https://" + reachable(s.listener.Addr())
	}
	return "http://" + reachable(s.listener.Addr())
}

// AdminURL returns the base URL of the admin listener, or "".
func (s *Server) AdminURL() string {
	if s.adminLn == nil {
		return ""
	}
	if s.adminIsSecure() {
		return "https://" + s.adminLn.Addr().String()
	}
	return "http://" + s.adminLn.Addr().String()
}

// adminIsSecure reports whether the admin listener uses TLS, which it does if
// it is not local and there is a certificate.
func (s *Server) adminIsSecure() bool { return s.cfg.TLSCert != "" && !s.cfg.AdminIsLocal() }

// requestLog returns the output for request log lines, or nil if disabled.
func (s *Server) requestLog() io.Writer {
	if s.lines == nil || !s.cfg.LogHandler(s.lines).Enabled(context.Background(), slog.LevelInfo) {
		return nil
	}
	return s.lines
}

// Store returns the open database.
func (s *Server) Store() *store.Store { return s.store }

// Stop shuts the server down gracefully: it accepts no new connections, ends
// waits, finishes running requests, writes counts and buffers, and closes the
// database.
func (s *Server) Stop() error {
	s.drain()
	s.log.Info("stopping; waiting for running requests to finish") // after drain: from now on /readyz returns 503
	time.Sleep(s.cfg.ShutdownDelay)                                // load balancers notice /readyz and stop sending requests
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ShutdownTimeout)
	defer cancel()
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		s.stopWebhooks()
	}()
	err := s.public.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests were still running after --shutdown-timeout")
		err = s.public.Close()
	}
	if s.admin != nil {
		err = errors.Join(err, s.admin.Close())
	}
	<-delivered
	return errors.Join(err, s.limiter.Close(ctx), s.abandon())
}

// abandon stops everything that was started, in reverse order.
func (s *Server) abandon() error {
	s.drain()
	s.stopWebhooks()
	s.workers.Stop()
	err := s.unshare()
	for _, l := range []net.Listener{s.listener, s.adminLn} {
		if l != nil {
			if closeErr := l.Close(); !errors.Is(closeErr, net.ErrClosed) {
				err = errors.Join(err, closeErr)
			}
		}
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	s.tracing.Stop()
	s.lines.close()
	return err
}
