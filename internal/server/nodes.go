package server

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/peer"
)

// share lets the nodes on the database share the read models of large
// organisations. It must be called before the workers start.
func (s *Server) share(cohorts *cohort.Cohorts, registry prometheus.Registerer) error {
	if s.cfg.NodeListen == "" {
		return nil
	}
	sys := s.store.System()
	who, err := peer.NewIdentity(sys.NodeKey())
	if err != nil {
		return err
	}
	build, err := peer.Build()
	if err != nil {
		return fmt.Errorf("--node-listen: cannot read this program: %w", err)
	}
	l, err := net.Listen("tcp", s.cfg.NodeListen)
	if err != nil {
		return fmt.Errorf("--node-listen: %w", err)
	}
	address := s.cfg.NodeAddress
	if address == "" {
		address = l.Addr().String()
	}
	s.asker = peer.NewClient(who)
	if err := cohorts.Share(cohort.Sharing{Store: s.store, Client: s.asker, Address: address, Build: build}); err != nil {
		return err
	}
	self := func() int64 {
		no, _ := sys.Members()
		return no
	}
	room := newNodeConnections(l, min(mostNodeConnections, config.OpenFiles()/8), s.log, registry)
	s.answerer = peer.Serve(room, who, peer.Service{Self: self, Answer: cohorts.Answer, Log: s.log, State: room.state})
	return nil
}

// mostNodeConnections limits the connections of other nodes and of strangers who
// have yet to prove that they are nodes. It is far above the number of questions
// that a node answers at a time.
const mostNodeConnections = 1024

// newNodeConnections limits the connections of the listener for other nodes. A
// stranger who fills it gives way to nodes at other addresses, and can only use up
// these connections, not the files that the process needs for everything else.
func newNodeConnections(l net.Listener, most int, log *slog.Logger, registry prometheus.Registerer) *connections {
	room := newConnections(l, most, log.With("listener", "nodes"), registry, "anodyne_node_connections", "the listener for other nodes")
	room.encrypted, room.spare = true, 0 // there are no health checks
	return room
}

// unshare stops answering and asking other nodes.
func (s *Server) unshare() error {
	if s.answerer == nil {
		return nil
	}
	s.asker.Close()
	return s.answerer.Close()
}
