package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// names is a DNS server with responses chosen by a test; the zero value knows
// no address.
type names struct {
	mu      sync.Mutex
	answers func(question int) []netip.Addr
	asked   int
}

// resolver queries the server over a pipe instead of a socket.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go n.serve(far)
		return near, nil
	}}
}

// serve answers questions as over TCP, each behind its length.
func (n *names) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := conn.Read(length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := conn.Read(query); err != nil {
			return
		}
		answer := n.answer(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// answer repeats the question and adds an A record for each address; it has
// none of any other type.
func (n *names) answer(query []byte) []byte {
	const header, typeA = 12, 1
	end := header
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[header : end+5]
	var addrs []netip.Addr
	if n.answers != nil && binary.BigEndian.Uint16(query[end+1:]) == typeA {
		n.mu.Lock()
		addrs = n.answers(n.asked)
		n.asked++
		n.mu.Unlock()
	}
	b := append([]byte(nil), query[:2]...)
	b = append(b, 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0)
	b = append(b, question...)
	for _, addr := range addrs {
		// A pointer to the name, type A, class IN, no time to live.
		b = append(b, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
		b = append(b, addr.AsSlice()...)
	}
	return b
}

// TestNamesAreJudgedByTheAddressDialled: every connection goes to an address
// that was judged for it. The receiver listens on all of loopback; only one
// address of it is allowed.
func TestNamesAreJudgedByTheAddressDialled(t *testing.T) {
	var mu sync.Mutex
	var reached []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		addr := r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()
		host, _, _ := net.SplitHostPort(addr)
		mu.Lock()
		reached = append(reached, host)
		mu.Unlock()
	}))
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Listener.Close()
	server.Listener = listener
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := writeCertificate(t, server.Certificate().Raw)
	_, port, _ := net.SplitHostPort(listener.Addr().String())

	good, bad := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		name    string
		answers func(question int) []netip.Addr
		want    []string // for each attempt, where it arrived, or the refusal
	}{
		{"allowed", func(int) []netip.Addr { return []netip.Addr{good} }, []string{"127.0.0.2", "127.0.0.2"}},
		{"refused", func(int) []netip.Addr { return []netip.Addr{bad} }, []string{"127.0.0.1 is loopback", "127.0.0.1 is loopback"}},
		{"rebound after the first look-up", func(question int) []netip.Addr {
			if question == 0 {
				return []netip.Addr{good}
			}
			return []netip.Addr{bad}
		}, []string{"127.0.0.2", "127.0.0.1 is loopback"}},
		{"rebound back", func(question int) []netip.Addr {
			if question == 0 {
				return []netip.Addr{bad}
			}
			return []netip.Addr{good}
		}, []string{"127.0.0.1 is loopback", "127.0.0.2"}},
		{"both, refused first", func(int) []netip.Addr { return []netip.Addr{bad, good} }, []string{"127.0.0.2"}},
		{"both, allowed first", func(int) []netip.Addr { return []netip.Addr{good, bad} }, []string{"127.0.0.2"}},
		{"none", func(int) []netip.Addr { return nil }, []string{"example.com has no address"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := strictSender(t, Config{CAFile: ca, Allow: []netip.Prefix{netip.PrefixFrom(good, 32)}})
			s.dialer.Resolver = (&names{answers: c.answers}).resolver()
			for i, want := range c.want {
				reached = nil
				a := s.Send(t.Context(), message("https://example.com:"+port+"/"))
				s.Close() // so that the next attempt connects again
				mu.Lock()
				got := strings.Join(reached, " ")
				mu.Unlock()
				if a.OK() && got != want || !a.OK() && (got != "" || !strings.Contains(a.Error, want)) {
					t.Errorf("attempt %d: reached %q, error %q; want %q", i, got, a.Error, want)
				}
			}
		})
	}
}
