package importer

import "testing"

// HoldLines lets fewer lines wait for others of the same patient.
func HoldLines(t *testing.T, n int) {
	before := heldLines
	heldLines = n
	t.Cleanup(func() { heldLines = before })
}

// CountLines lets fewer lines be counted before an import looks ahead.
func CountLines(t *testing.T, n int) {
	before := countedLines
	countedLines = n
	t.Cleanup(func() { countedLines = before })
}
