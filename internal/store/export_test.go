package store

import (
	"context"
	"errors"
)

// Internals that external tests need.

// Measure measures once everything that KeepMeasured measures.
func (s System) Measure(ctx context.Context) error {
	return errors.Join(s.measure(ctx, true), s.measureSize(ctx))
}
