package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// FloorCommand is the hidden command that runs the baseline server.
const FloorCommand = "floor"

// recording is a response of the product, for the baseline server to repeat.
type recording struct {
	// Shape is the kind of request, if there are several.
	Shape  string      `json:"shape,omitempty"`
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// recordings are the responses of one path.
type recordings []recording

// ServeFloor reads recordings from in, prints the address on which it serves
// them as a line to out, and stops when in or the context ends. It is the
// minimum that a Go program can do to send these bytes: no routes, no checks,
// no store. A posted body is read and decoded, as any service must.
func ServeFloor(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	var recs recordings
	if err := decoder.Decode(&recs); err != nil {
		return fmt.Errorf("the recordings: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: recs, ReadHeaderTimeout: 10 * time.Second}
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
func (recs recordings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && !readable(r) {
		http.Error(w, "bad body", http.StatusBadRequest)
		return
	}
	i := 0
	if len(recs) > 1 {
		want := shape(r.Method, r.URL.Path)
		i = slices.IndexFunc(recs, func(rec recording) bool { return rec.Shape == want })
	}
	if i < 0 {
		http.Error(w, "not recorded", http.StatusNotFound)
		return
	}
	h := w.Header()
	for name, values := range recs[i].Header {
		h[name] = values
	}
	w.WriteHeader(recs[i].Status)
	_, _ = w.Write(recs[i].Body) // the caller may be gone
}

// readable reads and decodes a posted body.
func readable(r *http.Request) bool {
	if r.Header.Get("Content-Type") == formType {
		return r.ParseForm() == nil && r.PostForm.Get("grant_type") != ""
	}
	var c creation
	return json.NewDecoder(r.Body).Decode(&c) == nil
}
