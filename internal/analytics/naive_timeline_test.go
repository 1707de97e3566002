package analytics

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// naiveCourse is a prescription with the days on which it counts, and those on
// which it would if no supply were carried.
type naiveCourse struct {
	series.Medication
	days, overlapped map[drug.Day]bool
	gone             bool // it counts on no day
	beside           bool // another of its day has another dose
}

func (c *naiveCourse) ended() bool {
	return slices.Contains([]string{"stopped", "completed", "on-hold"}, c.Status.String())
}

func (c *naiveCourse) same(o *naiveCourse) bool {
	return c.Class == o.Class && c.Drug == o.Drug && c.Drug != 0
}

func (c *naiveCourse) maybeSameStrength(o *naiveCourse) bool {
	if c.Product != 0 && o.Product != 0 {
		return c.Product == o.Product
	}
	return c.maybeSameRelease(o)
}

func (c *naiveCourse) maybeSameRelease(o *naiveCourse) bool {
	return c.Release == 0 || o.Release == 0 || c.Release == o.Release
}

// notice reports whether it only says that the medicine was stopped.
func (c *naiveCourse) notice() bool {
	return c.ended() && !c.Supplied && (c.Open && c.Last == c.First || c.HasEnd && c.End == c.First)
}

// naiveTimeline lays medicines out a day at a time: on each day everything is
// asked anew. They are in the order of a series.
func naiveTimeline(list []series.Medication) []naiveCourse {
	all := make([]naiveCourse, len(list))
	for i, m := range list {
		all[i] = naiveCourse{m, map[drug.Day]bool{}, map[drug.Day]bool{}, false, false}
	}
	for i := range all { // those that were recorded again as ended
		if all[i].notice() && slices.ContainsFunc(all, func(c naiveCourse) bool {
			return c.First < all[i].First && !c.ended() && !c.gone && c.same(&all[i]) && c.maybeSameStrength(&all[i]) &&
				(c.Open && c.First+90 >= all[i].First || !c.Open && c.Last+1 >= all[i].First)
		}) {
			continue // that was what was stopped
		}
		for k := range all {
			old, again := &all[k], &all[i]
			if i == k || !again.ended() || old.ended() || old.gone || old.First != again.First || !old.same(again) || !old.maybeSameStrength(again) || again.Supplied && !old.Open {
				continue
			}
			if again.Reason.String() == "missing_dose_or_supply" || again.MME == old.MME && again.Reason == old.Reason {
				again.MME, again.Reason, old.gone = old.MME, old.Reason, true
				if !old.Open {
					for d := old.Last + 1; d < old.Last+500; d++ {
						again.days[d] = false // not beyond the first
					}
				}
				break
			}
		}
	}
	for i := range all {
		for k := range all {
			if all[i].notice() && all[i].same(&all[k]) && all[i].maybeSameStrength(&all[k]) && !all[k].ended() && all[k].First < all[i].First {
				all[i].gone = true
			}
		}
	}
	for i := range all {
		for k := range all {
			a, b := &all[i], &all[k]
			if a.same(b) && a.First == b.First && a.Product == b.Product && a.Supplied && b.Supplied && a.Reason == 0 && b.Reason == 0 && a.MME != b.MME && !a.gone && !b.gone {
				a.beside = true
			}
		}
	}
	queues := map[uint32][]*naiveSupply{}
	first, last := drug.Day(1<<29), drug.Day(0)
	for _, m := range list {
		first, last = min(first, m.First), max(last, m.Last+120, m.First+120)
	}
	for day := first; day <= last+120; day++ {
		for i := range all {
			naiveDay(all, i, day)
		}
		naiveSupplies(all, queues, day)
	}
	return all
}

// naiveDay marks a day of a prescription, but for refills.
func naiveDay(all []naiveCourse, i int, day drug.Day) {
	c := &all[i]
	if day < c.First || day > c.First+90 && day > c.Last {
		return
	}
	if _, not := c.days[day]; not || c.gone || naiveStopped(all, c, day) {
		return
	}
	switch {
	case c.Open:
		if c.ended() && day > c.First && day >= c.Last || day >= c.First+90 {
			return
		}
		for k := range all {
			if all[k].same(c) && !all[k].gone && all[k].First > c.First && all[k].First <= day && (all[k].maybeSameRelease(c) || c.Product != 0 && all[k].Product == c.Product) {
				return
			}
		}
	case day > c.Last:
		return
	}
	c.overlapped[day] = true
	if c.Open || !c.Supplied || c.Product == 0 || c.Drug == 0 || c.beside {
		c.days[day] = true
	}
}

