package journal

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// News tells one follower which journals have grown, so that it need not check
// all of them. It only reduces latency: another process may write without a
// notification.
type News struct {
	woken chan struct{}
	grown orgSet
}

// Woken returns a channel that receives a value when there is something to
// Take.
func (n *News) Woken() <-chan struct{} { return n.woken }

// Take returns the organisations whose journals have grown since the last call.
// If all is true, any journal may have grown.
func (n *News) Take() (orgs []access.OrgNo, all bool) { return n.grown.take() }

func (n *News) tell(orgs []access.OrgNo) {
	n.grown.add(orgs)
	select {
	case n.woken <- struct{}{}:
	default: // already notified
	}
}

// orgSet is a set of organisations that gathers until it is taken.
type orgSet struct {
	mu   sync.Mutex
	orgs map[access.OrgNo]struct{}
	all  bool
}

// orgSetMost bounds the set. Beyond that it stands for all organisations.
const orgSetMost = 1000

// add adds organisations; none means any.
func (s *orgSet) add(orgs []access.OrgNo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.orgs == nil {
		s.orgs = map[access.OrgNo]struct{}{}
	}
	for _, org := range orgs {
		s.orgs[org] = struct{}{}
	}
	if len(orgs) == 0 || len(s.orgs) > orgSetMost {
		s.all = true
		clear(s.orgs)
	}
}

// take returns the organisations and empties the set. If all is true, it may be
// any organisation.
func (s *orgSet) take() (orgs []access.OrgNo, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	orgs, all = slices.Collect(maps.Keys(s.orgs)), s.all
	clear(s.orgs)
	s.all = false
	return orgs, all
}

// followers is the set of all followers.
type followers struct {
	mu   sync.Mutex
	list map[*News]struct{}
}

// Follow subscribes to journals that grow, until stop is called.
func (s System) Follow() (news *News, stop func()) {
	news = &News{woken: make(chan struct{}, 1)}
	f := &s.j.followers
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list == nil {
		f.list = map[*News]struct{}{}
	}
	f.list[news] = struct{}{}
	return news, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.list, news)
	}
}

// nowhere is used for audit lines of reads, which followers need not know of; nil
// means that any organisation's journal may have grown.
var nowhere = []access.OrgNo{}

// grew wakes callers that wait for the journal, and notifies followers.
func (s *Journal) grew(orgs []access.OrgNo) {
	s.positioned.Broadcast()
	if orgs != nil && len(orgs) == 0 {
		return
	}
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	for news := range s.followers.list {
		news.tell(orgs)
	}
}

// ChangeAny runs a write that may append to the journal of any organisation,
// and wakes followers.
func (s *Journal) ChangeAny(ctx context.Context, fn func(engine.Tx) error) error {
	return s.ChangeIn(ctx, nil, fn)
}

// Change runs a write that appends to the journal of one organisation, and
// wakes followers.
func (s *Journal) Change(ctx context.Context, org access.OrgNo, fn func(engine.Tx) error) error {
	return s.ChangeIn(ctx, []access.OrgNo{org}, fn)
}

// ChangeIn is Change for a write that appends to the journals of several
// organisations.
func (s *Journal) ChangeIn(ctx context.Context, orgs []access.OrgNo, fn func(engine.Tx) error) error {
	err := s.db.Write(ctx, fn)
	if err == nil {
		s.Changed(orgs)
	}
	return err
}

// Changed wakes followers after a write that appended to the journals of these
// organisations, or of any if orgs is nil.
func (s *Journal) Changed(orgs []access.OrgNo) {
	if s.db.Dialect().Sequenced {
		s.unplaced.add(orgs)
		s.tellWritten()
	} else {
		s.grew(orgs) // the writer assigned the position
	}
	s.written.Broadcast()
}

// noOrg is the text for nowhere. Nodes of an older version take it for an
// organisation without followers.
const noOrg = "-1"

// printOrgs encodes a list of organisations for other nodes. It returns a text
// that stands for any organisation if the list is too long.
func printOrgs(orgs []access.OrgNo) string {
	if len(orgs) == 0 {
		return noOrg
	}
	if len(orgs) > orgSetMost/4 { // PostgreSQL limits a notification to less than 8000 bytes
		return "any"
	}
	text := make([]byte, 0, 64)
	for i, org := range orgs {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, int64(org), 10)
	}
	return string(text)
}

// parseOrgs decodes such a list. nil means any organisation.
func parseOrgs(text string) (orgs []access.OrgNo) {
	if text == noOrg {
		return nowhere
	}
	for field := range strings.FieldsSeq(text) {
		org, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil // any, or from a node of a different version
		}
		orgs = append(orgs, access.OrgNo(org))
	}
	return orgs
}
