package e2e

import (
	"testing"

	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultKill repeatedly kills the service under a mixed load, and verifies
// after each restart that every guarantee held; the ledger knows what to
// expect. docs/faults.md lists it.
func TestFaultKill(t *testing.T) {
	needsLoad(t)
	t.Parallel() // at its end it waits for the claims of the killed to end, as other tests do
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			newTrial(t, engine, faulttest.Rounds(t, 3), false).run()
		})
	}
}
