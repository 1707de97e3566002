package server

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"anodyne.example/anodyne/internal/peer"
	"anodyne.example/anodyne/internal/testwait"
)

// Strangers at the listener for other nodes use up a few connections only, and
// give way to nodes.
func TestStrangersAtTheListenerForNodes(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	who, err := peer.NewIdentity([]byte("ours"))
	if err != nil {
		t.Fatal(err)
	}
	const most = 8
	room := newNodeConnections(l, most, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	answer := func(_ context.Context, question []byte) ([]byte, error) { return question, nil }
	nodes := peer.Serve(room, who, peer.Service{Self: func() int64 { return 1 }, Answer: answer, Log: room.log, State: room.state})
	open := func() int {
		room.mu.Lock()
		defer room.mu.Unlock()
		return room.open
	}
	stranger := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.9")}}
	var strangers []net.Conn
	for range 12 * most { // they say nothing
		conn, err := stranger.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		strangers = append(strangers, conn)
		if now := open(); now > most {
			t.Fatalf("%d connections are open", now)
		}
	}
	testwait.Until(t, "strangers are refused", func() bool {
		var refused dto.Metric
		if err := room.shed.WithLabelValues("refused").Write(&refused); err != nil {
			t.Fatal(err)
		}
		return refused.GetCounter().GetValue() > 0
	})
	asker := peer.NewClient(who)
	testwait.Until(t, "a node gets an answer", func() bool { // it connects within a fixed time
		answer, err := asker.Ask(t.Context(), l.Addr().String(), 1, []byte("x"))
		return err == nil && string(answer) == "x"
	})
	asker.Close()
	for _, conn := range strangers {
		conn.Close()
	}
	testwait.Until(t, "all connections have ended", func() bool { return open() == 0 })
	if err := nodes.Close(); err != nil {
		t.Error(err)
	}
}
