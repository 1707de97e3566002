package bench

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// script renders the requests of a path, which are the same for both servers.
type script struct {
	*path
	parts []part // take turns
	host  string
	keys  bool
}

// part is a path with its bodies.
type part struct {
	*path
	bodies [][]byte
}

func newScript(p *path, host string, keys bool) *script {
	s := &script{path: p, host: host, keys: keys}
	mix := p.mix
	if mix == nil {
		mix = []*path{p}
	}
	made := map[*path][][]byte{}
	for _, one := range mix {
		if _, done := made[one]; !done && one.method == http.MethodPost {
			if one.bodies != nil {
				made[one] = one.bodies()
			} else {
				made[one] = arrivals()
			}
		}
		s.parts = append(s.parts, part{one, made[one]})
	}
	return s
}

// part returns the part of the n-th request.
func (s *script) part(n int) *part { return &s.parts[n%len(s.parts)] }

// render appends the next request of a connection. With idempotency keys, each
// request needs a different number.
func (s *script) render(b []byte, as *slot) []byte {
	n := as.n
	p := s.part(n)
	b = append(append(b, p.method...), ' ')
	b = p.target(b, as.stock, n)
	b = append(append(b, " HTTP/1.1\r\nHost: "...), s.host...)
	if p.form {
		b = append(append(b, "\r\nAuthorization: Basic "...), as.basic...)
	} else {
		b = append(append(b, "\r\nAuthorization: Bearer "...), as.token...)
	}
	b = append(b, "\r\n"...)
	if p.method != http.MethodPost {
		return append(b, "\r\n"...)
	}
	body := p.bodies[n%len(p.bodies)]
	if s.keys && !p.form {
		b = append(strconv.AppendInt(append(b, "Idempotency-Key: bench-"...), int64(n), 10), "\r\n"...)
	}
	b = append(append(append(b, "Content-Type: "...), p.contentType()...), "\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\n\r\n"...)
	return append(b, body...)
}

func (p *path) contentType() string {
	if p.form {
		return formType
	}
	return "application/json"
}

const formType = "application/x-www-form-urlencoded"

// shape identifies the kind of a request in a mix: the method, and the target
// without query and identifiers.
func shape(method, target string) string {
	path, _, _ := strings.Cut(target, "?")
	segments := strings.Split(path, "/")
	segments = slices.DeleteFunc(segments, func(s string) bool { return strings.HasPrefix(s, "pat_") })
	if len(segments) < strings.Count(path, "/")+1 {
		method += " one"
	}
	return method + " " + strings.Join(segments, "/")
}
