package webhooks_test

import (
	"bytes"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

const someURL = "https://example.org/hook"

func TestWebhooksAreKeptAsTheyWere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		want := []webhooks.Webhook{
			storetest.AddWebhook(t, o, someURL, event.PatientCreated, event.SystemAlert),
			storetest.AddWebhook(t, all[1].For(&who), someURL+"?é=1"),
			storetest.AddWebhook(t, o, someURL+"/3"),
		}
		same := func(a, b webhooks.Webhook) bool {
			return a.ID == b.ID && a.URL == b.URL && len(a.Events) == len(b.Events) && a.Events[0] == b.Events[0] && a.Description == b.Description &&
				a.Enabled == b.Enabled && a.DisabledReason == b.DisabledReason && a.CreatedAt.Equal(b.CreatedAt) && a.Version == b.Version
		}
		for page := int64(1); page <= 4; page++ {
			hooks, total, err := o.WebhookPage(t.Context(), page, 1)
			if err != nil || total != 3 || (page == 4) != (len(hooks) == 0) || page < 4 && !same(hooks[0], want[page-1]) {
				t.Errorf("page %d: %+v of %d, %v", page, hooks, total, err)
			}
		}
		updated, err := o.UpdateWebhook(t.Context(), want[1].ID, func(w webhooks.Webhook) (webhooks.Webhook, *journal.Change, error) {
			w.URL, w.Events, w.Description, w.Version = someURL+"/new", []event.Type{event.ReportFailed}, "Ward 3", w.Version+1
			c := storetest.HookLine(audit.WebhookUpdate, w)
			return w, &c, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.Webhook(t.Context(), want[1].ID); err != nil || !same(got, updated) || got.Description != "Ward 3" {
			t.Errorf("after the update: %+v, %v", got, err)
		}
		if err := o.DeleteWebhook(t.Context(), want[0].ID, storetest.HookLine(audit.WebhookDelete, want[0])); err != nil {
			t.Fatal(err)
		}
		if err := o.DeleteWebhook(t.Context(), want[0].ID, storetest.HookLine(audit.WebhookDelete, want[0])); !fault.Is(err, fault.NotFound) {
			t.Errorf("a second deletion: %v", err)
		}
		if _, err := o.Webhook(t.Context(), want[0].ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("a deleted one: %v", err)
		}
		// A number is not reused while there may be deliveries under it.
		fresh := storetest.AddWebhook(t, o, someURL+"/4")
		if hooks, total, err := o.WebhookPage(t.Context(), 1, 100); err != nil || total != 3 || hooks[2].ID != fresh.ID {
			t.Errorf("after a deletion: %+v of %d, %v", hooks, total, err)
		}
	})
}

// N concurrent requests with one key create one endpoint, and no stored outcome
// reveals the secret.
func TestCreateWebhookOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		key := &idempotency.Once{Key: []byte("key"), Body: []byte("body"), Sealed: true}
		var fresh atomic.Int32
		storetest.Together(t, 6, func(i int) error {
			w := storetest.Webhook(someURL)
			out, err := all[i%2].For(&who).CreateWebhook(t.Context(), &w, storetest.WebhookSecret, storetest.HookLine(audit.WebhookCreate, w), key,
				idempotency.Outcome{Status: 201, Body: []byte(storetest.WebhookSecret)})
			if string(out.Body) != storetest.WebhookSecret {
				t.Errorf("the answer is %q", out.Body)
			}
			if !out.Replayed {
				fresh.Add(1)
			}
			return err
		})
		if _, total, err := all[0].For(&who).WebhookPage(t.Context(), 1, 100); total != 1 || fresh.Load() != 1 || err != nil {
			t.Errorf("%d endpoints, %d fresh answers, %v", total, fresh.Load(), err)
		}
	})
}

func TestWebhookLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		for range webhooks.MaxWebhooks - 3 {
			storetest.AddWebhook(t, all[0].For(&who), someURL)
		}
		var refused atomic.Int32
		storetest.Together(t, 8, func(i int) error {
			w := storetest.Webhook(someURL)
			_, err := all[i%2].For(&who).CreateWebhook(t.Context(), &w, storetest.WebhookSecret, storetest.HookLine(audit.WebhookCreate, w), nil, idempotency.Outcome{})
			if fault.Is(err, fault.Conflict) {
				refused.Add(1)
				return nil
			}
			return err
		})
		if _, total, err := all[0].For(&who).WebhookPage(t.Context(), 1, 1); total != webhooks.MaxWebhooks || refused.Load() != 5 || err != nil {
			t.Errorf("%d endpoints, %d refused, %v", total, refused.Load(), err)
		}
	})
}

