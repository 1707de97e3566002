package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// rounder counts the calls of each round, and doubles what it is asked.
type rounder struct {
	*Rounds[int, int]
	sizes []int
	gate  chan struct{}
	fail  func(asked []int) error
}

func newRounder(cfg RoundsConfig) *rounder {
	r := &rounder{gate: make(chan struct{})}
	r.Rounds = NewRounds(cfg, func(ctx context.Context, asked, answers []int) error {
		r.mu.Lock()
		r.sizes = append(r.sizes, len(asked))
		r.mu.Unlock()
		select {
		case <-r.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
		for i := range asked {
			answers[i] = 2 * asked[i]
		}
		if r.fail != nil {
			return r.fail(asked)
		}
		return nil
	})
	return r
}

// state returns the sizes of the rounds so far, and how many lanes are busy and
// rounds wait.
func (r *rounder) state() (sizes []int, busy, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sizes), r.busy, len(r.waiting)
}

type outcome struct {
	answer int
	err    error
}

// ask makes a call and waits until it is blocked.
func (r *rounder) ask(ctx context.Context, n int) <-chan outcome {
	result := make(chan outcome, 1)
	go func() {
		answer, err := r.Do(ctx, n)
		result <- outcome{answer, err}
	}()
	synctest.Wait()
	return result
}

func TestCallsGatherWhileARoundIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRounder(RoundsConfig{Lanes: 1, Most: 3})
		var results []<-chan outcome
		for i := range 6 {
			results = append(results, r.ask(t.Context(), i))
		}
		close(r.gate)
		for i, result := range results {
			if got := <-result; got != (outcome{2 * i, nil}) {
				t.Errorf("call %d: %+v", i, got)
			}
		}
		if want := []int{1, 3, 2}; !slices.Equal(r.sizes, want) {
			t.Errorf("rounds of %v, want %v", r.sizes, want)
		}
		synctest.Wait()
		if r.busy != 0 || len(r.waiting) != 0 {
			t.Errorf("%d lanes busy and %d rounds waiting at the end", r.busy, len(r.waiting))
		}
	})
}

func TestEveryCallOfABrokenRoundIsAnswered(t *testing.T) {
	broken := errors.New("broken")
	for name, fail := range map[string]func([]int) error{
		"error": func([]int) error { return broken },
		"panic": func([]int) error { panic(broken) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRounder(RoundsConfig{Lanes: 1, Most: 10})
			r.fail = fail
			results := []<-chan outcome{r.ask(t.Context(), 1), r.ask(t.Context(), 2), r.ask(t.Context(), 3)}
			close(r.gate)
			for _, result := range results {
				if got := <-result; got.err == nil || got.answer != 0 {
					t.Errorf("%s: %+v", name, got)
				}
			}
			r.fail = nil
			if answer, err := r.Do(t.Context(), 4); answer != 8 || err != nil {
				t.Errorf("%s, and then: %d, %v", name, answer, err)
			}
		})
	}
}

// A caller that leaves while its call gathers is not part of the round.
func TestLeavingARound(t *testing.T) {
	for _, binding := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRounder(RoundsConfig{Lanes: 1, Most: 10, Binding: binding})
			ctx, leave := context.WithCancel(t.Context())
			early, leaveEarly := context.WithCancel(t.Context())
			begun, gathering, other := r.ask(ctx, 1), r.ask(early, 2), r.ask(t.Context(), 3)
			leaveEarly()
			synctest.Wait()
			leave()
			synctest.Wait()
			if got := <-gathering; !errors.Is(got.err, context.Canceled) {
				t.Errorf("binding %v: the call that gathers: %+v", binding, got)
			}
			if binding {
				select {
				case got := <-begun:
					t.Errorf("a write that had begun was left: %+v", got)
				default:
				}
			} else if got := <-begun; !errors.Is(got.err, context.Canceled) {
				t.Errorf("a read that had begun: %+v", got)
			}
			close(r.gate)
			if binding {
				if got := <-begun; got != (outcome{2, nil}) {
					t.Errorf("a write that had begun: %+v", got)
				}
			}
			if got := <-other; got != (outcome{6, nil}) {
				t.Errorf("binding %v: the call of another: %+v", binding, got)
			}
			if want := []int{1, 1}; !slices.Equal(r.sizes, want) {
				t.Errorf("binding %v: rounds of %v, want %v", binding, r.sizes, want)
			}
			if _, err := r.Do(ctx, 5); !errors.Is(err, context.Canceled) || len(r.sizes) != 2 {
				t.Errorf("with an ended context: %v", err)
			}
		})
	}
}

