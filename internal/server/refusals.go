package server

import (
	"bytes"
	"net"
	"strconv"
)

// net/http itself responds to requests that it cannot parse, before any
// handler runs: in plain text, without a request ID and rate-limit headers.
// The code below replaces these responses with the service's own. See
// docs/decisions/0022-error-responses-of-net-http.md.

// speak replaces a refusal by net/http, which is written in a single call,
// with the service's own response.
func (c *connections) speak(b []byte, peer net.Addr, write func([]byte) (int, error)) (int, error) {
	status, ok := refusal(b)
	if !ok || c.answer == nil {
		return write(b)
	}
	if _, err := write(c.answer(status, peer.String())); err != nil {
		return 0, err
	}
	return len(b), nil
}

var (
	statusLine = []byte("HTTP/1.1 ")
	// ownHead follows the status line in a refusal by net/http. No response of
	// the service has exactly these headers.
	ownHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	// unexpected starts the response to an unknown Expect header.
	unexpected = []byte("HTTP/1.1 417 Expectation Failed\r\n")
)

// refusal reports whether b is a refusal by net/http, and its status.
func refusal(b []byte) (status int, ok bool) {
	if len(b) < len("HTTP/1.1 400") || b[9] != '4' && b[9] != '5' || !bytes.HasPrefix(b, statusLine) {
		return 0, false
	}
	if end := bytes.IndexByte(b, '\r'); !bytes.HasPrefix(b, unexpected) && (end < 0 || !bytes.HasPrefix(b[end:], ownHead)) {
		return 0, false
	}
	status, err := strconv.Atoi(string(b[9:12]))
	return status, err == nil
}
