package e2e

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// hole is a network between a node and PostgreSQL that can silently drop
// everything, like a firewall that lost its state: nobody is notified, and
// connections from before remain dead when it works again.
type hole struct {
	dsn      string // of the database behind it
	target   string
	listener net.Listener
	lost     atomic.Bool
	group    sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
}

func newHole(tb testing.TB, dsn string) *hole {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	h := &hole{target: u.Host, conns: map[net.Conn]struct{}{}}
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	u.Host = h.listener.Addr().String()
	h.dsn = u.String()
	h.group.Go(h.accept)
	tb.Cleanup(func() {
		_ = h.listener.Close()
		h.mu.Lock()
		for conn := range h.conns {
			_ = conn.Close()
		}
		h.mu.Unlock()
		h.group.Wait()
	})
	return h
}

// open begins to lose everything.
func (h *hole) open() { h.lost.Store(true) }

// close lets new connections through again.
func (h *hole) close() { h.lost.Store(false) }

func (h *hole) accept() {
	for {
		near, err := h.listener.Accept()
		if err != nil {
			return
		}
		if h.lost.Load() { // to the caller it is open; nobody is behind it
			h.keep(near)
			continue
		}
		far, err := net.Dial("tcp", h.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		h.keep(near, far)
		mute := new(atomic.Bool)
		h.group.Go(func() { h.pass(near, far, mute) })
		h.group.Go(func() { h.pass(far, near, mute) })
	}
}

func (h *hole) keep(conns ...net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, conn := range conns {
		h.conns[conn] = struct{}{}
	}
}

// pass carries bytes until one side ends, which the other side learns only as
// long as nothing was lost.
func (h *hole) pass(to, from net.Conn, mute *atomic.Bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if h.lost.Load() {
			mute.Store(true)
		}
		if !mute.Load() && n > 0 {
			_, _ = to.Write(buf[:n]) // who is gone is found by reading from him
		}
		if err != nil {
			if !mute.Load() {
				_ = to.Close()
			} else {
				_, _ = io.Copy(io.Discard, from)
			}
			return
		}
	}
}
