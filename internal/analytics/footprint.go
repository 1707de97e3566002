package analytics

import "unsafe"

// Bytes returns the memory of a closed tally, apart from what it shares with
// others: the parameters, and the figures once they are printed.
func (t *OutcomesTally) Bytes() int64 {
	c := &t.calendar
	bytes := int64(unsafe.Sizeof(*t)) + bytesOf(c.buckets) + bytesOf(c.of) + bytesOf(c.ends) +
		bytesOf(t.course.buckets) + bytesOf(t.course.events) + bytesOf(t.course.censored)
	for _, mix := range []*mixTally{t.mix, t.others} {
		if mix != nil {
			bytes += int64(unsafe.Sizeof(*mix)) + bytesOf(mix.cells)
		}
	}
	return bytes
}

// Bytes is like that of outcomes. A merged tally shares the doses with those
// that it was merged from; all of them count the doses.
func (t *PopulationTally) Bytes() int64 {
	bytes := int64(unsafe.Sizeof(*t))
	for _, d := range t.opioid.doses() {
		bytes += bytesOf(d.runs)
		for _, run := range d.runs {
			bytes += bytesOf(run)
		}
	}
	return bytes
}

func bytesOf[T any](list []T) int64 {
	var item T
	return int64(cap(list)) * int64(unsafe.Sizeof(item))
}
