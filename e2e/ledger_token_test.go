package e2e

import "anodyne.example/anodyne/client"

// issued is a token beside those that the clients of a load keep.
type issued struct {
	by    int
	token string
	ended removal
	// touched marks one to be tried.
	touched bool
}

// token gets a token, uses it, or ends it.
func (w *writer) token(l *ledger, c *client.Client, by int) bool {
	if t := w.issued; t != nil && t.by == by && t.ended == stays {
		t.touched = true
		if w.random.IntN(2) == 0 {
			return l.removed("revoke a token", &t.ended, c.Revoke(l.tb.Context(), t.token))
		}
		_, err := l.node.as(application{}, client.WithToken(t.token)).Webhooks(l.tb.Context(), 1, 1)
		return l.answered("use a token", err)
	}
	token, err := l.node.as(l.apps[by]).Token(l.tb.Context())
	if !l.answered("get a token", err) {
		return false
	}
	t := &issued{by: by, token: token.AccessToken, touched: true}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens = append(l.tokens, t)
	w.issued = t
	return true
}

// readTokens tries those that something happened to, and some that were ended
// long ago: one that was issued is good, one that was ended is refused.
func (l *ledger) readTokens() {
	l.tb.Helper()
	const old = 3 // refusals count for the address, which has a thousand
	for i, t := range l.tokens {
		if !t.touched && i >= old {
			continue
		}
		_, err := l.node.as(application{}, client.WithToken(t.token)).Webhooks(l.tb.Context(), 1, 1)
		// An address that was refused often does not even get the reason.
		refused := client.IsCode(err, client.CodeUnauthorized) || client.IsCode(err, client.CodeRateLimitExceeded)
		switch {
		case err == nil && t.ended == isGone:
			l.tb.Error("a token was revoked and is good")
		case err == nil:
			t.ended = stays
		case refused && t.ended == stays:
			l.tb.Errorf("a token was issued and is refused: %v", err)
		case refused:
			t.ended = isGone
		default:
			l.tb.Errorf("a token: %v", err)
		}
		t.touched = false
	}
}