// naiveStopped reports whether a later record says that it was stopped before a
// day.
func naiveStopped(all []naiveCourse, c *naiveCourse, day drug.Day) bool {
	for k := range all {
		by := &all[k]
		if !by.ended() || !by.same(c) || !by.maybeSameStrength(c) || by.First <= c.First || by.Status.String() == "completed" && !by.notice() {
			continue
		}
		if by.Open && day >= by.Last || by.HasEnd && day > by.End {
			return true
		}
	}
	return false
}

// naiveSupply is what is left of a supply.
type naiveSupply struct {
	course *naiveCourse
	left   int
	end    drug.Day
}

// naiveSupplies takes a day's worth of the oldest supply of each product.
func naiveSupplies(all []naiveCourse, queues map[uint32][]*naiveSupply, day drug.Day) {
	for i := range all {
		c := &all[i]
		if c.First != day || c.Open || !c.Supplied || c.Product == 0 || c.Drug == 0 || c.gone || c.beside {
			continue
		}
		key := c.Product*31 + uint32(c.Class) + c.Drug*1000
		for _, old := range queues[key] {
			old.end = min(old.end, day+29)
		}
		s := &naiveSupply{c, c.Days(), 1 << 29}
		if c.HasEnd {
			if s.end = c.End; c.Last == c.End {
				s.left = 1 << 29 // the supply was cut, and lasts for longer
			}
		}
		queues[key] = append(queues[key], s)
	}
	for key, queue := range queues {
		for len(queue) > 0 {
			s := queue[0]
			_, not := s.course.days[day]
			if s.left == 0 || s.end < day || not || naiveStopped(all, s.course, day) {
				queue = queue[1:]
				continue
			}
			s.left--
			s.course.days[day] = true
			break
		}
		queues[key] = queue
	}
}

// laidOut caches timelines by series.
var laidOut sync.Map

// courses are the medicines of a patient, laid out once.
func courses(p *Patient) []naiveCourse {
	if known, ok := laidOut.Load(p.Series); ok {
		return known.([]naiveCourse)
	}
	all := naiveTimeline(p.Series.Medications)
	laidOut.Store(p.Series, all)
	return all
}

// anyOn reports whether a medicine of some classes is taken on a day.
func anyOn(p *Patient, d drug.Day, classes ...series.Class) bool {
	return slices.ContainsFunc(courses(p), func(c naiveCourse) bool { return slices.Contains(classes, c.Class) && c.days[d] })
}

// TestDaysAreThoseOfTheSlowWay lays out prescriptions of one or two medicines
// that lie close together, and compares every day.
func TestDaysAreThoseOfTheSlowWay(t *testing.T) {
	met := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		d := roll(rt)
		for range 20 {
			var s series.Series
			for range 1 + d.IntN(7) {
				m := d.medication()
				m.Class, m.Drug, m.MME, m.Reason = opioid, oneOf[uint32](d, 1, 1, 1, 2), oneOf(d, 30.0, 60.0), 0
				if d.IntN(4) == 0 {
					m.MME, m.Reason = 0, 8
				}
				m.Release = oneOf(d, drug.AnyRelease, drug.AnyRelease, drug.Immediate, drug.Extended)
				first := lastDay + drug.Day(oneOf(d, 0, 0, 5, 10, 30, d.IntN(100)))
				m.Last, m.End, m.First = m.Last+first-m.First, m.End+first-m.First, first
				s.Medications = append(s.Medications, m)
			}
			s.Sort()
			laid := slices.Clone(s.Medications)
			var planner timeline.Planner
			planner.Lay(laid)
			want := naiveTimeline(s.Medications)
			for i, m := range laid {
				for day := lastDay - 10; day < lastDay+500; day++ {
					on, overlapped := m.First <= day && day <= m.Last, planner.Overlapped[i].First <= day && day <= planner.Overlapped[i].Last
					if on != want[i].days[day] || overlapped != want[i].overlapped[day] || m.MME != want[i].MME || m.Reason != want[i].Reason {
						rt.Fatalf("%d of %+v\non day %d: %v and %v, want %v and %v; %v MME, want %v", i, s.Medications, day, on, overlapped, want[i].days[day], want[i].overlapped[day], m.MME, want[i].MME)
					}
				}
				switch was := &s.Medications[i]; {
				case m.Last < m.First && m.Ended():
					met["notice"]++
				case m.Last < m.First:
					met["dropped"]++
				case m.First != was.First:
					met["shifted"]++
				case m.Last < was.Last:
					met["cut"]++
				case m.Open && m.Days() == timeline.AssumedDays:
					met["assumed"]++
				case m.Open:
					met["replaced"]++
				}
			}
		}
	})
	least := 100
	if testing.Short() {
		least = 10 // of a fifth as many histories
	}
	for _, what := range []string{"notice", "dropped", "shifted", "cut", "assumed", "replaced"} {
		if met[what] < least {
			t.Errorf("%s: %d are too few", what, met[what])
		}
	}
}
