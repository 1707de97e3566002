package webhook

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// A retry whose result is stored while the store is being read may be due again.
// Nothing else would look for it soon.
func TestLookAgainAfterAResult(t *testing.T) {
	now := time.Now()
	e := newEndpoint(&webhooks.Claim{}, now)
	task := &webhooks.Task{Delivery: id.New[id.DeliveryKind](now), Again: true}
	e.take(task, now)
	_, before := e.busy()
	if e.look(now, true, before) {
		t.Error("it looks again although nothing was stored")
	}
	if !e.wrote([]*result{{endpoint: e, task: task}}, 0) {
		t.Error("a result was stored, and nobody looks again")
	}
	e.take(task, now)
	_, before = e.busy()
	e.wrote([]*result{{endpoint: e, task: task}}, 0)
	if !e.look(now, true, before) {
		t.Error("a result was stored during a look, and nobody looks again")
	}
	if _, before = e.busy(); e.look(now, true, before) {
		t.Error("it looks again although nothing was stored since")
	}
}
