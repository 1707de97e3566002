package ratelimit

import "time"

// source is the window of one address. It is in two lists at once.
type source struct {
	key  sourceKey
	end  time.Time
	used int64
	prev [2]*source
	next [2]*source
}

// order selects a list.
type order int

const (
	byAge order = iota
	byLevel
)

// list is a queue from which any element can be removed.
type list struct{ first, last *source }

func (l *list) push(o order, s *source) {
	s.prev[o], s.next[o] = l.last, nil
	if l.last != nil {
		l.last.next[o] = s
	} else {
		l.first = s
	}
	l.last = s
}

func (l *list) remove(o order, s *source) {
	if s.prev[o] != nil {
		s.prev[o].next[o] = s.next[o]
	} else {
		l.first = s.next[o]
	}
	if s.next[o] != nil {
		s.next[o].prev[o] = s.prev[o]
	} else {
		l.last = s.prev[o]
	}
	s.prev[o], s.next[o] = nil, nil
}
