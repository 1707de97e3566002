package api

import (
	"sync"

	"anodyne.example/anodyne/internal/access"
)

// waiters bounds how many callers wait for events at a time, in all and of one
// client, so that waiting leaves connections for everybody else.
type waiters struct {
	most int // 0 is without a bound

	mu       sync.Mutex
	all      int
	byClient map[access.ClientNo]int
}

func newWaiters(most int) *waiters {
	return &waiters{most: most, byClient: map[access.ClientNo]int{}}
}

// enter counts a caller in, unless too many wait: in all, or half as many of
// this client. Whoever got in must leave.
func (w *waiters) enter(client access.ClientNo) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.most > 0 && (w.all >= w.most || w.byClient[client] >= (w.most+1)/2) {
		return nil, false
	}
	w.all++
	w.byClient[client]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.byClient[client]--; w.byClient[client] == 0 {
			delete(w.byClient, client)
		}
	}, true
}
