package journal_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

func witnessPath(cfg store.Config) string { return filepath.Join(cfg.DataDir, "seal", "witness") }

func fileMode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// lineLog is a log that tests can wait for.
type lineLog struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func newLineLog() *lineLog { return &lineLog{more: make(chan struct{}, 1)} }

func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

// await waits for words in the log.
func (l *lineLog) await(t *testing.T, words string) {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		l.mu.Lock()
		text := l.text.String()
		l.mu.Unlock()
		if strings.Contains(text, words) {
			return
		}
		select {
		case <-l.more:
		case <-timeout:
			t.Fatalf("%q was not logged: %s", words, text)
		}
	}
}

// grow adds entries to a log and lets a node seal them.
func grow(t *testing.T, s *store.Store, o store.Org, patients int) []journal.SealedHead {
	t.Helper()
	for range patients {
		storetest.AddPatient(t, o, "later")
	}
	storetest.Settle(t, s)
	return storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
}

// sound asserts that a node and check report no problems.
func sound(t *testing.T, when string, s *store.Store) {
	t.Helper()
	watched := storetest.Must[[]string](t)(s.System().WatchSeals(t.Context()))
	checked := storetest.Must[[]string](t)(s.System().VerifySeals(t.Context(), nil, nil))
	if len(watched)+len(checked) > 0 {
		t.Errorf("%s: %q, check: %q", when, watched, checked)
	}
}

// unsound asserts that a node and check report exactly one problem.
func unsound(t *testing.T, when, want string, s *store.Store) {
	t.Helper()
	watched := storetest.Must[[]string](t)(s.System().WatchSeals(t.Context()))
	checked := storetest.Must[[]string](t)(s.System().VerifySeals(t.Context(), nil, nil))
	if len(watched) != 1 || !strings.Contains(watched[0], want) || len(checked) == 0 || !strings.Contains(strings.Join(checked, "\n"), want) {
		t.Errorf("%s: %q, check: %q, want %q", when, watched, checked, want)
	}
}

// While a server runs, its record does not depend on the file.
func TestWitnessChangedMeanwhile(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	registry, log := prometheus.NewRegistry(), &bytes.Buffer{}
	cfg.Registry, cfg.Log = registry, slog.New(slog.NewTextHandler(log, nil))
	s := storetest.Start(t, cfg)
	o, _ := storetest.SealedOrg(t, s)
	path := witnessPath(cfg)
	if fileMode(t, path) != 0o600 || fileMode(t, filepath.Dir(path)) != 0o700 {
		t.Errorf("modes %o and %o", fileMode(t, path), fileMode(t, filepath.Dir(path)))
	}
	older := content(t, path)
	grow(t, s, o, 1)
	newer := content(t, path)
	for i, change := range []func(){
		func() { put(t, path, bytes.Replace(newer, []byte(`"position":13`), []byte(`"position":12`), 1)) },
		func() { put(t, path, nil) },
		func() { _ = os.Remove(path) },
		func() { _ = os.RemoveAll(filepath.Dir(path)) },
	} {
		change()
		storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
		if !bytes.Equal(content(t, path), newer) {
			t.Errorf("change %d: the file was not written again", i)
		}
		if n := metricOf(t, registry, "anodyne_audit_witness_lost_total"); n != float64(i+1) || strings.Count(log.String(), "it was rewritten from memory") != i+1 {
			t.Errorf("change %d was counted %v times and logged as %s", i, n, log)
		}
	}
	// An older file is authentic, and nothing on record is lost by it.
	put(t, path, older)
	storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
	if !bytes.Equal(content(t, path), newer) {
		t.Error("an older file was left in place")
	}
	sound(t, "afterwards", s)
}

// A server that starts without the expected file, or with one that it did not
// write, reports that and seals nothing until an operator accepts it.
func TestWitnessChangedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string, b []byte)
		want   string
	}{
		"removed": {func(path string, _ []byte) { _ = os.Remove(path) }, "the file was removed"},
		"emptied": {func(path string, _ []byte) { _ = os.WriteFile(path, nil, 0o600) }, "was not written with this audit key"},
		"edited": {func(path string, b []byte) {
			_ = os.WriteFile(path, bytes.Replace(b, []byte(`"position":12`), []byte(`"position":11`), 1), 0o600)
		}, "was not written with this audit key"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := storetest.Database(t, storetest.SQLite)
			first := storetest.Start(t, cfg)
			o, _ := storetest.SealedOrg(t, first)
			c.change(witnessPath(cfg), content(t, witnessPath(cfg)))
			registry := prometheus.NewRegistry()
			cfg.Registry = registry
			s := storetest.Start(t, cfg)
			if moved := grow(t, s, o, 1); len(moved) != 0 {
				t.Errorf("sealed %+v", moved)
			}
			unsound(t, "at the start", c.want, s)
			if metricOf(t, registry, "anodyne_audit_seal_broken") != 1 {
				t.Error("the metric says nothing")
			}
			if _, err := s.System().AcceptSeals(t.Context(), journal.Accepting{Organizations: []string{"Ours"}, Reason: "moved", Action: audit.SealAccept}); err == nil {
				t.Error("one organisation was accepted without knowing the others")
			}
			storetest.Must[[]journal.SealedHead](t)(s.System().AcceptSeals(t.Context(), journal.Accepting{Reason: "moved", Action: audit.SealAccept}))
			sound(t, "accepted", s)
			if moved := grow(t, s, o, 1); len(moved) != 1 || metricOf(t, registry, "anodyne_audit_seal_broken") != 0 {
				t.Errorf("sealed %+v", moved)
			}
		})
	}
}

