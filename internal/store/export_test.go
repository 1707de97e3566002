package store

import (
	"context"
	"errors"
)

// What the tests outside the package need of its inside.

// Measure looks once at all that KeepMeasured looks at.
func (s System) Measure(ctx context.Context) error {
	return errors.Join(s.measure(ctx), s.measureSize(ctx))
}
