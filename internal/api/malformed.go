package api

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"

	"anodyne.example/anodyne/internal/fault"
)

// Malformed is the whole answer, head and body, to a request that net/http
// refuses by itself because it is not HTTP or too long for it: in the error
// shape and with the headers that every answer has. status is net/http's own,
// or 503 for a connection there is no room for, and peer the address of the
// connection, which the request counts for. secure says that it has TLS.
func (a *API) Malformed(status int, peer string, secure bool) []byte {
	w := &unsent{header: http.Header{"Date": {a.Now().UTC().Format(http.TimeFormat)}}}
	r := &http.Request{URL: &url.URL{}, RemoteAddr: peer}
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	a.Refuse(w, r, status)
	var b bytes.Buffer
	answer := http.Response{
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Close: true,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}
	_ = answer.Write(&b) // into memory
	return b.Bytes()
}

// Refuse answers a request that is not to be handled, for one of these reasons,
// and has the connection closed.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, status int) {
	x := newExchange(a, w, r)
	defer x.end()
	x.h["Connection"] = []string{"close"}
	err := fault.New(fault.InvalidBody, "The request is not valid HTTP: the request line, a header or an encoding is malformed.",
		"reason", "not a valid HTTP request", "offset", 0)
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		err = fault.New(fault.PayloadTooLarge, "The headers are too large.", "max_bytes", MaxHeaderBytes)
	case http.StatusServiceUnavailable:
		err = fault.Away("There are too many connections.", nil)
	}
	x.fail(a.refuse(x, err))
}

// MaxHeaderBytes is how long the head of a request may be.
const MaxHeaderBytes = 64 << 10

// unsent keeps an answer.
type unsent struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (u *unsent) Header() http.Header         { return u.header }
func (u *unsent) WriteHeader(status int)      { u.status = status }
func (u *unsent) Write(b []byte) (int, error) { return u.body.Write(b) }
