package store_test

import (
	"testing"

	"anodyne/internal/store"
	"anodyne/internal/store/storetest"
)

// tamperings are what somebody with access to the database, but without the
// audit key, can do to the log of "Ours", which has 12 sealed entries.
var tamperings = map[string][]string{
	"edited, seal deleted": {`UPDATE journal SET audit = 'x' WHERE org_no = 1 AND pos = 5`, `DELETE FROM journal_seal`},
}

func TestTampering(t *testing.T) {
	for name, do := range tamperings {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, open func() *store.Store) {
				s := open()
				sealed(t, s)
				for _, sql := range do {
					store.Exec(t, s, sql)
				}
				must[[]store.SealedHead](t)(s.System().Seal(t.Context()))
				if problems, err := s.System().VerifySeals(t.Context(), nil, nil); err != nil || len(problems) == 0 {
					t.Errorf("found %q, %v", problems, err)
				}
			})
		})
	}
}
