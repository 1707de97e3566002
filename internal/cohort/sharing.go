package cohort

import (
	"context"
	"encoding/json"
	"errors"
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

	mu sync.Mutex
	// away has the nodes that did not answer, until when they are not asked
	// again.
	away map[int64]time.Time
	// known and divisions follow from the last list of members: the nodes, and
	// the owners of slices.
	self      int64
	members   []engine.Member
	known     []node
	divisions map[access.OrgNo][]int
}

// restAfterFailure is how long a node that did not answer is not asked.
const restAfterFailure = 5 * time.Second

// Share makes this node take part. It must be called before the first query and
// before the node takes part in elections. [Cohorts.Answer] must be reachable at
// the address.
func (cs *Cohorts) Share(with Sharing) error {
	text, err := json.Marshal(announcement{with.Address, with.Build, cs.limit})
	if err != nil {
		return err
	}
	with.Store.System().Announce(string(text))
	cs.sharing = &sharing{Sharing: with, away: map[int64]time.Time{}}
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
	s.mu.Lock()
	until := s.away[n.no]
	s.mu.Unlock()
	if time.Now().Before(until) {
		return nil, errAway
	}
	answer, err := s.Client.Ask(ctx, n.Address, n.no, question)
	if err != nil && ctx.Err() == nil && !errors.Is(err, peer.ErrBusy) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for no, until := range s.away {
			if time.Now().After(until) {
				delete(s.away, no)
			}
		}
		s.away[n.no] = time.Now().Add(restAfterFailure)
	}
	return answer, err
}

// org returns the view of an organisation for another node, which has checked
// that its caller may see it.
func (s *sharing) org(no access.OrgNo) store.Org { return s.Store.For(&access.Principal{Org: no}) }
