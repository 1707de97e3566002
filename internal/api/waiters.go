package api

import (
	"sync"

	"anodyne.example/anodyne/internal/access"
)

// waiters limits how many callers may wait for events, in total and per
// client, so that connections remain for other requests.
type waiters struct {
	most int // 0 means no limit

	mu       sync.Mutex
	all      int
	byClient map[access.ClientNo]int
}

func newWaiters(most int) *waiters {
	return &waiters{most: most, byClient: map[access.ClientNo]int{}}
}

// enter registers a waiting caller, unless too many are waiting: most in
// total, or half as many of this client. If ok, the caller must call leave.
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
