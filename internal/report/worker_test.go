package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/report"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// analyst plays the analytics: each call does what the test says.
type analyst func(ctx context.Context) error

func (a analyst) Outcomes(ctx context.Context, _ store.Org, p *analytics.Params, now time.Time) (*analytics.Outcomes, error) {
	return analytics.NewOutcomesTally(p).Result(now), a(ctx)
}

func (a analyst) Population(ctx context.Context, _ store.Org, p *analytics.Params, now time.Time) (*analytics.Population, error) {
	return analytics.NewPopulationTally(p).Result(now), a(ctx)
}

func atOnce(context.Context) error { return nil }

// shop is a database with an organisation that wants reports, on a clock that
// the test can put forward.
type shop struct {
	t     *testing.T
	cfg   store.Config
	store *store.Store
	who   access.Principal
	ahead atomic.Int64
}

func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := &shop{t: t, cfg: cfg}
		s.cfg.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
		s.store = s.node()
		s.who = storetest.Client(t, s.store, "General Hospital")
		test(t, s)
	})
}

func (s *shop) node() *store.Store { return storetest.Start(s.t, storetest.Node(s.t, s.cfg)) }

func (s *shop) order(format store.ReportFormat) id.Report {
	s.t.Helper()
	now := s.cfg.Now()
	rep := store.NewReport(store.ReportRequest{Type: store.OutcomesReport, Format: format, Title: "T", AsOf: now,
		Parameters: `{"as_of":"` + now.UTC().Format(time.RFC3339) + `","start_date":"2025-01-01","end_date":"2025-12-31"}`}, s.who.ClientID, now)
	change := store.Change{Audit: audit.Entry{At: now, Action: audit.ReportCreate, Resource: rep.ID.String()}}
	if _, err := s.store.For(&s.who).CreateReport(context.Background(), &rep, change, nil, store.Outcome{}); err != nil {
		s.t.Fatal(err)
	}
	return rep.ID
}

// work runs a worker until stop is called, which returns when it has ended.
func (s *shop) work(on *store.Store, a analyst, lease time.Duration) (stop func()) {
	s.t.Helper()
	w := report.NewWorker(report.Config{Store: on, Analyst: a, Retention: time.Hour, Log: slog.New(slog.DiscardHandler), Lease: lease})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

func (s *shop) report(reportID id.Report) store.Report {
	s.t.Helper()
	rep, err := s.store.For(&s.who).Report(context.Background(), reportID)
	if err != nil {
		s.t.Fatal(err)
	}
	return rep
}

// becomes waits for a status.
func (s *shop) becomes(reportID id.Report, status store.ReportStatus) store.Report {
	s.t.Helper()
	return s.until(string(status), func() (store.Report, bool) {
		rep := s.report(reportID)
		return rep, rep.Status == status
	})
}

func (s *shop) until(what string, ask func() (store.Report, bool)) store.Report {
	s.t.Helper()
	var rep store.Report
	testwait.Until(s.t, what, func() (ok bool) {
		rep, ok = ask()
		return ok
	})
	return rep
}

// file reads a report's file and holds it against its checksum.
func (s *shop) file(rep store.Report) []byte {
	s.t.Helper()
	var b bytes.Buffer
	if err := s.store.For(&s.who).ReportBytes(context.Background(), &rep, 0, rep.Size, func(part []byte) error {
		_, err := b.Write(part)
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	if sum := sha256.Sum256(b.Bytes()); !bytes.Equal(sum[:], rep.SHA256) {
		s.t.Errorf("the file's checksum is not that of the report")
	}
	return b.Bytes()
}

func TestWorkerMakesReports(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.work(s.store, atOnce, 0)
		for _, format := range store.ReportFormats {
			if rep := s.becomes(s.order(format), store.ReportCompleted); len(s.file(rep)) == 0 || rep.Progress != 100 {
				t.Errorf("%s: %+v", format, rep)
			}
		}
	})
}

// What a node left behind that died is made by another, once its lease ends.
func TestDeadNodesReportIsTakenUp(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		reportID := s.order(store.CSV)
		claim, err := s.node().System().ClaimReport(t.Context(), "dead", 4*time.Minute)
		if err != nil || claim == nil {
			t.Fatalf("%v, %v", claim, err)
		}
		if err := claim.Append(t.Context(), 0, []byte("half a file")); err != nil {
			t.Fatal(err)
		}
		s.work(s.store, atOnce, 0)
		s.becomes(s.order(store.CSV), store.ReportCompleted) // the worker is at work
		if rep := s.report(reportID); rep.Status != store.ReportProcessing {
			t.Errorf("it was taken from a node that may live: %+v", rep)
		}
		s.ahead.Add(int64(time.Hour))
		if rep := s.becomes(reportID, store.ReportCompleted); bytes.Contains(s.file(rep), []byte("half")) {
			t.Error("the dead node's bytes are in the file")
		}
		if err := claim.Complete(t.Context(), 11, nil, time.Hour); !errors.Is(err, store.ErrClaimLost) {
			t.Errorf("the dead node completes it: %v", err)
		}
	})
}

