package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// FloorCommand is the hidden word after "bench" that makes the program a
// floor.
const FloorCommand = "floor"

// recording is an answer of the product, kept for the floor to repeat.
type recording struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// ServeFloor reads a recording from in, prints the address that it serves it
// on as a line of out, and stops when in or the context ends. It is the least
// that a Go program can do to send these bytes: no routes, no checks, no
// store. A body that is posted is read and decoded, as any service must.
func ServeFloor(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	var rec recording
	if err := decoder.Decode(&rec); err != nil {
		return fmt.Errorf("the recording: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: rec, ReadHeaderTimeout: 10 * time.Second}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in) // ends with the parent
		cancel()
	}()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP repeats the recording.
func (rec recording) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		var c creation
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			http.Error(w, "bad body", http.StatusBadRequest)
			return
		}
	}
	h := w.Header()
	for name, values := range rec.Header {
		h[name] = values
	}
	w.WriteHeader(rec.Status)
	_, _ = w.Write(rec.Body) // a caller who is gone cannot be told
}
