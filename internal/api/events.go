package api

import (
	"context"
	"net/http"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/journal"
)

// maxWait is the longest wait for an event, in seconds.
const maxWait = 30

func (a *API) listEvents(x *exchange) (answer, error) {
	q := x.readQuery("after", "limit", "wait")
	after := journal.Pos(q.cursor("after", eventCursor, 1, 1)[0])
	limit := int(q.limit())
	wait := q.number("wait", 0, maxWait, 0)
	if err := q.err(); err != nil {
		return answer{}, err
	}
	var events []event.Event
	var next journal.Pos
	var err error
	leave, mayWait := func() {}, false
	if wait > 0 {
		leave, mayWait = a.waiters.enter(x.principal.Client)
	}
	if !mayWait {
		events, next, err = x.org.Events(x.ctx(), after, limit)
	} else {
		defer leave()
		ctx, cancel := context.WithTimeout(x.ctx(), time.Duration(wait)*time.Second)
		defer cancel()
		defer a.whenDraining(cancel)()
		events, next, err = x.org.WaitEvents(ctx, after, limit)
	}
	if err != nil {
		return answer{}, err
	}
	b := append(x.buf, `{"data":[`...)
	for i := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = events[i].Append(b)
	}
	x.buf = appendCursor(b, makeCursor(eventCursor, int64(next)))
	return answer{status: http.StatusOK, body: x.buf}, nil
}

// whenDraining cancels a wait when the server is about to stop, so that
// shutdown is not delayed.
func (a *API) whenDraining(cancel context.CancelFunc) (stop func() bool) {
	if a.Draining == nil {
		return func() bool { return false }
	}
	return context.AfterFunc(a.Draining, cancel)
}
