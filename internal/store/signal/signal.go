// Package signal wakes waiting goroutines within a process.
package signal

import "sync"

// Signal wakes all waiting goroutines. None misses a broadcast that follows its
// call of Wait.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// New returns a signal.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Wait returns a channel that is closed at the next broadcast.
func (s *Signal) Wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Broadcast wakes all waiting goroutines.
func (s *Signal) Broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}
