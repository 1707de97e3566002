package giveway

import (
	"testing"
	"time"
)

func TestPointsAreApart(t *testing.T) {
	var p Points
	now := time.Now()
	for i, step := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {interval - 1, false}, {interval, true}, {interval + 1, false}, {2 * interval, true}} {
		if got := p.due(now.Add(step.after)); got != step.want {
			t.Errorf("%d: after %v: %v", i, step.after, got)
		}
	}
	p.Point()
}
