package api

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"

	"anodyne.example/anodyne/internal/fault"
)

// Malformed returns the complete response, header and body, to a request that
// net/http rejects because it is malformed or too long, in the error format
// and with the headers of every response. status is the status chosen by
// net/http, or 503 if there is no capacity for the connection. The request
// counts for peer, the address of the connection. secure is set for TLS
// connections.
func (a *API) Malformed(status int, peer string, secure bool) []byte {
	w := &recorder{header: http.Header{"Date": {a.Now().UTC().Format(http.TimeFormat)}}}
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
	_ = answer.Write(&b) // to a buffer
	return b.Bytes()
}

// Refuse rejects a request with one of these statuses and closes the
// connection.
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

// MaxHeaderBytes is the maximum size of a request header.
const MaxHeaderBytes = 64 << 10