// A node that was killed before it recorded a seal, or that was stopped while
// others sealed, is merely behind.
func TestWitnessBehind(t *testing.T) {
	journal.ShortWalks(t)
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		here := storetest.Start(t, storetest.Node(t, cfg))
		awayCfg := storetest.Node(t, cfg)
		away := storetest.Start(t, awayCfg)
		o, _ := storetest.SealedOrg(t, here)
		sound(t, "together", away)
		before := content(t, witnessPath(awayCfg))
		grow(t, here, o, 30)
		fresh := storetest.Client(t, here, "Theirs")
		grow(t, here, here.For(&fresh), 10)
		// It verifies a little each round.
		for range 10 {
			sound(t, "behind", away)
		}
		if err := away.Close(); err != nil {
			t.Fatal(err)
		}
		put(t, witnessPath(awayCfg), before)
		away = storetest.Start(t, awayCfg)
		grow(t, here, o, 1)
		moved := 0
		for range 20 {
			moved += len(grow(t, away, o, 1))
			sound(t, "killed", away)
		}
		if moved == 0 {
			t.Error("a node that was behind never sealed")
		}
		// What it has not seen yet is verified against the seal, too.
		put(t, witnessPath(awayCfg), before)
		storetest.Exec(t, here, `UPDATE journal SET at = at + 1 WHERE org_no = $1 AND pos = 20`, int64(o.No()))
		again := storetest.Start(t, awayCfg)
		var problems []string
		for range 40 { // twice the distance, a little each round
			problems = storetest.Must[[]string](t)(again.System().WatchSeals(t.Context()))
		}
		if len(problems) != 1 || !strings.Contains(problems[0], "is not what was sealed") {
			t.Errorf("%q", problems)
		}
	})
}

// A database of a version without a witness is adopted as it is, once, and its
// logs record that. A node added later reports it only in its own log.
func TestWitnessAdopts(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		first := storetest.Start(t, storetest.Node(t, cfg))
		o, head := storetest.SealedOrg(t, first)
		storetest.Exec(t, first, `DELETE FROM setting WHERE name = 'seal_witnessed'`)
		for i, want := range []string{"seals of an earlier version were copied", "expected only on a new node"} {
			log := &bytes.Buffer{}
			cfg := storetest.Node(t, cfg)
			cfg.Log = slog.New(slog.NewTextHandler(log, nil))
			s := storetest.Start(t, cfg)
			grow(t, s, o, 1)
			sound(t, "adopted", s)
			if !strings.Contains(log.String(), want) {
				t.Errorf("logged %s", log)
			}
			storetest.Settle(t, s)
			lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: audit.SealAdopt})
			if len(lines) != 1 || !strings.Contains(string(lines[0]), `"position":12`) || !strings.Contains(string(lines[0]), string(storetest.Must[[]byte](t)(head.Head.MarshalText()))) {
				t.Errorf("node %d: lines %s", i, lines)
			}
		}
		// A forged log under an unchanged seal is detected by walking over it.
		storetest.Exec(t, first, `UPDATE journal SET audit = 'x' WHERE pos = 5`)
		unsound(t, "forged before", "is not what was sealed", storetest.Start(t, storetest.Node(t, cfg)))
	})
}

// The rounds of a running server detect it by themselves.
func TestKeepSealedWatches(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		log := newLineLog()
		cfg.Log = slog.New(slog.NewTextHandler(log, nil))
		s := storetest.Start(t, cfg)
		storetest.SealedOrg(t, s)
		storetest.Exec(t, s, `UPDATE journal SET audit = 'x' WHERE pos = 5`)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.System().KeepSealed(ctx) }()
		log.await(t, "the journal up to entry 12 is not what was sealed")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
