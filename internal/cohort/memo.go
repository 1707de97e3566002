package cohort

import (
	"container/list"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
)

// memo caches the tallies of panels for recent queries. When a query is
// repeated, only panels that have changed are counted again. Panels are
// immutable, so a cached tally is as exact as a new one.
type memo struct {
	limit int64 // in bytes

	mu      sync.Mutex
	answers map[question]*list.Element
	recent  *list.List // of *answered, most recently used first
	bytes   int64
	// first has the queries that are being computed for the first time.
	first map[question]chan struct{}
}

// question identifies a query of an organisation.
type question struct {
	org     access.OrgNo
	measure string
	params  string
}

// answered holds the tallies of a result: of its groups, and of all of them.
type answered struct {
	question
	each   int // number of panels per group
	groups []group
	whole  any
	bytes  int64
}

// group is a few panels that are counted together, by number, and their tally.
type group struct {
	panels []uint64
	tally  any
}

// bytes returns the size of a group without its tally.
func (g *group) bytes() int64 {
	return int64(unsafe.Sizeof(*g)) + int64(cap(g.panels))*int64(unsafe.Sizeof(g.panels[0]))
}

func newMemo(limit int64) *memo {
	return &memo{limit: limit, answers: map[question]*list.Element{}, recent: list.New(), first: map[question]chan struct{}{}}
}

func newQuestion(org access.OrgNo, measure string, p *analytics.Params) (question, error) {
	params, err := json.Marshal(p)
	return question{org, measure, string(params)}, err
}

// recall returns the last result of a query, or nil.
func (m *memo) recall(q question) *answered {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.answers[q]
	if at == nil {
		return nil
	}
	m.recent.MoveToFront(at)
	return at.Value.(*answered)
}

// lead waits until no other caller is computing the same query, because two at
// once would take twice as long as one. The caller must call done.
func (m *memo) lead(ctx context.Context, q question) (done func(), err error) {
	for {
		m.mu.Lock()
		other := m.first[q]
		if other == nil {
			ended := make(chan struct{})
			m.first[q] = ended
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.first, q)
				m.mu.Unlock()
				close(ended)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// answersKept is about how many results there is room for, however large the
// organisation is. One must not evict another: measures that are shown side by
// side are asked for by turns.
const answersKept = 8

// groupSize returns the number of panels per group with which a result leaves
// room for others, given the size of an empty tally. There are enough groups for
// all CPUs.
func (m *memo) groupSize(panels int, tally int64) int {
	most := max(runtime.GOMAXPROCS(0), int(m.limit/answersKept/tally))
	return max(groupSize, (panels+most-1)/most)
}

// keep replaces the result of a query and evicts the least recently used ones.
// It returns the total size.
func (m *memo) keep(a *answered) (all int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.answers[a.question]; at != nil {
		m.drop(at)
	}
	if a.bytes > m.limit {
		return m.bytes
	}
	m.answers[a.question] = m.recent.PushFront(a)
	m.bytes += a.bytes
	for m.bytes > m.limit {
		m.drop(m.recent.Back())
	}
	return m.bytes
}

func (m *memo) drop(at *list.Element) {
	a := m.recent.Remove(at).(*answered)
	delete(m.answers, a.question)
	m.bytes -= a.bytes
}

// known finds a group with exactly these panels. A nil result has none.
func (a *answered) known(i int, panels []uint64) (tally any, ok bool) {
	if a == nil || i >= len(a.groups) || !slices.Equal(a.groups[i].panels, panels) {
		return nil, false
	}
	return a.groups[i].tally, true
}

// still reports whether the result is that of exactly these groups.
func (a *answered) still(groups []group) bool {
	return a != nil && slices.EqualFunc(a.groups, groups, func(x, y group) bool { return slices.Equal(x.panels, y.panels) })
}

// bytesOf returns the size of a result: its tallies, and about as much as its
// figures take, which grow with the days of the period.
func bytesOf[T tally[T]](p *analytics.Params, groups []group, whole T) int64 {
	const fixed, perDay = 48 << 10, 128
	bytes := fixed + perDay*int64(p.End-p.Start+1) + whole.Bytes()
	for _, g := range groups {
		bytes += g.bytes() + g.tally.(T).Bytes()
	}
	return bytes
}
