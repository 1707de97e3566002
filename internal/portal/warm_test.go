package portal

import (
	"context"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// The first view is precomputed after a member signed in or opened a page,
// without being audited.
func TestAnalyticsAreWarm(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		storeRun(t, h)
		b := h.signedIn("anna@example.org", "general", access.Administrator)
		principal := storetest.Client(t, h.store, "general")
		org := h.store.For(&principal)
		storetest.AddPatient(t, org, "Berit")
		h.pages.warm(t.Context())
		for _, action := range []audit.Action{audit.AnalyticsRead, audit.PatientSearch} {
			if err := h.store.System().ShipReads(t.Context()); err != nil {
				t.Fatal(err)
			}
			if lines, _, err := org.Audit(t.Context(), journal.AuditCursor{}, 10, journal.AuditFilter{Action: action}); err != nil || len(lines) != 0 {
				t.Errorf("%d lines of %s, %v; nobody has seen anything", len(lines), action, err)
			}
		}
		for _, path := range []string{"/portal/analytics", "/portal/patients?search=berit"} {
			if page := b.get(path); page.status != 200 {
				t.Fatalf("%s: %d", path, page.status)
			}
			// The cost of a page with its models in memory; see pagesAsked.
			if tally := h.trips.Last(); strings.Contains(tally.String(), "BETWEEN") {
				t.Errorf("%s reads patients:%v", path, tally)
			}
		}
	})
}

// A page records active members, but not visitors without a session.
func TestPagesNoteWhoIsHere(t *testing.T) {
	h := newHouse(t, storetest.Database(t, storetest.SQLite))
	h.browser().get("/portal/sign-in")
	if got := h.pages.here.take(); len(got) != 0 {
		t.Errorf("%d organisations are here before anybody has signed in", len(got))
	}
	b := h.signedIn("anna@example.org", "general", access.Viewer)
	h.signedIn("berit@example.org", "other", access.Viewer)
	if got := h.pages.here.take(); len(got) != 2 {
		t.Errorf("%d organisations are here after two members signed in, want 2", len(got))
	}
	b.get("/portal/account")
	b.get("/portal/")
	if got := h.pages.here.take(); len(got) != 1 {
		t.Errorf("%d organisations are here after two pages of one, want 1", len(got))
	}
}

// Without active members, nothing is computed; and it ends with its context.
func TestKeepWarmEnds(t *testing.T) {
	h := newHouse(t, storetest.Database(t, storetest.SQLite))
	h.signedIn("anna@example.org", "general", access.Viewer)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- h.pages.KeepWarm(ctx) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
