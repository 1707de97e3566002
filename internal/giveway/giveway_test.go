package giveway

import (
	"testing"
	"time"
)

func TestPointsAreApart(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		took, after time.Duration
		want        bool
	}{
		{0, 0, false}, {0, interval - 1, false}, {0, interval, true}, {interval / 2, interval - 1, false}, {interval / 2, interval, true},
		{50 * interval, interval, false}, {50 * interval, 50*interval - 1, false}, {50 * interval, 50 * interval, true},
	} {
		p := Points{last: now, took: c.took}
		if got := p.due(now.Add(c.after)); got != c.want {
			t.Errorf("%v after a turn of %v: %v", c.after, c.took, got)
		}
	}
	var p Points
	if !p.due(now) {
		t.Error("the first point is not due")
	}
	p.Point()
	if !p.Any() || p.took < 0 || p.last.Before(now) {
		t.Errorf("%+v", p)
	}
}
