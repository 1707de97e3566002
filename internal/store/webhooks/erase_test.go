package webhooks_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// An attempt in progress does not bring forgotten answers back. It is repeated.
func TestForgetAnswersDuringAnAttempt(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		first := h.events(1)
		h.result(&first[0], webhooks.Pending)
		h.now.Pass(2 * time.Hour)
		h.claim = claimOne(t, h.s, 1)
		sent := h.due()
		if len(sent) != 1 || len(sent[0].Attempts) != 1 || sent[0].Attempts[0].Error == "" {
			t.Fatalf("%+v", sent)
		}
		if err := h.s.Database().Write(t.Context(), func(tx engine.Tx) error {
			return h.o.ForgetAnswers(tx, map[string]bool{string(first[0].Event.ID.Bytes()): true})
		}); err != nil {
			t.Fatal(err)
		}
		late := &webhooks.Progress{Claim: h.claim, Pos: h.claim.Pos, Results: []webhooks.Result{{Task: &sent[0], Attempt: ok(h.now.Now()), Status: webhooks.Delivered}}}
		if write(t, h.s, late); !late.Lost {
			t.Error("the attempt was recorded")
		}
		if n := storetest.Number(t, h.s, `SELECT count(*) FROM webhook_cursor WHERE failure <> ''`); n != 0 {
			t.Error("the last failure is still there")
		}
		h.claim = claimOne(t, h.s, 2)
		if again := h.due(); len(again) != 1 || len(again[0].Attempts) != 1 || again[0].Attempts[0].Error != "" {
			t.Errorf("%+v", again)
		}
	})
}
