// Package signal wakes all who wait within a process.
package signal

import "sync"

// Signal wakes everybody who waits; nobody misses a broadcast that comes
// after the call of wait.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// New makes a signal.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Wait returns a channel that is closed at the next broadcast.
func (s *Signal) Wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Broadcast wakes everybody who waits.
func (s *Signal) Broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}