// A stop gives the report back, and that counts as no try.
func TestStoppedWorkerGivesReportsBack(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := make(chan struct{}, 10)
		stop := s.work(s.store, func(ctx context.Context) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}, 0)
		reportID := s.order(store.CSV)
		<-began
		stop()
		if rep := s.report(reportID); rep.Status != store.ReportPending || rep.Error != "" {
			t.Errorf("%+v", rep)
		}
		claim, err := s.store.System().ClaimReport(t.Context(), "next", time.Millisecond)
		if err != nil || claim == nil || claim.Tries != 1 {
			t.Fatalf("%+v, %v", claim, err)
		}
		if err := claim.Release(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
		s.work(s.store, atOnce, 0)
		s.becomes(reportID, store.ReportCompleted)
	})
}

// A lease that is lost, here because the report is gone, stops the work.
func TestDeletedReportStopsTheWork(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began, ended := make(chan struct{}, 10), make(chan error, 10)
		s.work(s.store, func(ctx context.Context) error {
			began <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return ctx.Err()
		}, 300*time.Millisecond)
		reportID := s.order(store.CSV)
		<-began
		if err := s.store.For(&s.who).DeleteReport(t.Context(), reportID, store.Change{Audit: audit.Entry{At: time.Now(), Action: audit.ReportDelete}}); err != nil {
			t.Fatal(err)
		}
		if cause := <-ended; !errors.Is(cause, store.ErrClaimLost) {
			t.Errorf("the work ended for %v", cause)
		}
	})
}

func TestReportsFailInWords(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for name, a := range map[string]analyst{
			"error": func(context.Context) error { return errors.New("division by zero in /src/x.go") },
			"panic": func(context.Context) error { panic("a bug") },
		} {
			stop := s.work(s.store, a, 0)
			rep := s.becomes(s.order(store.PDF), store.ReportFailed)
			if rep.Error != "Something went wrong on our side. Give the operator the report ID." {
				t.Errorf("%s: %q", name, rep.Error)
			}
			stop()
		}
		stop := s.work(s.store, func(context.Context) error { return fault.New(fault.Conflict, "There is too much of it.") }, 0)
		if rep := s.becomes(s.order(store.PDF), store.ReportFailed); rep.Error != "There is too much of it." {
			t.Errorf("%q", rep.Error)
		}
		stop()
	})
}

// A database that is away for a moment puts the report off.
func TestReportIsPutOff(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var calls atomic.Int64
		s.work(s.store, func(context.Context) error {
			if calls.Add(1) == 1 {
				return fault.Away("The database is not available.", nil)
			}
			return nil
		}, 0)
		reportID := s.order(store.CSV)
		s.until("put off", func() (store.Report, bool) {
			rep := s.report(reportID)
			return rep, rep.Status != store.ReportProcessing && calls.Load() >= 1
		})
		s.ahead.Add(int64(time.Minute))
		s.becomes(reportID, store.ReportCompleted)
	})
}

func TestTwoReportsAtATime(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var now, most atomic.Int64
		step := make(chan struct{})
		s.work(s.store, func(ctx context.Context) error {
			n := now.Add(1)
			defer now.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			select {
			case <-step:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, 0)
		var ids []id.Report
		for range 6 {
			ids = append(ids, s.order(store.CSV))
		}
		s.until("two under way", func() (store.Report, bool) { return store.Report{}, now.Load() == 2 })
		for range ids {
			step <- struct{}{}
		}
		for _, reportID := range ids {
			s.becomes(reportID, store.ReportCompleted)
		}
		if most.Load() != 2 {
			t.Errorf("%d at a time", most.Load())
		}
	})
}
