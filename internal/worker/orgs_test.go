package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
)

var errBroken = errors.New("broken")

var hospital = id.New[id.OrgKind](time.UnixMilli(0))

// ids knows the identifier of organisation 2 only.
func ids(_ context.Context, org access.OrgNo) (id.Org, error) {
	if org != 2 {
		return id.Org{}, errBroken
	}
	return hospital, nil
}

func TestOrgsKeepFailuresApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := NewOrgs(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&out, nil)), "a", ids)
		_ = o.Done(t.Context(), 1, nil)
		if err := o.Done(t.Context(), 2, errBroken); !errors.Is(err, errBroken) {
			t.Errorf("Done returned %v", err)
		}
		if got := o.Sound([]access.OrgNo{1, 2, 3}); !slices.Equal(got, []access.OrgNo{1, 3}) {
			t.Errorf("sound are %v", got)
		}
		if o.Ready(2) || !o.Ready(1) {
			t.Errorf("ready: 1 %v, 2 %v", o.Ready(1), o.Ready(2))
		}
		if value(t, o.errors) != 1 || value(t, o.failing) != 1 || !strings.Contains(out.String(), "organization_id="+hospital.String()) {
			t.Errorf("%v errors, %v failing, log %q", value(t, o.errors), value(t, o.failing), &out)
		}
		time.Sleep(firstSetback)
		if !o.Ready(2) {
			t.Error("not ready after the first pause")
		}
		_ = o.Done(t.Context(), 2, errBroken)
		time.Sleep(firstSetback)
		if o.Ready(2) {
			t.Error("the second pause is not longer than the first")
		}
		o.Hasten()
		var tried []access.OrgNo
		o.Retry(t.Context(), func(_ context.Context, org access.OrgNo) error {
			tried = append(tried, org)
			return nil
		})
		o.Wait()
		if !slices.Equal(tried, []access.OrgNo{2}) || value(t, o.failing) != 0 || len(o.Sound([]access.OrgNo{2})) != 1 {
			t.Errorf("tried %v, %v failing", tried, value(t, o.failing))
		}
	})
}

// After an organisation failed, another node may do its work, or there may be no
// work left. Then this node does not try it again.
func TestOrgsAreNotCountedForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := NewOrgs(prometheus.NewRegistry(), slog.New(slog.DiscardHandler), "a", ids)
		_ = o.Done(t.Context(), 1, errBroken)
		time.Sleep(failsFor - time.Second)
		_ = o.Done(t.Context(), 2, errBroken)
		if value(t, o.failing) != 2 {
			t.Errorf("%v are failing", value(t, o.failing))
		}
		time.Sleep(time.Second)
		if value(t, o.failing) != 1 {
			t.Errorf("%v are failing, want only the one that failed a moment ago", value(t, o.failing))
		}
	})
}

func TestOrgsHaveNotFailedWhenTheWorkerStops(t *testing.T) {
	var out bytes.Buffer
	o := NewOrgs(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&out, nil)), "a", ids)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_ = o.Done(stopped, 1, stopped.Err())
	o.Suspect([]access.OrgNo{2})
	o.Retry(stopped, func(ctx context.Context, _ access.OrgNo) error { return ctx.Err() })
	o.Wait()
	if out.Len() > 0 || value(t, o.errors) != 0 || value(t, o.failing) != 0 {
		t.Errorf("%v errors, %v failing, log %q", value(t, o.errors), value(t, o.failing), &out)
	}

	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_ = o.Done(late, 1, late.Err())
	if value(t, o.errors) != 1 || value(t, o.failing) != 1 || !strings.Contains(out.String(), "organization_number=1") {
		t.Errorf("past its deadline: %v errors, %v failing, log %q", value(t, o.errors), value(t, o.failing), &out)
	}
}
