package cohort

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
)

// matches is what a query means, said without an index.
func matches(q Query, p *pain.Patient) bool {
	list, err := p.Identifiers.List()
	if err != nil {
		panic(err)
	}
	if q.Born != (pain.Date{}) && q.Born != p.DateOfBirth {
		return false
	}
	if q.Identifier != (pain.Identifier{}) && !slices.ContainsFunc(list, func(one pain.Identifier) bool {
		return one.Value == q.Identifier.Value && (q.Identifier.System == "" || one.System == q.Identifier.System)
	}) {
		return false
	}
	term := strings.TrimSpace(pain.Fold(q.Term))
	return containsWords(pain.Fold(p.Name), term) || slices.ContainsFunc(list, func(one pain.Identifier) bool {
		value := pain.Fold(one.Value)
		return value == term || utf8.RuneCountInString(term) >= 3 && strings.HasPrefix(value, term)
	})
}

// naive lists the numbers of all patients that match, in order. Patients are
// numbered from 1.
func naive(q Query, people []pain.Patient) (numbers []int64) {
	for i := range people {
		if matches(q, &people[i]) {
			numbers = append(numbers, int64(i)+1)
		}
	}
	if q.Order.byName() {
		slices.SortStableFunc(numbers, func(a, b int64) int {
			return cmp.Compare(pain.Fold(people[a-1].Name), pain.Fold(people[b-1].Name))
		})
	}
	if q.Order == LatestFirst || q.Order == ByNameDown {
		slices.Reverse(numbers)
	}
	return numbers
}

// crowd invents patients with few different names, numbers and birthdays.
type crowd struct{ *rand.Rand }

func (c crowd) of(list ...string) string { return list[c.IntN(len(list))] }

func (c crowd) name() string {
	return c.of("Joanne", "JOANNE", "José", "An\u200bna", "李", "Ada") + " " + c.of("Fletcher", "Anders-Son", "O’Brien", "Ada", "fletch\u00ader")
}

func (c crowd) born() pain.Date { return pain.Date{Year: 1980, Month: time.May, Day: 1 + c.IntN(5)} }

func (c crowd) query() Query {
	q := Query{Order: Order(c.of(Orders()...)), Page: 1 + c.Int64N(3), Limit: 1 + c.Int64N(7)}
	if c.IntN(3) > 0 {
		q.Term = c.of("fletcher joanne", "Joanne  Fletcher", "jo fl", "son", "a", "an ad", "mrn-1", "MRN", "mr", "m", "7", "L-7 1", "\u200b", "é", "ada ada", "rn-1", "nobody", "mrn-10 x", "jo\u200dse")
	}
	if c.IntN(3) == 0 {
		q.Born = c.born()
	}
	if c.IntN(4) == 0 {
		q.Identifier = pain.Identifier{System: c.of("", "mrn", "lab"), Value: c.of("MRN-1", "MRN-12", "7", "L-7 1")}
	}
	return q
}

// A list has what is found by looking at every patient, in every order, on
// every page, with any conditions, in memory and beyond it.
func TestListIsWhatANaiveListFinds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		random := crowd{rand.New(rand.NewPCG(3, 1))}
		h := newHospital(t, open(), "general", New(plenty, nil))
		streamed := hospital{h.Org, h.no, New(0, nil)}
		var people []pain.Patient
		taken := map[pain.Identifier]bool{}
		for round := range 150 {
			p := storetest.Patient(random.name())
			p.DateOfBirth = random.born()
			var list []pain.Identifier
			for range random.IntN(3) {
				one := pain.Identifier{System: random.of("mrn", "lab", "x"), Value: random.of("MRN-1", "MRN-12", fmt.Sprint("mrn-", round), "7", "m", "L-7 1", fmt.Sprint("L-7 1", round))}
				if !taken[one] {
					list, taken[one] = append(list, one), true
				}
			}
			p.Identifiers = pain.NewIdentifiers(list...)
			if i := random.IntN(len(people) + 1); round%3 == 2 && i < len(people) {
				// The old identifiers stay taken, so that none changes hands.
				p.ID, p.CreatedAt = people[i].ID, people[i].CreatedAt
				h.change(t, p.ID, func(old *pain.Patient) {
					old.Name, old.DateOfBirth, old.Identifiers = p.Name, p.DateOfBirth, p.Identifiers
				})
				people[i] = p
			} else {
				if _, err := h.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
					t.Fatal(err)
				}
				people = append(people, p)
			}
			q := random.query()
			want := naive(q, people)
			from := min((q.Page-1)*q.Limit, int64(len(want)))
			page := want[from:min(from+q.Limit, int64(len(want)))]
			for _, h := range []hospital{h, streamed} {
				got, total, err := h.cohorts.List(t.Context(), h.Org, q)
				if !slices.Equal(got, page) || total != int64(len(want)) || err != nil {
					t.Fatalf("%+v: %v of %d, %v; want %v of %d", q, got, total, err, page, len(want))
				}
			}
		}
	})
}

