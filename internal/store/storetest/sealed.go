package storetest

import (
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
)

// SealedOrg creates an organisation with a sealed journal of 12 entries.
func SealedOrg(t *testing.T, s *store.Store) (store.Org, journal.SealedHead) {
	t.Helper()
	who := Client(t, s, "Ours")
	o := s.For(&who)
	for i := range 10 {
		AddPatient(t, o, PatientName(i))
	}
	Settle(t, s)
	moved := Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
	if len(moved) != 1 || moved[0].Pos != 12 || moved[0].Name != "Ours" {
		t.Fatalf("sealed %+v, want Ours up to 12", moved)
	}
	return o, moved[0]
}