// Secrets are sealed at rest, and after a rotation the old one signs for a day.
func TestWebhookSecrets(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "O")
		o := s.For(&who)
		w := storetest.AddWebhook(t, o, someURL)
		secrets := func() string {
			t.Helper()
			claim := claimOne(t, s, 1)
			work, held, err := s.System().WebhookWork(t.Context(), claim, 0, 1, 1)
			if err != nil || !held {
				t.Fatalf("held %v, %v", held, err)
			}
			return strings.Join(work.Secrets, " ")
		}
		rotate := func(secret string) {
			t.Helper()
			if _, err := o.RotateWebhookSecret(t.Context(), w.ID, secret, storetest.HookLine(audit.WebhookRotate, w), nil, now.Now(), func(rotated webhooks.Webhook) idempotency.Outcome {
				if rotated.OldSecretEnds.Sub(now.Now()) != webhooks.SecretOverlap {
					t.Errorf("the old secret ends at %v", rotated.OldSecretEnds)
				}
				return idempotency.Outcome{}
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got := secrets(); got != storetest.WebhookSecret {
			t.Errorf("secrets %q", got)
		}
		rotate("second")
		if got := secrets(); got != "second "+storetest.WebhookSecret {
			t.Errorf("after a rotation: %q", got)
		}
		rotate("third")
		if got := secrets(); got != "third second" {
			t.Errorf("after two: %q", got)
		}
		now.Pass(webhooks.SecretOverlap)
		if got := secrets(); got != "third" {
			t.Errorf("a day later: %q", got)
		}
		if path, ok := strings.CutPrefix(cfg.Database, "sqlite:"); ok {
			for _, part := range []string{path, path + "-wal"} {
				if content, err := os.ReadFile(part); err == nil && bytes.Contains(content, []byte(storetest.WebhookSecret)) {
					t.Errorf("%s holds the secret in the clear", part)
				}
			}
		}
	})
}

// Every change of an endpoint leaves an audit line.
func TestWebhookAuditLines(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		w := storetest.AddWebhook(t, o, someURL)
		storetest.SwitchWebhook(t, o, w.ID, false)
		storetest.SwitchWebhook(t, o, w.ID, true)
		test := testEvent()
		_, err := o.TestWebhook(t.Context(), w.ID, test, storetest.HookLine(audit.WebhookTest, w), nil, func(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Redeliver(t.Context(), w.ID, storetest.Deliveries(t, o, w.ID)[0].ID, storetest.HookLine(audit.WebhookRedeliver, w), nil, time.Now(), func(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} }); err != nil {
			t.Fatal(err)
		}
		if _, err := o.RecoverWebhook(t.Context(), w.ID, time.Now(), storetest.HookLine(audit.WebhookRecover, w), nil, time.Now(), idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		if _, err := o.RotateWebhookSecret(t.Context(), w.ID, "s", storetest.HookLine(audit.WebhookRotate, w), nil, time.Now(), func(webhooks.Webhook) idempotency.Outcome { return idempotency.Outcome{} }); err != nil {
			t.Fatal(err)
		}
		if err := o.DeleteWebhook(t.Context(), w.ID, storetest.HookLine(audit.WebhookDelete, w)); err != nil {
			t.Fatal(err)
		}
		storetest.Settle(t, all[0])
		for action, want := range map[audit.Action]int{
			audit.WebhookCreate: 1, audit.WebhookUpdate: 2, audit.WebhookTest: 1, audit.WebhookRedeliver: 1, audit.WebhookRecover: 1,
			audit.WebhookRotate: 1, audit.WebhookDelete: 1,
		} {
			if lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: action, Resource: w.ID.String()}); len(lines) != want {
				t.Errorf("%d lines of %s, want %d", len(lines), action, want)
			}
		}
	})
}

func testEvent() *event.Event {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return &event.Event{ID: id.New[id.EventKind](now), Type: event.Test, At: now, Data: []byte(`{"webhook_id":"whk_x"}`)}
}

