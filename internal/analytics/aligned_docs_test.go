package analytics

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// measureRow is a measure's row on the page of definitions.
func measureRow(m *AlignedMeasure) string {
	better := "lower"
	if m.Direction == HigherIsBetter {
		better = "higher"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |", m.ID, m.Name, m.Numerator, m.Denominator, better)
}

// The page has each measure and each exclusion in the words of the answer.
func TestThePageHasTheMeasures(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range AlignedMeasures() {
		if row := measureRow(&m); !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/analytics.md lacks\n%s", row)
		}
	}
	for _, name := range exclusionNames {
		if row := fmt.Sprintf("| `%s` | %s |", name, ExclusionWords[name]); !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/analytics.md lacks\n%s", row)
		}
	}
}
