package cohort

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
)

// looking is a search as a job. Chunks arrive in any order; hits are kept by
// chunk.
type looking struct {
	matcher *matcher
	mu      sync.Mutex
	found   map[int]*slots // by chunk index
}

type lookingPart struct{ of *looking }

func (*looking) wants(int) bool { return true }

func (l *looking) part() part[*chunk] { return lookingPart{l} }

func (p lookingPart) add(index int, c *chunk) {
	found := &slots{}
	if p.of.matcher.find(c, found); *found == (slots{}) {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.found[index] = found
}

func (lookingPart) close() {}

// page returns the numbers on a page of the hits, and their total.
func (l *looking) page(q Query) ([]int64, int64) {
	h := newHits(q.Page, q.Limit)
	indices := slices.Sorted(maps.Keys(l.found))
	if q.Order == LatestFirst {
		slices.Reverse(indices)
	}
	for _, i := range indices {
		h.addAll(l.found[i], int64(i)*chunkSize+1, q.Order == LatestFirst)
	}
	return h.numbers, h.total
}

// ranking is a search in order of names as a job. It keeps the first most
// patients by name.
type ranking struct {
	matcher *matcher
	down    bool
	most    int
	mu      sync.Mutex
	first   []ranked
	total   int64
}

type ranked struct {
	name string
	no   int64
}

type rankingPart struct{ of *ranking }

func (*ranking) wants(int) bool { return true }

func (r *ranking) part() part[*chunk] { return rankingPart{r} }

func (p rankingPart) add(index int, c *chunk) {
	var found slots
	p.of.matcher.find(c, &found)
	var list []ranked
	for _, slot := range found.append(nil) {
		list = append(list, ranked{string(c.name(int(slot))), int64(index)*chunkSize + 1 + int64(slot)})
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.total += int64(len(list))
	p.of.first = append(p.of.first, list...)
	if len(p.of.first) > 2*(p.of.most+chunkSize) {
		p.of.sort()
	}
}

func (rankingPart) close() {}

// sort sorts what is kept, and drops what is beyond most.
func (r *ranking) sort() {
	slices.SortFunc(r.first, func(a, b ranked) int {
		order := cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.no, b.no))
		if r.down {
			return -order
		}
		return order
	})
	r.first = slices.Clip(r.first[:min(r.most, len(r.first))])
}

func (r *ranking) page(q Query) ([]int64, int64) {
	r.mu.Lock() // several callers may have asked the same
	defer r.mu.Unlock()
	r.sort()
	from := min((q.Page-1)*q.Limit, int64(len(r.first)))
	to := min(from+q.Limit, int64(len(r.first)))
	var numbers []int64
	for _, one := range r.first[from:to] {
		numbers = append(numbers, one.no)
	}
	return numbers, r.total
}

// deepest is how far a list in order of names goes in an organisation with
// names that do not fit into memory: the names before a page are kept until
// the page is known.
const deepest = 100_000

// streamList lists the patients of an organisation with names that do not fit
// into memory. All pages of a search in order of creation share one query.
func streamList(ctx context.Context, cs *Cohorts, org store.Org, q Query) ([]int64, int64, error) {
	const aboutFound, aboutRanked = 256 << 10, 64
	key := q.Term + "\x00" + strconv.Itoa(int(bornOn(q.Born)))
	if !q.Order.byName() {
		found, err := stream(ctx, cs, org, names, key, aboutFound, func() *looking {
			return &looking{matcher: newMatcher(q), found: map[int]*slots{}}
		})
		if err != nil {
			return nil, 0, err
		}
		numbers, total := found.page(q)
		return numbers, total, nil
	}
	most := q.Page * q.Limit
	if most > deepest {
		return nil, 0, fault.Parameter("page", strconv.FormatInt(q.Page, 10),
			"In an organisation of this size, a list sorted by name ends after "+strconv.Itoa(deepest)+" patients; narrow it with search, or sort by created_at.")
	}
	key += "\x00" + string(q.Order) + strconv.FormatInt(most, 10)
	found, err := stream(ctx, cs, org, names, key, 2*(most+chunkSize)*aboutRanked, func() *ranking {
		return &ranking{matcher: newMatcher(q), down: q.Order == ByNameDown, most: int(most)}
	})
	if err != nil {
		return nil, 0, err
	}
	numbers, total := found.page(q)
	return numbers, total, nil
}
