package importer

import "testing"

// HoldLines lets fewer lines wait for others of the same patient.
func HoldLines(t *testing.T, n int) {
	before := heldLines
	heldLines = n
	t.Cleanup(func() { heldLines = before })
}
