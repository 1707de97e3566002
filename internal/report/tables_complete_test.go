package report

import (
	"testing"

	"anodyne.example/anodyne/internal/store"
)

// A type of report that is added has a title and parameters too.
func TestEveryTypeHasATitleAndParameters(t *testing.T) {
	t.Parallel()
	for _, kind := range store.ReportTypes {
		if titles[kind] == "" || takes[kind] == 0 {
			t.Errorf("%s: title %q, parameters %v", kind, titles[kind], takes[kind])
		}
	}
	if len(titles) != len(store.ReportTypes) || len(takes) != len(store.ReportTypes) {
		t.Errorf("%d titles and %d lists of parameters for %d types", len(titles), len(takes), len(store.ReportTypes))
	}
}
