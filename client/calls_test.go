package client_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// halfPast is the time in most responses of these tests.
var halfPast = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

// call is a method of the client, the request line and body it must send, the
// response it gets, which is 204 if empty, and what it must return.
type call struct {
	name       string
	act        func(context.Context, *client.Client) (any, error)
	line, body string
	answer     string
	want       any
}

// checkCalls makes each call against a server that checks its request.
func checkCalls(t *testing.T, calls []call) {
	t.Helper()
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if line := r.Method + " " + r.RequestURI; err != nil || line != tt.line || string(body) != tt.body {
					t.Errorf("%s %s (%v), want %s %s", line, body, err, tt.line, tt.body)
				}
				if hasKey := r.Header.Get("Idempotency-Key") != ""; hasKey != (r.Method == http.MethodPost) {
					t.Errorf("%s has a key: %v", r.Method, hasKey)
				}
				if tt.answer == "" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				_, _ = io.WriteString(w, tt.answer)
			})
			got, err := tt.act(t.Context(), c)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// value returns what a call returned as a value, so that it can be compared.
func value[T any](got *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return *got, nil
}
