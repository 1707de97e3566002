package patients

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/store/idempotency"
)

// WriteAll performs writes in one transaction, all or none, and returns the
// outcome of show, or that of an earlier request with the same key. Each write
// leaves what it leaves alone: journal entry, event, counts, series and alerts.
// show is called after the rules of the writes.
//
// If a write is rejected, the error is a [WriteError]. If [Outdated] reports
// true for it, the writes must be made again.
func (o Org) WriteAll(_ context.Context, _ []Write, _ time.Time, _ *idempotency.Once, _ func() (idempotency.Outcome, error)) (idempotency.Outcome, error) {
	return idempotency.Outcome{}, errors.ErrUnsupported
}
