package engine_test

import (
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestOrgID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "St. Anne")
		if got, err := s.Database().OrgID(t.Context(), who.Org); err != nil || got != who.OrgID {
			t.Errorf("%v, %v, want %v", got, err, who.OrgID)
		}
		if got, err := s.Database().OrgID(t.Context(), who.Org+1); !fault.Is(err, fault.NotFound) {
			t.Errorf("of an unknown one: %v, %v", got, err)
		}
	})
}
