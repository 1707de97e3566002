package patients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/store/engine"
)

// sweepSlice is the number of patients read at a time. Some tests reduce it.
var sweepSlice = 500

const (
	// sweepers is the number of patients evaluated concurrently, each in its
	// own transaction. On SQLite these share a commit.
	sweepers = 4
	// sweepEvery is the interval of sweeps in addition to the one at midnight:
	// it retries failures and takes over from nodes that died.
	sweepEvery = time.Hour
)

// A sweep selects patients with a prescription that starts by a day, and
// patients who were evaluated by a clock that was far ahead.
const (
	sweepBegun = `SELECT org_no, patient_no, next_day FROM alert_state WHERE next_day <= $1
		AND (next_day, org_no, patient_no) > ($2, $3, $4) /*AND org_no = ANY($6)*/ ORDER BY next_day, org_no, patient_no LIMIT $5`
	sweepAhead = `SELECT org_no, patient_no, day FROM alert_state WHERE day > $1
		AND (day, org_no, patient_no) > ($2, $3, $4) /*AND org_no = ANY($6)*/ ORDER BY day, org_no, patient_no LIMIT $5`
)

// SweepAlerts raises the alerts that become due with a new day, without a
// write. It reads only what is due. Every node may sweep at any time: a patient
// who has been evaluated is no longer due.
func (s System) SweepAlerts(ctx context.Context) error {
	now := s.db.Now()
	today := pain.DateOf(now.UTC()).DayNumber()
	return errors.Join(s.sweep(ctx, sweepBegun, today, now), s.sweep(ctx, sweepAhead, today+alert.Slack, now))
}

// sweeping is a patient that is due, and its position in the order.
type sweeping struct {
	key       int64
	org       access.OrgNo
	patientNo int64
}

// sweep evaluates all patients that a statement selects, a slice at a time. A
// patient that cannot be evaluated does not delay the others.
func (s System) sweep(ctx context.Context, sql string, bound drug.Day, now time.Time) error {
	failed := 0
	var last sweeping
	var reason, missing error
	for ctx.Err() == nil {
		slice, err := engine.List(ctx, s.db, sql, func(r engine.Row) (sweeping, error) {
			return sweeping{r.Int(2), access.OrgNo(r.Int(0)), r.Int(1)}, nil
		}, int64(bound), last.key, int64(last.org), last.patientNo, sweepSlice)
		if missing = err; err != nil && !errors.Is(err, engine.ErrPart) {
			return err
		}
		slices.SortFunc(slice, func(a, b sweeping) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.org, b.org), cmp.Compare(a.patientNo, b.patientNo))
		})
		slice = slice[:min(len(slice), sweepSlice)]
		if errs := s.judgeAll(ctx, slice, now); len(errs) > 0 {
			failed, reason = failed+len(errs), errs[0]
		}
		if len(slice) < sweepSlice {
			break
		}
		last = slice[len(slice)-1]
	}
	if failed > 0 {
		return fmt.Errorf("could not evaluate the alerts of %d patients; one error: %w", failed, reason)
	}
	return errors.Join(missing, ctx.Err())
}

// judgeAll evaluates patients and returns the errors. The order is random, so
// that nodes that sweep at the same time rarely collide.
func (s System) judgeAll(ctx context.Context, slice []sweeping, now time.Time) []error {
	return sweep(rand.Perm(len(slice)), func(i int) error {
		return s.of(slice[i].org).judgeDue(ctx, slice[i].patientNo, now)
	})
}

// sweep calls a function for each patient, for several concurrently, and
// returns the errors. On SQLite their transactions share a commit.
func sweep[T any](patients []T, one func(T) error) (errs []error) {
	work := make(chan T)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range min(sweepers, len(patients)) {
		group.Go(func() {
			for p := range work {
				if err := one(p); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, p := range patients {
		work <- p
	}
	close(work)
	group.Wait()
	return errs
}

// judgeDue evaluates one patient without a write, unless another node has done
// so.
func (o Org) judgeDue(ctx context.Context, patientNo int64, now time.Time) error {
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		if found, err := o.lockPatient(tx, patientNo); err != nil || !found {
			return err // merged or erased since it was found to be due
		}
		var standing alert.Standing
		if err := tx.Many(o.selectStanding(byNumber(patientNo), &standing)); err != nil || !standing.Due(pain.DateOf(now.UTC()).DayNumber()) {
			return err
		}
		all, err := o.allSeries(tx, patientNo)
		if err != nil {
			return err
		}
		var watched alert.Watched
		watched.Add(all.Medications)
		return o.judge(tx, patientNo, standing, &watched, &watched, now)
	})
}

// KeepAlerted sweeps at once, at each midnight UTC, and every hour, until the
// context ends.
func (s System) KeepAlerted(ctx context.Context) error {
	for {
		err := s.SweepAlerts(ctx)
		if err != nil && ctx.Err() == nil {
			s.db.Log.Warn("could not raise all alerts of the day; trying again later", "error", err)
		}
		if ctx.Err() == nil {
			s.counts.swept.Done(engine.IgnorePart(err))
		}
		select {
		case <-time.After(untilSweep(s.db.Now())):
		case <-ctx.Done():
			return nil
		}
	}
}

func untilSweep(now time.Time) time.Duration {
	const day = 24 * time.Hour
	return min(sweepEvery, now.UTC().Truncate(day).Add(day).Sub(now))
}
