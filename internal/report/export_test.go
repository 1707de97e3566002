package report

import "context"

// RunOnce generates the next report in the queue, for benchmarks.
func RunOnce(ctx context.Context, w *Worker) error {
	l := &w.lines[0]
	t, err := l.claim(ctx)
	if err != nil || t == nil {
		return err
	}
	return w.produce(ctx, l, t)
}
