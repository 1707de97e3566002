package server

import (
	"fmt"
	"net"

	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/peer"
)

// share lets the nodes on the database share the read models of large
// organisations. It must be called before the workers start.
func (s *Server) share(cohorts *cohort.Cohorts) error {
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
	s.answerer = peer.Serve(l, who, self, cohorts.Answer, s.log, nil)
	return nil
}

// unshare stops answering and asking other nodes.
func (s *Server) unshare() error {
	if s.answerer == nil {
		return nil
	}
	s.asker.Close()
	return s.answerer.Close()
}