// No data of one organisation's endpoints is accessible through another's view.
func TestWebhooksAreApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		ours, theirs := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Theirs")
		a, b := s.For(&ours), s.For(&theirs)
		w := storetest.AddWebhook(t, b, someURL)
		test := testEvent()
		nothing := func(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} }
		if _, err := b.TestWebhook(t.Context(), w.ID, test, storetest.HookLine(audit.WebhookTest, w), nil, nothing); err != nil {
			t.Fatal(err)
		}
		delivery, now := storetest.Deliveries(t, b, w.ID)[0].ID, time.Now()
		for name, try := range map[string]func() error{
			"Webhook": func() error { _, err := a.Webhook(t.Context(), w.ID); return err },
			"UpdateWebhook": func() error {
				_, err := a.UpdateWebhook(t.Context(), w.ID, func(w webhooks.Webhook) (webhooks.Webhook, *journal.Change, error) {
					t.Error("the rule was asked about another organisation's endpoint")
					return w, nil, nil
				})
				return err
			},
			"DeleteWebhook": func() error { return a.DeleteWebhook(t.Context(), w.ID, storetest.HookLine(audit.WebhookDelete, w)) },
			"RotateWebhookSecret": func() error {
				_, err := a.RotateWebhookSecret(t.Context(), w.ID, "s", storetest.HookLine(audit.WebhookRotate, w), nil, now, func(webhooks.Webhook) idempotency.Outcome { return idempotency.Outcome{} })
				return err
			},
			"TestWebhook": func() error {
				_, err := a.TestWebhook(t.Context(), w.ID, testEvent(), storetest.HookLine(audit.WebhookTest, w), nil, nothing)
				return err
			},
			"Redeliver": func() error {
				_, err := a.Redeliver(t.Context(), w.ID, delivery, storetest.HookLine(audit.WebhookRedeliver, w), nil, now, nothing)
				return err
			},
			"RecoverWebhook": func() error {
				_, err := a.RecoverWebhook(t.Context(), w.ID, now, storetest.HookLine(audit.WebhookRecover, w), nil, now, idempotency.Outcome{})
				return err
			},
			"Deliveries": func() error {
				_, err := a.Deliveries(t.Context(), w.ID, webhooks.DeliveryQuery{Limit: 1}, func(*webhooks.Delivery) { t.Error("a delivery of theirs") })
				return err
			},
			"Delivery":     func() error { _, err := a.Delivery(t.Context(), w.ID, delivery); return err },
			"WebhookStats": func() error { _, err := a.WebhookStats(t.Context(), w.ID, now); return err },
		} {
			if err := try(); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of another organisation: %v", name, err)
			}
		}
		if hooks, total, err := a.WebhookPage(t.Context(), 1, 10); len(hooks) != 0 || total != 0 || err != nil {
			t.Errorf("the list has %d of %d, %v", len(hooks), total, err)
		}
		// A delivery is not found under another endpoint either.
		other := storetest.AddWebhook(t, b, someURL)
		if _, err := b.Delivery(t.Context(), other.ID, delivery); !fault.Is(err, fault.NotFound) {
			t.Errorf("under another endpoint: %v", err)
		}
	})
}

// Nothing is sent to a disabled endpoint.
func TestDisabledWebhookConflicts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		w := storetest.AddWebhook(t, o, someURL)
		claim := claimOne(t, all[0], 2)
		storetest.SwitchWebhook(t, o, w.ID, false)
		if _, held, err := all[0].System().WebhookWork(t.Context(), claim, 0, 1, 1); held || err != nil {
			t.Errorf("whoever has claimed it still gets work: %v, %v", held, err)
		}
		nothing := func(*webhooks.Delivery) idempotency.Outcome { return idempotency.Outcome{} }
		if _, err := o.TestWebhook(t.Context(), w.ID, testEvent(), storetest.HookLine(audit.WebhookTest, w), nil, nothing); !fault.Is(err, fault.Conflict) {
			t.Errorf("test: %v", err)
		}
		if _, err := o.RecoverWebhook(t.Context(), w.ID, time.Now(), storetest.HookLine(audit.WebhookRecover, w), nil, time.Now(), idempotency.Outcome{}); !fault.Is(err, fault.Conflict) {
			t.Errorf("recover: %v", err)
		}
		storetest.AddPatient(t, o, "A")
		storetest.Settle(t, all[0])
		if waiting, err := all[0].System().WaitingWebhooks(t.Context(), 0); len(waiting) != 0 || err != nil {
			t.Errorf("%d endpoints wait, %v", len(waiting), err)
		}
		if claims, err := all[0].System().ClaimWebhooks(t.Context(), 1, time.Now().Add(time.Hour), newToken, []webhooks.Key{{Org: o.No(), No: 1}}); len(claims) != 0 || err != nil {
			t.Errorf("it was claimed: %v, %v", claims, err)
		}
	})
}
