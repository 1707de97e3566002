package report

import (
	"testing"

	"anodyne.example/anodyne/internal/reporttype"
)

// Every type of report that is declared can be made, and no other.
func TestEveryTypeIsMade(t *testing.T) {
	t.Parallel()
	for _, kind := range reporttype.Types() {
		if makers[kind] == nil {
			t.Errorf("nothing makes a report of type %s", kind)
		}
	}
	if len(makers) != len(reporttype.Types()) {
		t.Errorf("%d types are made, and %d declared", len(makers), len(reporttype.Types()))
	}
}
