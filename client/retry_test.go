package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/client"
)

// The three kinds of request that retries distinguish.
var (
	get  = func(ctx context.Context, c *client.Client) error { _, err := c.Patient(ctx, "pat_1"); return err }
	post = func(ctx context.Context, c *client.Client) error {
		_, err := c.CreatePatient(ctx, client.NewPatient{})
		return err
	}
	patch = func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdatePatient(ctx, "pat_1", client.PatientPatch{})
		return err
	}
)

type act = func(context.Context, *client.Client) error

func TestRetries(t *testing.T) {
	tests := []struct {
		name       string
		act        act
		status     int
		code       client.Code
		retryAfter string
		opts       []client.Option
		tries      int
		// The whole call takes from at to below at + slack: Retry-After for
		// each retry, and the backoff.
		at, slack time.Duration
	}{
		{"429 by seconds", get, 429, client.CodeRateLimitExceeded, "2", nil, 4, 6 * time.Second, 1750 * time.Millisecond},
		{"503 by seconds", post, 503, client.CodeServiceUnavailable, "1", nil, 4, 3 * time.Second, 1750 * time.Millisecond},
		{"503 of a patch", patch, 503, client.CodeServiceUnavailable, "1", nil, 4, 3 * time.Second, 1750 * time.Millisecond},
		{"503 without a hint", get, 503, "", "", nil, 4, 875 * time.Millisecond, 875 * time.Millisecond},
		{"503 with nonsense", get, 503, "", "soon", nil, 4, 875 * time.Millisecond, 875 * time.Millisecond},
		{"number of retries", get, 503, "", "", []client.Option{client.WithMaxRetries(1)}, 2, 125 * time.Millisecond, 125 * time.Millisecond},
		{"no retries", get, 503, "", "1", []client.Option{client.WithMaxRetries(0)}, 1, 0, 1},
		{"too long to wait", get, 429, client.CodeRateLimitExceeded, "61", nil, 1, 0, 1},
		{"key in progress", post, 409, client.CodeIdempotencyInProgress, "1", nil, 4, 3 * time.Second, 1750 * time.Millisecond},
		{"gateway, get", get, 502, "", "", nil, 4, 875 * time.Millisecond, 875 * time.Millisecond},
		{"gateway, post", post, 504, "", "", nil, 4, 875 * time.Millisecond, 875 * time.Millisecond},
		{"gateway, patch", patch, 504, "", "", nil, 1, 0, 1},
		{"bad request", post, 400, client.CodeInvalidParameter, "1", nil, 1, 0, 1},
		{"conflict", post, 409, client.CodeConflict, "1", nil, 1, 0, 1},
		{"internal", get, 500, client.CodeInternalError, "1", nil, 1, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				p := &peer{api: func(w http.ResponseWriter, _ *http.Request) {
					tries++
					w.Header().Set("Retry-After", tt.retryAfter)
					refuse(w, tt.status, tt.code, nil)
				}}
				start := time.Now()
				err := tt.act(t.Context(), p.offline(tt.opts...))
				e, ok := errors.AsType[*client.Error](err)
				if !ok || e.Status != tt.status || e.Code != tt.code {
					t.Errorf("error %v", err)
				}
				if tries != tt.tries {
					t.Errorf("%d tries, want %d", tries, tt.tries)
				}
				if took := time.Since(start); took < tt.at || took >= tt.at+tt.slack {
					t.Errorf("took %v, want %v and less than %v more", took, tt.at, tt.slack)
				}
			})
		})
	}
}

func TestRetryAfterAsDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, tries := time.Now(), 0
		p := &peer{api: func(w http.ResponseWriter, _ *http.Request) {
			if tries++; tries == 1 {
				w.Header().Set("Retry-After", start.Add(10*time.Second).UTC().Format(http.TimeFormat))
				refuse(w, 503, client.CodeServiceUnavailable, nil)
				return
			}
			answer(w, http.StatusOK, client.Patient{})
		}}
		if err := get(t.Context(), p.offline()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start).Truncate(time.Second); took != 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestRetriesOfNetworkErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		act   act
		tries int
	}{{"get", get, 3}, {"post", post, 3}, {"patch", patch, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				broken, tries := errors.New("broken pipe"), 0
				h := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
					tries++
					return nil, broken
				})}
				c := client.New("http://peer.test", "", "", client.WithHTTPClient(h), client.WithToken("at_1"), client.WithMaxRetries(2))
				if err := tt.act(t.Context(), c); !errors.Is(err, broken) {
					t.Errorf("error %v does not wrap its cause", err)
				}
				if tries != tt.tries {
					t.Errorf("%d tries, want %d", tries, tt.tries)
				}
			})
		})
	}
}

func TestIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		p := &peer{api: func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			if len(keys)%2 == 1 {
				refuse(w, 503, client.CodeServiceUnavailable, nil)
				return
			}
			answer(w, http.StatusCreated, client.Patient{})
		}}
		c := p.offline()
		for _, opts := range [][]client.CallOption{nil, nil, {client.WithIdempotencyKey("mine")}} {
			if _, err := c.CreatePatient(t.Context(), client.NewPatient{}, opts...); err != nil {
				t.Fatal(err)
			}
		}
		if keys[0] != keys[1] || keys[2] != keys[3] {
			t.Errorf("the key changes between tries: %q", keys)
		}
		if keys[0] == keys[2] || len(keys[0]) < 22 {
			t.Errorf("the keys of two calls are the same, or too short: %q", keys)
		}
		if keys[4] != "mine" || keys[5] != "mine" {
			t.Errorf("the caller's key is not used: %q", keys)
		}
	})
}

func TestContextEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(errors.New("the user left")) })
		p := &peer{api: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			refuse(w, 429, client.CodeRateLimitExceeded, nil)
		}}
		start := time.Now()
		err := get(ctx, p.offline())
		if !errors.Is(err, ctx.Err()) || !client.IsCode(err, client.CodeRateLimitExceeded) {
			t.Errorf("error %v: want both the context's and the service's", err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestWaitBeyondDeadlineIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		p := &peer{api: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "5")
			refuse(w, 503, client.CodeServiceUnavailable, nil)
		}}
		start := time.Now()
		err := get(ctx, p.offline())
		if e, ok := errors.AsType[*client.Error](err); !ok || e.RetryAfter != 5*time.Second || time.Since(start) != 0 {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

func TestContextEndsRequest(t *testing.T) {
	arrived := make(chan struct{})
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(errors.New("the user left"))
	}()
	_, err := c.Patients(ctx, client.PatientQuery{Search: "Smith"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want canceled", err)
	}
	if strings.Contains(err.Error(), "Smith") {
		t.Errorf("the error quotes the search term: %v", err)
	}
	if _, err := c.Patients(ctx, client.PatientQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with an ended context: %v", err)
	}
}
