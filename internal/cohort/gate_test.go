package cohort

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// passes is a gate whose passes are started and ended by a test: each sends
// its queries on begun, and ends when the first of them does.
type passes struct {
	*gate
	begun chan []string
	mu    sync.Mutex
	ends  map[string]chan struct{}
}

func newPasses() *passes {
	return &passes{gate: newGate(0, newMetrics(nil)), begun: make(chan []string), ends: map[string]chan struct{}{}}
}

func (p *passes) ending(key string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends[key] == nil {
		p.ends[key] = make(chan struct{})
	}
	return p.ends[key]
}

func (p *passes) end(key string) { p.ending(key) <- struct{}{} }

// asks sends a query for an organisation, and returns its result: the query.
func (p *passes) asks(ctx context.Context, org access.OrgNo, key string) (string, error) {
	answer, err := p.gate.ask(ctx, demand{place: place{org, "series"}, key: key, bytes: 1 << 10, job: func() any { return &key }, read: func(ctx context.Context, jobs []any) error {
		var keys []string
		for _, j := range jobs {
			keys = append(keys, *j.(*string))
		}
		p.begun <- keys
		select {
		case <-p.ending(keys[0]):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	if err != nil {
		return "", err
	}
	return *answer.(*string), nil
}

// A query that arrives while a pass waits is answered by it; one that arrives
// while it runs is not, because earlier writes may have been missed.
func TestQuestionsShareAPassThatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPasses()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // else one place is kept free
		defer cancel()
		var asking sync.WaitGroup
		ask := func(org access.OrgNo, key string) {
			asking.Go(func() {
				if got, err := p.asks(ctx, org, key); got != key || err != nil {
					t.Errorf("%s: answered %q, %v", key, got, err)
				}
			})
			synctest.Wait()
		}
		expect := func(want ...string) {
			t.Helper()
			if got := <-p.begun; !slices.Equal(got, want) {
				t.Errorf("a pass answers %q, want %q", got, want)
			}
		}
		ask(1, "a")
		expect("a")
		ask(1, "a")
		expect("a") // the first has begun
		for _, key := range []string{"b", "a", "b", "a", "c"} {
			ask(1, key)
		}
		if got := metricValue(t, p.metrics.waiting); got != 5 {
			t.Errorf("%v wait, want 5", got)
		}
		p.end("a")
		expect("b", "a", "c")
		p.end("a")
		p.end("b")
		asking.Wait()
		synctest.Wait()
		if metricValue(t, p.metrics.waiting)+metricValue(t, p.metrics.running) != 0 || len(p.queue)+len(p.running) != 0 {
			t.Error("something is left")
		}
	})
}

// An organisation with many queries does not block another, and callers
// without a deadline leave room for those with one.
func TestTurnsOfPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPasses()
		p.working = 0 // a question a pass
		hurried, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var asking sync.WaitGroup
		ask := func(ctx context.Context, org access.OrgNo, key string) {
			asking.Go(func() {
				if _, err := p.asks(ctx, org, key); err != nil {
					t.Errorf("%s: %v", key, err)
				}
			})
			synctest.Wait()
		}
		expect := func(want string) {
			t.Helper()
			if got := <-p.begun; got[0] != want {
				t.Errorf("%q begins, want %q", got, want)
			}
		}
		ask(t.Context(), 1, "report")
		expect("report")
		ask(t.Context(), 2, "second report")
		if len(p.running) != 1 {
			t.Error("reports take all places")
		}
		ask(hurried, 3, "first")
		expect("first")
		for _, key := range []string{"second", "third"} {
			ask(hurried, 3, key)
		}
		ask(hurried, 4, "somebody else")
		p.end("report")
		expect("second report")
		p.end("second report")
		expect("somebody else") // the organisation of the others has one running
		p.end("somebody else")
		expect("second") // nobody else wants the place
		p.end("first")
		expect("third")
		p.end("second")
		p.end("third")
		asking.Wait()
	})
}

// A caller who leaves frees the place: a pass without callers is not run.
func TestLeavingFreesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPasses()
		deadline, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		leave := map[string]func(){}
		var asking sync.WaitGroup
		for _, key := range []string{"a", "b", "c", "d"} {
			ctx, cancel := context.WithCancel(deadline)
			leave[key] = cancel
			asking.Go(func() {
				if _, err := p.asks(ctx, 1, key); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v, want that the caller left", key, err)
				}
			})
			synctest.Wait()
			if key == "a" || key == "b" {
				<-p.begun
			}
		}
		leave["c"]() // while it waits
		synctest.Wait()
		leave["a"]() // while it runs
		if got := <-p.begun; !slices.Equal(got, []string{"d"}) {
			t.Errorf("a pass answers %q, want those who are left", got)
		}
		leave["b"]()
		leave["d"]()
		asking.Wait()
		synctest.Wait()
		if len(p.queue)+len(p.running) != 0 || metricValue(t, p.metrics.running) != 0 {
			t.Error("something is left")
		}
	})
}