// Pages by name across many chunks, full ones and changed ones, are the pages
// of one sorted list.
func TestPagesByNameAcrossChunks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	people := make([]patient, 3*chunkSize+100)
	for i := range people {
		people[i] = patient{int64(i) + 1, key{1, uint64(i) + 1}, fmt.Sprintf("%c%d", 'a'+random.IntN(3), random.IntN(900)), born(1 + i%7)}
		if i%5 == 0 {
			people[i].entry += string(rune(mark)) + "number"
		}
		if i%97 == 3 {
			people[i] = patient{no: int64(i) + 1} // there is no such patient
		}
	}
	r := newRoster(people)
	for no := int64(1); no < int64(len(people)); no += 311 {
		p := &people[no-1]
		p.key, p.entry = key{1, uint64(no)}, "b500"
		r, _ = r.with([]patient{*p})
	}
	for _, q := range []Query{{}, {Term: "b"}, {Term: "a1"}, {Term: "number"}, {Born: pain.Date{Day: 3}}, {Term: "c7", Born: pain.Date{Day: 2}}, {Term: "nobody"}} {
		m := newMatcher(q)
		var want []int64
		for _, p := range people {
			var found slots
			if m.find(rosterOf([]patient{p})[0], &found); found.has(0) {
				want = append(want, p.no)
			}
		}
		name := func(no int64) string { name, _, _ := strings.Cut(people[no-1].entry, string(rune(mark))); return name }
		slices.SortStableFunc(want, func(a, b int64) int { return cmp.Compare(name(a), name(b)) })
		for _, q.Order = range []Order{ByName, ByNameDown} {
			if q.Order == ByNameDown {
				slices.Reverse(want)
			}
			for _, q.Limit = range []int64{1, 50, 100} {
				for _, q.Page = range []int64{1, 2, 3, int64(len(want))/q.Limit/2 + 1, int64(len(want)) / q.Limit, int64(len(want))/q.Limit + 1, 1 << 31} {
					q.Page = max(1, q.Page)
					from := min((q.Page-1)*q.Limit, int64(len(want)))
					page := want[from:min(from+q.Limit, int64(len(want)))]
					if got, total := r.list(q); !slices.Equal(got, page) || total != int64(len(want)) {
						t.Fatalf("%+v: %v of %d, want %v of %d", q, got, total, page, len(want))
					}
				}
			}
		}
	}
}

// Beyond the memory, what is kept for a page by name is bounded.
func TestPagesByNameBeyondTheMemoryEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		h := newHospital(t, open(), "general", New(0, nil))
		storetest.AddPatient(t, h.Org, "A")
		q := Query{Order: ByName, Page: deepest / 100, Limit: 100}
		if numbers, total, err := h.cohorts.List(t.Context(), h.Org, q); len(numbers) != 0 || total != 1 || err != nil {
			t.Errorf("the last page: %v of %d, %v", numbers, total, err)
		}
		q.Page++
		if _, _, err := h.cohorts.List(t.Context(), h.Org, q); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("beyond it: %v", err)
		}
		q.Order = LatestFirst
		if _, total, err := h.cohorts.List(t.Context(), h.Org, q); total != 1 || err != nil {
			t.Errorf("by creation: %d, %v", total, err)
		}
	})
}

// BenchmarkList lists a million patients, each with a number, in all orders
// and by words. It also reports the 99th percentile.
func BenchmarkList(b *testing.B) {
	people := newPeople(1_000_000)
	var list []patient
	for _, p := range unpack(people.roster) {
		p.entry += fmt.Sprintf("%cmrn-%07d", mark, p.no*7919%10_000_000)
		list = append(list, p)
	}
	numbered := newRoster(list)
	middle := int64(500_000 / 50)
	for _, bench := range []struct {
		name string
		of   roster
		q    Query
	}{
		{"words in another order", people.roster, Query{Term: "marie catherine", Page: 3}},
		{"words in another order, numbers", numbered, Query{Term: "marie catherine", Page: 3}},
		{"words of a rare name", numbered, Query{Term: "bergamann olga", Page: 1}},
		{"three words, none", numbered, Query{Term: "xyzzy anna marie", Page: 1}},
		{"whole number", numbered, Query{Term: "MRN-0007919", Page: 1}},
		{"start of a number", numbered, Query{Term: "mrn-00079", Page: 1}},
		{"start of all numbers", numbered, Query{Term: "mrn", Page: 3}},
		{"date of birth", numbered, Query{Born: pain.Date{Day: 17}, Page: 1}},
		{"word and date of birth", numbered, Query{Term: "anna", Born: pain.Date{Day: 17}, Page: 1}},
		{"by name", people.roster, Query{Order: ByName, Page: 1}},
		{"by name, in the middle", people.roster, Query{Order: ByName, Page: middle}},
		{"by name, in the middle, numbers", numbered, Query{Order: ByName, Page: middle}},
		{"by name down, in the middle", people.roster, Query{Order: ByNameDown, Page: middle}},
		{"word by name", people.roster, Query{Term: "anna", Order: ByName, Page: 200}},
		{"word, latest first", people.roster, Query{Term: "anna", Order: LatestFirst, Page: 200}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bench.q.Limit = 50
			bench.of.list(bench.q) // sorts the chunks if it needs them sorted
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				_, total := bench.of.list(bench.q)
				times = append(times, time.Since(start))
				b.ReportMetric(float64(total), "matches")
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(sizeOf(bench.of))/1e6, "B/patient")
		})
	}
}
