package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/client"
)

func TestTokenRequest(t *testing.T) {
	var form string
	h := &http.Client{Transport: transport(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/oauth/token" || r.Header.Get("Authorization") != "" {
			t.Errorf("token asked for by %s %s with %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		form = r.PostForm.Encode()
		answer(w, http.StatusOK, map[string]any{"access_token": "at_1", "token_type": "Bearer", "expires_in": 3600, "scope": "a b"})
	})}
	c := client.New("http://peer.test", "cli_1", "cs_1&", client.WithHTTPClient(h), client.WithScope("a", "b"))
	token, err := c.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := "client_id=cli_1&client_secret=cs_1%26&grant_type=client_credentials&scope=a+b"; form != want {
		t.Errorf("form %q, want %q", form, want)
	}
	if token.AccessToken != "at_1" || !reflect.DeepEqual(token.Scopes, []string{"a", "b"}) || time.Until(token.Expiry) > time.Hour {
		t.Errorf("token %+v", token)
	}
	if text := fmt.Sprintf("%v %+v %v", token, token, c); strings.Contains(text, "at_1") || strings.Contains(text, "cs_1") {
		t.Errorf("a secret is printed: %s", text)
	}
}

func TestTokenAnswerWithoutToken(t *testing.T) {
	for _, body := range []map[string]any{{}, {"access_token": "x", "token_type": "mac"}} {
		h := &http.Client{Transport: transport(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body) })}
		if _, err := client.New("http://peer.test", "", "", client.WithHTTPClient(h)).Token(t.Context()); err == nil {
			t.Errorf("%v was taken for a token", body)
		}
	}
}

func TestParallelCallersShareOneToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{api: func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, client.Patient{}) }}
		h := &http.Client{Transport: transport(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // all callers are waiting by then
			p.ServeHTTP(w, r)
		})}
		c := client.New("http://peer.test", "cli_1", "cs_1", client.WithHTTPClient(h))
		parallel(t, 50, func() error { _, err := c.Patient(t.Context(), "pat_1"); return err })
		if n := p.tokens.Load(); n != 1 {
			t.Errorf("%d token requests, want 1", n)
		}
	})
}

func TestParallelCallersShareOneRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{api: func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			if r.Header.Get("Authorization") == "Bearer at_1" {
				refuse(w, http.StatusUnauthorized, client.CodeUnauthorized, map[string]any{"reason": "revoked_token"})
				return
			}
			answer(w, http.StatusOK, client.Patient{})
		}}
		c := p.offline()
		parallel(t, 50, func() error { _, err := c.Patient(t.Context(), "pat_1"); return err })
		if n := p.tokens.Load(); n != 2 {
			t.Errorf("%d token requests, want 2", n)
		}
	})
}

func parallel(t *testing.T, n int, f func() error) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestTokenIsRenewedBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		c := p.offline()
		for _, step := range []struct {
			wait time.Duration
			want string
		}{
			{0, "at_1"},
			{58 * time.Minute, "at_1"},
			{61 * time.Second, "at_2"},
			{58 * time.Minute, "at_2"},
		} {
			time.Sleep(step.wait)
			token, err := c.Token(t.Context())
			if err != nil || token.AccessToken != step.want {
				t.Errorf("after %v more: %q, %v, want %q", step.wait, token.AccessToken, err, step.want)
			}
		}
	})
}

func TestRenewalUponRefusal(t *testing.T) {
	tests := []struct {
		name   string
		reason string
		opts   []client.Option
		tokens int64
		calls  int
	}{
		{"expired", "expired_token", nil, 2, 2},
		{"revoked", "revoked_token", nil, 2, 2},
		{"invalid", "invalid_token", nil, 2, 2},
		{"missing", "missing_token", nil, 1, 1},
		{"no reason", "", nil, 1, 1},
		{"fixed token", "expired_token", []client.Option{client.WithToken("at_fixed")}, 0, 1},
		{"empty fixed token", "missing_token", []client.Option{client.WithToken("")}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			p := &peer{api: func(w http.ResponseWriter, _ *http.Request) {
				calls++
				refuse(w, http.StatusUnauthorized, client.CodeUnauthorized, map[string]any{"reason": tt.reason})
			}}
			_, err := p.offline(tt.opts...).CreatePatient(t.Context(), client.NewPatient{})
			if !client.IsCode(err, client.CodeUnauthorized) {
				t.Errorf("error %v", err)
			}
			if n := p.tokens.Load(); n != tt.tokens || calls != tt.calls {
				t.Errorf("%d tokens and %d calls, want %d and %d", n, calls, tt.tokens, tt.calls)
			}
		})
	}
}

func TestRenewalOutlivesItsFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		h := &http.Client{Transport: transport(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			p.ServeHTTP(w, r)
		})}
		c := client.New("http://peer.test", "cli_1", "cs_1", client.WithHTTPClient(h))

		ctx, cancel := context.WithCancel(t.Context())
		var first error
		var wg sync.WaitGroup
		wg.Go(func() { _, first = c.Token(ctx) })
		synctest.Wait()
		wg.Go(func() {
			if _, err := c.Token(t.Context()); err != nil {
				t.Errorf("second caller: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		if !errors.Is(first, context.Canceled) {
			t.Errorf("first caller: %v, want canceled", first)
		}
		if n := p.tokens.Load(); n != 1 {
			t.Errorf("%d token requests, want 1", n)
		}
	})
}

func TestRevokeAndIntrospect(t *testing.T) {
	p := &peer{}
	p.api = func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") != "cli_1" || r.FormValue("client_secret") != "cs_1" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s without the credentials in its form", r.URL.Path)
		}
		switch {
		case r.URL.Path == "/oauth/revoke":
			w.WriteHeader(http.StatusOK)
		case r.FormValue("token") == "at_1":
			answer(w, http.StatusOK, map[string]any{"active": true, "client_id": "cli_1", "scope": "a b", "exp": 1800000000})
		default:
			answer(w, http.StatusOK, map[string]any{"active": false})
		}
	}
	c := p.offline()
	token, err := c.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	got, err := c.Introspect(t.Context(), token.AccessToken)
	want := &client.Introspection{Active: true, ClientID: "cli_1", Scopes: []string{"a", "b"}, ExpiresAt: time.Unix(1800000000, 0).UTC()}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("introspected %+v, %v", got, err)
	}
	if got, err := c.Introspect(t.Context(), "at_other"); err != nil || got.Active {
		t.Errorf("introspected %+v, %v", got, err)
	}

	for _, step := range []struct{ revoke, next string }{{"at_other", "at_1"}, {"at_1", "at_2"}} {
		if err := c.Revoke(t.Context(), step.revoke); err != nil {
			t.Fatal(err)
		}
		if token, err := c.Token(t.Context()); err != nil || token.AccessToken != step.next {
			t.Errorf("after revoking %s: %q, %v, want %s", step.revoke, token.AccessToken, err, step.next)
		}
	}
}
