package storetest

import (
	"testing"

	"anodyne.example/anodyne/internal/store"
)

// Clean fails the test unless every check of the database finds nothing.
func Clean(tb testing.TB, s *store.Store) {
	tb.Helper()
	system := s.System()
	tables, err := system.CheckTables(tb.Context())
	series, _, err2 := system.CheckSeries(tb.Context(), false, NoProgress)
	counts, _, err3 := system.CheckCounts(tb.Context(), false, NoProgress)
	derived, _, err4 := system.CheckDerived(tb.Context(), false, NoProgress)
	for _, err := range []error{err, err2, err3, err4} {
		if err != nil {
			tb.Error(err)
		}
	}
	for _, problems := range [][]string{tables, series, counts, derived} {
		for _, problem := range problems {
			tb.Error(problem)
		}
	}
}
