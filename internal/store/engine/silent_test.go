package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"anodyne.example/anodyne/internal/testwait"
)

// While a worker does not respond, statements about its organisations are
// cancelled and refused, and no others.
func TestSilentWorker(t *testing.T) {
	var state workerState
	w := watchWorkers(slog.New(slog.DiscardHandler), func(context.Context) (workerState, error) { return state, nil })
	t.Cleanup(w.close)
	check := func(now workerState) {
		t.Helper()
		state = now
		if got, err := w.now(t.Context()); err != nil || got.down != now.down {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	begin := func(r reach) (context.Context, func(error) error) {
		t.Helper()
		ctx, end, err := w.begin(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return ctx, end
	}
	reaches := map[string]reach{"its organisation": {orgs: []int64{1}}, "a list with it": {orgs: []int64{2, 1}}, "all": {all: true}}
	others := map[string]reach{"another organisation": {orgs: []int64{2}}, "none": {}}
	for name, r := range reaches {
		check(workerState{up: 2})
		lost, endLost := begin(r)
		check(workerState{up: 1, down: 1, silent: map[int64]bool{1: true}})
		if lost.Err() == nil || !errors.Is(endLost(lost.Err()), errSilent) {
			t.Errorf("a statement about %s was not cancelled: %v", name, lost.Err())
		}
		if _, _, err := w.begin(t.Context(), r); !errors.Is(err, errSilent) {
			t.Errorf("a statement about %s was not refused: %v", name, err)
		}
		for name, r := range others {
			ctx, end := begin(r)
			check(state)
			if ctx.Err() != nil || end(nil) != nil {
				t.Errorf("a statement about %s was cancelled", name)
			}
		}
	}
	check(workerState{up: 2})
	_, end := begin(reaches["all"])
	if err := end(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a statement is reported as %v", err)
	}
}

// The workers are checked if a statement takes long or fails, and until all of
// them respond.
func TestWorkersAreChecked(t *testing.T) {
	checked := make(chan workerState)
	w := watchWorkers(slog.New(slog.DiscardHandler), func(ctx context.Context) (workerState, error) {
		select {
		case s := <-checked:
			return s, nil
		case <-ctx.Done():
			return workerState{}, ctx.Err()
		}
	})
	t.Cleanup(w.close)
	ctx, end, err := w.begin(t.Context(), reach{orgs: []int64{1}})
	if err != nil {
		t.Fatal(err)
	}
	checked <- workerState{down: 1, silent: map[int64]bool{1: true}}
	<-ctx.Done()
	if err := end(ctx.Err()); !errors.Is(err, errSilent) {
		t.Errorf("it is reported as %v", err)
	}
	checked <- workerState{down: 1, silent: map[int64]bool{1: true}}
	checked <- workerState{up: 1}
	testwait.Until(t, "statements pass again", func() bool {
		_, end, err := w.begin(t.Context(), reach{orgs: []int64{1}})
		return err == nil && end(nil) == nil
	})
	w.suspected()
	checked <- workerState{up: 1}
}

// The organisations of a statement are found by its SQL.
func TestReach(t *testing.T) {
	e := &postgresEngine{spread: map[string]bool{"patient": true, "webhook_cursor": true, "journal_head": true}}
	one, list := []any{int64(7), int64(8)}, []any{int64(1), []int64{7, 8}}
	for _, tt := range []struct {
		sql  string
		args []any
		want reach
	}{
		{`SELECT id FROM org WHERE org_no = $1`, one, reach{}},
		{`SELECT id FROM patient WHERE org_no = $1`, one, reach{orgs: []int64{7}}},
		{`SELECT id FROM patient WHERE id = $1 AND org_no = $2`, one, reach{orgs: []int64{8}}},
		{`UPDATE webhook_cursor SET claim = $1 WHERE org_no = $2`, one, reach{orgs: []int64{8}}},
		{`INSERT INTO journal_head AS h (org_no, pos) VALUES ($1, $2)`, one, reach{orgs: []int64{7}}},
		{`INSERT INTO patient (org_no, patient_no) SELECT $1, max(patient_no) FROM patient`, one, reach{orgs: []int64{7}}},
		{`SELECT id FROM patient p WHERE born > $1 AND p.org_no = ANY($2)`, list, reach{orgs: []int64{7, 8}}},
		{`SELECT id FROM patient WHERE born > $1`, one, reach{all: true}},
		{`SELECT * FROM run_command_on_workers($1)`, []any{"SELECT 1"}, reach{all: true}},
		{`COMMIT`, nil, reach{}},
	} {
		var got reach
		got.add(e, &Stmt{SQL: tt.sql, Args: tt.args})
		if got.all != tt.want.all || len(got.orgs) != len(tt.want.orgs) || len(got.orgs) > 0 && got.orgs[0] != tt.want.orgs[0] {
			t.Errorf("%s: %+v, want %+v", tt.sql, got, tt.want)
		}
	}
}
