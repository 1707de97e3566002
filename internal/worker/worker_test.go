package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestRunsAgainAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(discard())
		var runs atomic.Int32
		done := make(chan struct{})
		g.Start("failing", func(context.Context) error {
			switch runs.Add(1) {
			case 1:
				return errors.New("once")
			case 2:
				panic("twice")
			}
			close(done)
			return nil
		})
		<-done
		g.Stop()
		if n := runs.Load(); n != 3 {
			t.Fatalf("ran %d times, want 3", n)
		}
	})
}

func TestStopWaitsAndTwiceIsSafe(t *testing.T) {
	g := NewGroup(discard())
	var ended atomic.Bool
	started := make(chan struct{})
	g.Start("waiting", func(ctx context.Context) error {
		close(started)
		<-ctx.Done()
		ended.Store(true)
		return nil
	})
	<-started
	g.Stop()
	if !ended.Load() {
		t.Fatal("Stop returned before the worker had ended")
	}
	g.Stop()
}