// A query that cannot be answered in time is refused, with a time to retry: if
// too many wait, if its pass would start too late, and if it takes too long.
// The log reports this once a minute.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPasses()
		var log bytes.Buffer
		p.log = slog.New(slog.NewTextHandler(&log, nil))
		const patience = 80 * time.Second
		var asking sync.WaitGroup
		ask := func(org access.OrgNo, key, reason string, after time.Duration) {
			asking.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				began := time.Now()
				_, err := p.asks(ctx, org, key)
				f, _ := errors.AsType[*fault.Error](err)
				if f == nil || f.Code != fault.Unavailable || f.RetryAfter < time.Second || f.Message != refusals[reason] {
					t.Errorf("%s: %v, want %q", key, err, reason)
				}
				if took := time.Since(began); took != after {
					t.Errorf("%s: refused after %v, want %v", key, took, after)
				}
			})
			synctest.Wait()
		}
		p.took[place{9, "series"}] = 40 * time.Second
		ask(1, "a", tookTooLong, patience)
		ask(2, "b", tookTooLong, patience)
		<-p.begun
		<-p.begun
		ask(3, "nothing is known", waitedTooLong, patience*3/4)
		ask(9, "takes 40 s", waitedTooLong, patience-50*time.Second)
		for i := range mostWaiting / 2 {
			ask(4, fmt.Sprint(i), waitedTooLong, patience*3/4)
		}
		ask(4, "half of them are from one organisation", tooManyWait, 0)
		for i := range mostWaiting/2 - 2 {
			ask(6, fmt.Sprint(i), waitedTooLong, patience*3/4)
		}
		ask(5, "one too many", tooManyWait, 0)
		asking.Wait()
		for reason, want := range map[string]float64{tooManyWait: 2, waitedTooLong: mostWaiting, tookTooLong: 2} {
			if got := metricValue(t, p.metrics.refused.WithLabelValues(reason)); got != want {
				t.Errorf("%s: %v, want %v", reason, got, want)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != 2 { // at 0 s and at 60 s
			t.Errorf("%d lines in the log, want 2:\n%s", lines, &log)
		}
		synctest.Wait()
		if len(p.queue)+len(p.running) != 0 {
			t.Error("something is left")
		}
	})
}

// A pass that fails, even by a panic, is an error of those who asked.
func TestPassFails(t *testing.T) {
	g := newGate(0, newMetrics(nil))
	failed := errors.New("the database is away")
	for want, read := range map[string]func(context.Context, []any) error{
		failed.Error():           func(context.Context, []any) error { return failed },
		"panic in a query: boom": func(context.Context, []any) error { panic("boom") },
	} {
		_, err := g.ask(t.Context(), demand{key: want, job: func() any { return nil }, read: read})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// However many organisations are loaded at once, all models together keep
// within the limit; and those that alone take more are not read twice to find
// that out.
func TestMemoryIsBoundedWhileLoading(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		const organisations, patients = 6, 40
		s, measuring := open(), New(plenty, nil)
		var all []hospital
		for i := range organisations {
			h := newHospital(t, s, fmt.Sprint("hospital ", i), measuring)
			for n := range patients {
				storetest.AddPatient(t, h.Org, fmt.Sprintf("%s<%d>", strings.Repeat("Anna ", 20), n))
			}
			h.scored(t)
			h.expect(t, "<7>", 8)
			all = append(all, h)
		}
		one := measuring.places[place{all[0].no, names.name}].Value.(*resident).counted
		limit := 5 * one / 2
		shared := New(limit*16/15+16, nil)
		var asking sync.WaitGroup
		for range 4 {
			for _, h := range all {
				h.cohorts = shared
				asking.Go(func() {
					h.expect(t, "<7>", 8)
					h.scored(t)
				})
			}
		}
		asking.Wait()
		if shared.bytes > shared.limit || len(shared.tooLarge) != 0 {
			t.Errorf("%d of %d bytes are taken; too large: %v", shared.bytes, shared.limit, shared.tooLarge)
		}
		tiny := New(0, nil)
		for _, h := range all[:2] {
			h.cohorts = tiny
			for range 2 {
				h.expect(t, "<7>", 8)
				h.scored(t)
			}
		}
		for _, kind := range []string{names.name, charts.name} {
			if got := metricValue(t, tiny.metrics.loads.WithLabelValues(kind)); got != 2 {
				t.Errorf("%s: %v loads that came to nothing, want one an organisation", kind, got)
			}
		}
		if tiny.bytes > 4*modelBytes {
			t.Errorf("%d bytes are taken of none", tiny.bytes)
		}
	})
}
