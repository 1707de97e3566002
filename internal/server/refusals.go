package server

import (
	"bytes"
	"net"
	"strconv"
)

// The service speaks for net/http, which answers what it cannot read by itself,
// before any handler: in plain text, without a request id and the rate-limit
// headers. See docs/decisions/0022-answers-to-what-is-not-http.md.

// speak puts the service's answer in the place of a refusal by net/http, which
// writes one at once.
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
	// ownHead is what net/http puts behind the status line of a refusal. No
	// answer of the service has these headers and no others.
	ownHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	// unexpected begins the answer to an Expect header that is not known.
	unexpected = []byte("HTTP/1.1 417 Expectation Failed\r\n")
)

// refusal says whether what is written is one by net/http, and its status.
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
