package store

import (
	"context"
	"fmt"
	"time"
)

// measureWorkers counts the workers of a Citus cluster that respond. On other
// databases it does nothing.
func (s System) measureWorkers(ctx context.Context) error {
	if !s.db.Distributed() {
		return nil
	}
	up, down, err := s.db.Workers(ctx)
	if err != nil {
		return fmt.Errorf("the workers: %w", err)
	}
	s.metrics.workers.WithLabelValues("up").Set(float64(up))
	s.metrics.workers.WithLabelValues("down").Set(float64(down))
	s.metrics.lost.Store(int64(down))
	return nil
}

// degradedFor is how long the service counts as degraded after a worker was
// unavailable, unless a measurement finds that it is.
const degradedFor = 2 * measureEvery

// Degraded reports whether requests of some organisations fail, because the
// worker of a Citus cluster that has their rows did not respond at the last
// measurement or to a recent statement.
func (s *Store) Degraded() bool {
	return s.db.Distributed() && (s.metrics.lost.Load() > 0 || time.Since(s.db.WorkerFailed()) < degradedFor)
}
