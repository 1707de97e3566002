package idempotency_test

import (
	"errors"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
)

// An outcome that contains a secret is stored sealed, and any node replays it
// unchanged.
func TestSealedOutcome(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		const shown = `{"secret":"whsec_dGhlIHNlY3JldA=="}`
		post := func(s *store.Store, key, body string) (idempotency.Outcome, error) {
			p := storetest.Patient("A")
			return s.For(&who).CreatePatient(t.Context(), &p, storetest.Created(p),
				&idempotency.Once{Key: []byte(key), Body: []byte(body), Sealed: true}, idempotency.Outcome{Status: 201, Location: "/l", Body: []byte(shown)})
		}
		for i, s := range []*store.Store{all[0], all[0], all[1]} {
			out, err := post(s, "k", "one")
			if err != nil || string(out.Body) != shown || out.Location != "/l" || out.Replayed != (i > 0) {
				t.Fatalf("request %d: %+v %s, %v", i, out, out.Body, err)
			}
		}
		kept := storetest.Texts(t, all[0], 1, `SELECT body FROM idempotency`)
		if len(kept) != 1 || strings.Contains(kept[0], "whsec_") || len(kept[0]) <= len(shown) {
			t.Errorf("kept: %q", kept)
		}
		if _, err := post(all[0], "k", "two"); !fault.Is(err, fault.IdempotencyKeyReused) {
			t.Errorf("another body: %v", err)
		}
		// In another row it cannot be opened.
		storetest.Exec(t, all[0], `UPDATE idempotency SET key_hash = $1`, []byte("l"))
		if _, err := post(all[0], "l", "one"); !errors.Is(err, seal.ErrDamaged) {
			t.Errorf("another row's outcome: %v", err)
		}
	})
}
