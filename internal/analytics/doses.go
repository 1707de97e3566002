package analytics

import "slices"

// doses are numbers of patients, in runs: those that were counted here, and
// those of each tally that was merged. Where they were put in order before,
// merging them takes a fraction of the time of sorting all.
type doses struct {
	own    []float64
	merged [][]float64
}

func (d *doses) add(f float64) { d.own = append(d.own, f) }

func (d *doses) merge(o *doses) { d.merged = append(d.merged, o.runs()...) }

func (d *doses) runs() [][]float64 {
	if len(d.own) == 0 {
		return d.merged
	}
	return append(d.merged[:len(d.merged):len(d.merged)], d.own)
}

func (d *doses) count() (n int) {
	for _, run := range d.runs() {
		n += len(run)
	}
	return n
}

// sorted gives all of them in order; what is here stays as it is.
func (d *doses) sorted() []float64 {
	from, to := make([]float64, 0, d.count()), make([]float64, d.count())
	var ends []int
	for _, run := range d.runs() {
		begin := len(from)
		from = append(from, run...)
		if !slices.IsSorted(run) {
			slices.Sort(from[begin:])
		}
		ends = append(ends, len(from))
	}
	for len(ends) > 1 { // two and two
		begin, kept := 0, ends[:0]
		for i := 0; i < len(ends); i += 2 {
			middle, end := ends[i], ends[min(i+1, len(ends)-1)]
			mergeSorted(to[begin:end], from[begin:middle], from[middle:end])
			kept = append(kept, end)
			begin = end
		}
		from, to, ends = to, from, kept
	}
	return from
}

// mergeSorted fills to with all of two runs in order.
func mergeSorted(to, a, b []float64) {
	for i := range to {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
}
