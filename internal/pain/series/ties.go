package series

import "slices"

// Ties returns the times at which both series have different entries of a list
// in which the order of equal times matters.
func (s *Series) Ties(other *Series) map[int64]bool {
	times := map[int64]bool{}
	ties(s.Scores, other.Scores, func(e *Score) int64 { return e.At }, times)
	ties(s.Assessments, other.Assessments, func(e *Assessment) int64 { return e.At }, times)
	ties(s.Procedures, other.Procedures, func(e *Procedure) int64 { return e.At }, times)
	ties(s.Impacts, other.Impacts, func(e *Impact) int64 { return e.At }, times)
	return times
}

func ties[T comparable](these, those []T, at func(*T) int64, times map[int64]bool) {
	if len(these) == 0 || len(those) == 0 {
		return
	}
	there := make(map[int64][]*T, len(those))
	for i := range those {
		there[at(&those[i])] = append(there[at(&those[i])], &those[i])
	}
	for i := range these {
		for _, other := range there[at(&these[i])] {
			if *other != these[i] {
				times[at(&these[i])] = true
			}
		}
	}
}

// Without removes the entries at these times from lists in which the order of
// equal times matters.
func (s *Series) Without(times map[int64]bool) {
	s.Scores = slices.DeleteFunc(s.Scores, func(e Score) bool { return times[e.At] })
	s.Assessments = slices.DeleteFunc(s.Assessments, func(e Assessment) bool { return times[e.At] })
	s.Procedures = slices.DeleteFunc(s.Procedures, func(e Procedure) bool { return times[e.At] })
	s.Impacts = slices.DeleteFunc(s.Impacts, func(e Impact) bool { return times[e.At] })
}
