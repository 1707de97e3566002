package report

import "context"

// RunOnce generates the next report in the queue, for benchmarks.
func RunOnce(ctx context.Context, w *Worker) error {
	claim, err := w.Store.System().ClaimReport(ctx, w.node, w.Lease)
	if err != nil || claim == nil {
		return err
	}
	return w.produce(ctx, claim)
}
