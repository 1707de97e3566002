package cohort

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/peer"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// Sharing connects the read models of nodes that share a database. A node holds
// some slices of an organisation that does not fit into its memory, and asks
// other nodes for the rest.
type Sharing struct {
	Store  *store.Store
	Client *peer.Client
	// Address is where other nodes reach this one, and Build its program.
	Address, Build string
}

// announcement is what a node tells the others about itself, as JSON.
type announcement struct {
	Address string `json:"address"`
	Build   string `json:"build"`
	Memory  int64  `json:"memory"` // for read models, in bytes
}

// node is a node that can be asked.
type node struct {
	announcement
	no   int64
	self bool
}

type sharing struct {
	Sharing

	mu   sync.Mutex
	away map[int64]absence // by number of the node
	// known and divisions follow from the last list of members: the nodes, and
	// the owners of slices.
	self      int64
	members   []engine.Member
	known     []node
	divisions map[access.OrgNo][]int
}

// absence is the state of a node that did not answer. It is asked again by one
// query at a time, so that not all of them wait for a node that hangs, and less
// and less often.
type absence struct {
	since time.Time     // of the last failure
	until time.Time     // it is not asked before
	rest  time.Duration // after the last failure
}

const (
	// firstRest and longestRest are how long a node that did not answer is not
	// asked.
	firstRest, longestRest = 5 * time.Second, time.Minute
	// probeTime is more than enough to find out that a node still hangs.
	probeTime = 2 * peer.Silence
)

// Share makes this node take part. It must be called before the first query and
// before the node takes part in elections. [Cohorts.Answer] must be reachable at
// the address.
func (cs *Cohorts) Share(with Sharing) error {
	text, err := json.Marshal(announcement{with.Address, with.Build, cs.limit})
	if err != nil {
		return err
	}
	with.Store.System().Announce(string(text))
	cs.sharing = &sharing{Sharing: with, away: map[int64]absence{}}
	return nil
}

// nodes returns the nodes that run the same program, with this one. It is empty
// if there is no election, or not yet.
func (s *sharing) nodes() []node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current()
}

// hasOthers reports whether there are nodes besides this one.
func (s *sharing) hasOthers() bool {
	return slices.ContainsFunc(s.nodes(), func(n node) bool { return !n.self })
}

// divide returns the nodes, and the index of the owner of each slice of an
// organisation.
func (s *sharing) divide(org access.OrgNo, count int) (nodes []node, owner []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if nodes = s.current(); len(nodes) == 0 {
		return nil, nil
	}
	if owner = s.divisions[org]; len(owner) != count {
		owner = owners(nodes, org, count)
		s.divisions[org] = owner
	}
	return nodes, owner
}

// current is nodes for callers that hold the lock.
func (s *sharing) current() []node {
	self, members := s.Store.System().Members()
	if self == s.self && slices.Equal(members, s.members) {
		return s.known
	}
	s.self, s.members, s.known, s.divisions = self, members, nil, map[access.OrgNo][]int{}
	for _, m := range members {
		n := node{no: m.Node, self: m.Node == self}
		if err := json.Unmarshal([]byte(m.Text), &n.announcement); err == nil && n.Build == s.Build && n.Memory > 0 {
			s.known = append(s.known, n)
		}
	}
	maps.DeleteFunc(s.away, func(no int64, _ absence) bool {
		return !slices.ContainsFunc(s.known, func(n node) bool { return n.no == no })
	})
	return s.known
}

// The results of questions to other nodes, for the metrics.
const (
	resultAnswered = "answered"
	resultPartial  = "partial" // there was no room for some slices
	resultFailed   = "failed"
	resultBusy     = "busy"
	resultSkipped  = "skipped" // it failed a moment ago
)

var errAway = errors.New("the other node did not answer a moment ago")

// ask asks another node, unless it failed a moment ago.
func (s *sharing) ask(ctx context.Context, n *node, question []byte) ([]byte, error) {
	began := time.Now()
	if !s.mayAsk(n.no, began) {
		return nil, errAway
	}
	answer, err := s.Client.Ask(ctx, n.Address, n.no, question)
	switch {
	case err == nil || errors.Is(err, peer.ErrBusy):
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.away, n.no)
	case ctx.Err() == nil:
		s.failed(n.no, began, errors.Is(err, peer.ErrFailed))
	}
	return answer, err
}

// mayAsk reports whether a node may be asked. If it was away, that is the only
// query for a while.
func (s *sharing) mayAsk(no int64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, away := s.away[no]
	if !away {
		return true
	}
	if now.Before(a.until) {
		return false
	}
	a.until = now.Add(probeTime)
	s.away[no] = a
	return true
}

// failed records that a node did not answer a query that began at this time, or
// has said that it cannot. Queries that were waiting for it together count as one
// failure.
func (s *sharing) failed(no int64, began time.Time, said bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.away[no]
	if began.Before(a.since) {
		return
	}
	if a.rest = min(2*a.rest, longestRest); a.rest == 0 || said { // one that said so does not hang
		a.rest = firstRest
	}
	a.since = time.Now()
	a.until = a.since.Add(a.rest)
	s.away[no] = a
}

// org returns the view of an organisation for another node, which has checked
// that its caller may see it.
func (s *sharing) org(no access.OrgNo) store.Org { return s.Store.For(&access.Principal{Org: no}) }