// A call that was added is made with the next one, or when it is started.
func TestAddedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRounder(RoundsConfig{Lanes: 1, Most: 10})
		close(r.gate)
		var told []outcome
		tell := func(answer int, err error) { told = append(told, outcome{answer, err}) }
		ended, end := context.WithCancel(t.Context())
		r.Add(ended, 1, tell)
		end()
		synctest.Wait()
		if len(r.sizes) != 0 {
			t.Errorf("rounds of %v before one was started", r.sizes)
		}
		if answer, err := r.Do(t.Context(), 2); answer != 4 || err != nil {
			t.Errorf("%d, %v", answer, err)
		}
		r.Add(t.Context(), 3, tell)
		r.Add(t.Context(), 4, func(answer int, err error) {
			tell(answer, err)
			r.Add(t.Context(), 5, tell) // starts by itself
		})
		r.Start()
		r.Start()
		synctest.Wait()
		if want := []outcome{{2, nil}, {6, nil}, {8, nil}, {10, nil}}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
		if want := []int{2, 2, 1}; !slices.Equal(r.sizes, want) || r.busy != 0 {
			t.Errorf("rounds of %v, want %v; %d lanes busy", r.sizes, want, r.busy)
		}
	})
}

// A round that takes long does not hold up the next ones, but rounds that follow
// each other quickly do not take more lanes.
func TestSpareLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRounder(RoundsConfig{Lanes: 1, Spare: 1, Most: 10})
		slow, next := r.ask(t.Context(), 1), r.ask(t.Context(), 2)
		if sizes, _, _ := r.state(); len(sizes) != 1 {
			t.Errorf("rounds of %v at once", sizes)
		}
		time.Sleep(2 * slowRound) // without another call
		if sizes, busy, _ := r.state(); !slices.Equal(sizes, []int{1, 1}) || busy != 2 {
			t.Errorf("rounds of %v with %d lanes", sizes, busy)
		}
		late := r.ask(t.Context(), 3)
		time.Sleep(2 * slowRound)
		last := r.ask(t.Context(), 4) // there are no more lanes
		if sizes, busy, _ := r.state(); len(sizes) != 2 || busy != 2 {
			t.Errorf("rounds of %v with %d lanes", sizes, busy)
		}
		close(r.gate)
		for i, result := range []<-chan outcome{slow, next, late, last} {
			if got := <-result; got != (outcome{2 * (i + 1), nil}) {
				t.Errorf("call %d: %+v", i+1, got)
			}
		}
		synctest.Wait()
		if _, busy, waiting := r.state(); busy != 0 || waiting != 0 {
			t.Errorf("%d lanes busy and %d rounds waiting at the end", busy, waiting)
		}
	})
}

// While a round is stuck, a spare lane makes one round after the other. Once it
// has ended, there is one lane again.
func TestSpareLaneStaysWhileOneIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, turn := make(chan struct{}), make(chan struct{})
		r := &rounder{}
		r.Rounds = NewRounds(RoundsConfig{Lanes: 1, Spare: 1, Most: 10}, func(_ context.Context, asked, _ []int) error {
			r.mu.Lock()
			r.sizes = append(r.sizes, len(asked))
			r.mu.Unlock()
			if asked[0] == 0 {
				<-stuck
			} else {
				<-turn
			}
			return nil
		})
		is := func(lanes int, rounds ...int) {
			t.Helper()
			synctest.Wait()
			if sizes, busy, _ := r.state(); !slices.Equal(sizes, rounds) || busy != lanes {
				t.Errorf("rounds of %v with %d lanes, want %v with %d", sizes, busy, rounds, lanes)
			}
		}
		r.ask(t.Context(), 0)
		r.ask(t.Context(), 1)
		time.Sleep(2 * slowRound)
		r.ask(t.Context(), 2)
		r.ask(t.Context(), 3)
		turn <- struct{}{}
		is(2, 1, 1, 2)
		r.ask(t.Context(), 4)
		close(stuck)
		is(1, 1, 1, 2)
		turn <- struct{}{}
		is(1, 1, 1, 2, 1)
		turn <- struct{}{}
		is(0, 1, 1, 2, 1)
	})
}

// A lane is free again after a panic of whoever is told.
func TestPanicOfOneWhoIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRounder(RoundsConfig{Lanes: 1, Most: 10})
		close(r.gate)
		r.Add(t.Context(), 1, func(int, error) { panic("a bug") })
		func() {
			defer func() { _ = recover() }()
			r.Start()
		}()
		if answer, err := r.Do(t.Context(), 2); answer != 4 || err != nil || r.busy != 0 {
			t.Errorf("%d, %v, with %d lanes busy", answer, err, r.busy)
		}
	})
}
