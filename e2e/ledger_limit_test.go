package e2e

import (
	"sync"

	"anodyne.example/anodyne/client"
)

// limited is an application that exceeds its allowance, and the number of its
// requests that passed.
type limited struct {
	app   application
	token string

	mu      sync.Mutex
	passed  map[int64]int // by the end of the window
	refused int
}

// limit adds an application with the standard allowance to the load.
func (l *ledger) limit(app application, n *node) {
	l.tb.Helper()
	c := n.as(app)
	token, err := c.Token(l.tb.Context())
	if err != nil {
		l.tb.Fatal(err)
	}
	l.limited = &limited{app: app, token: token.AccessToken, passed: map[int64]int{c.RateLimit().Reset.Unix(): 1}}
}

// ask sends this many requests, several in parallel, until a response is lost.
func (l *ledger) ask(requests int) {
	const askers = 4
	var group sync.WaitGroup
	for range askers {
		// A client each, so that what it heard last is of its own request.
		c := l.node.as(application{}, client.WithToken(l.limited.token))
		group.Go(func() {
			for range (requests + askers - 1) / askers {
				_, err := c.Webhooks(l.tb.Context(), 1, 1)
				refused := client.IsCode(err, client.CodeRateLimitExceeded)
				if refused {
					err = nil
				}
				if !l.answered("a request of the limited application", err) {
					return
				}
				l.limited.note(c.RateLimit().Reset.Unix(), refused)
			}
		})
	}
	group.Wait()
}

func (l *limited) note(window int64, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refused {
		l.refused++
	} else {
		l.passed[window]++
	}
}

// useUp sends more requests than are left, so that some are refused. If
// nothing was killed, exactly the allowance passes.
func (l *ledger) useUp(exactly bool) {
	l.tb.Helper()
	l.ask(standardLimit + 50)
	for _, passed := range l.limited.passed {
		if exactly && len(l.limited.passed) == 1 && passed != standardLimit {
			l.tb.Errorf("%d requests of %d passed", passed, standardLimit)
		}
	}
	if l.limited.refused == 0 {
		l.tb.Error("nothing was refused to the limited application")
	}
}

// readLimit compares what passed with the allowance, and the warnings with one
// for each threshold of a window.
func (l *ledger) readLimit() {
	l.tb.Helper()
	if l.limited == nil {
		return
	}
	windows := len(l.limited.passed)
	for window, passed := range l.limited.passed {
		if passed > standardLimit {
			l.tb.Errorf("%d requests passed in the window until %d, of %d", passed, window, standardLimit)
		}
	}
	for kind, times := range l.events[l.limited.app.ID] {
		if times > windows {
			l.tb.Errorf("%s came %d times in %d windows", kind, times, windows)
		}
	}
}
