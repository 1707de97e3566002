package series

import "slices"

// Ties returns the times, in order, at which both series have different entries
// of a list in which the order of equal times matters. Both must be in order.
func (s *Series) Ties(other *Series) (times []int64) {
	times = ties(s.Scores, other.Scores, func(e *Score) int64 { return e.At }, times)
	times = ties(s.Assessments, other.Assessments, func(e *Assessment) int64 { return e.At }, times)
	times = ties(s.Procedures, other.Procedures, func(e *Procedure) int64 { return e.At }, times)
	times = ties(s.Impacts, other.Impacts, func(e *Impact) int64 { return e.At }, times)
	slices.Sort(times)
	return slices.Compact(times)
}

// ties appends the times at which not all entries of both lists are the same.
func ties[T comparable](these, those []T, at func(*T) int64, times []int64) []int64 {
	for i, j := 0, 0; i < len(these) && j < len(those); {
		switch time, other := at(&these[i]), at(&those[j]); {
		case time < other:
			i++
		case time > other:
			j++
		default:
			first, differ := these[i], false
			for ; i < len(these) && at(&these[i]) == time; i++ {
				differ = differ || these[i] != first
			}
			for ; j < len(those) && at(&those[j]) == time; j++ {
				differ = differ || those[j] != first
			}
			if differ {
				times = append(times, time)
			}
		}
	}
	return times
}

// Without removes the entries at these times, which are in order, from lists in
// which the order of equal times matters.
func (s *Series) Without(times []int64) {
	among := func(at int64) bool {
		_, found := slices.BinarySearch(times, at)
		return found
	}
	s.Scores = slices.DeleteFunc(s.Scores, func(e Score) bool { return among(e.At) })
	s.Assessments = slices.DeleteFunc(s.Assessments, func(e Assessment) bool { return among(e.At) })
	s.Procedures = slices.DeleteFunc(s.Procedures, func(e Procedure) bool { return among(e.At) })
	s.Impacts = slices.DeleteFunc(s.Impacts, func(e Impact) bool { return among(e.At) })
}
