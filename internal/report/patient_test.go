package report

import "testing"

func TestPatientSummary(t *testing.T) {
	written(t, "usual", usual(t, "Eleni Παπαδοπούλου-Nowak"))
}
