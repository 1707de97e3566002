package analytics

import (
	"slices"
	"sort"
)

// doses are numbers of patients, in runs that are in order: the tallies put
// theirs in order while they count, each on its own processor. Merged they are
// only looked up in, not put into one order.
type doses struct {
	sum
	own  []float64 // not in order yet
	runs [][]float64
}

// firstDoses is how many there is room for at first.
const firstDoses = 512

func (d *doses) add(f float64) {
	d.sum.add(f)
	if d.own == nil {
		d.own = make([]float64, 0, firstDoses)
	}
	d.own = append(d.own, f)
}

// close puts what was added in order.
func (d *doses) close() {
	if len(d.own) > 0 {
		slices.Sort(d.own)
		d.runs = append(d.runs, d.own)
		d.own = nil
	}
}

// merge adds what others counted, who are closed.
func (d *doses) merge(o *doses) {
	d.sum.merge(&o.sum)
	d.runs = append(d.runs, o.runs...)
}

// with is the doses of both, which are closed.
func (d *doses) with(o *doses) *doses {
	both := &doses{}
	both.merge(d)
	both.merge(o)
	return both
}

// nth is the one that would be at a place if all were in order. Each round looks
// at the middle of the longest run that is left, and leaves out what lies on the
// wrong side of it in all runs.
func (d *doses) nth(place int) float64 {
	left := slices.Clone(d.runs)
	below, upTo := make([]int, len(left)), make([]int, len(left))
	for {
		longest := slices.MaxFunc(left, func(a, b []float64) int { return len(a) - len(b) })
		middle := longest[len(longest)/2]
		less, notMore := 0, 0
		for i, run := range left {
			below[i] = sort.SearchFloat64s(run, middle)
			upTo[i] = below[i] + sort.Search(len(run)-below[i], func(k int) bool { return run[below[i]+k] > middle })
			less += below[i]
			notMore += upTo[i]
		}
		switch {
		case place < less:
			for i := range left {
				left[i] = left[i][:below[i]]
			}
		case place < notMore:
			return middle
		default:
			place -= notMore
			for i := range left {
				left[i] = left[i][upTo[i]:]
			}
		}
	}
}

// quantile is that of type 7. There is at least one dose.
func (d *doses) quantile(p float64) float64 {
	at := p * float64(d.n-1)
	low := d.nth(int(at))
	if int(at)+1 >= d.n {
		return low
	}
	return low + (at-float64(int(at)))*(d.nth(int(at)+1)-low)
}

// bands counts the doses in each of some bands, which they are in by their order.
func (d *doses) bands(count int, of func(float64) int) []int {
	counts := make([]int, count)
	for _, run := range d.runs {
		for len(run) > 0 { // a band at a time
			band := of(run[0])
			size := sort.Search(len(run), func(i int) bool { return of(run[i]) > band })
			counts[band] += size
			run = run[size:]
		}
	}
	return counts
}
