package portal

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// asking is the database work of a page: statements, how many more on
// PostgreSQL, and the round trips there.
type asking struct{ statements, postgres, trips int }

// showing is a page, its path, and its database work.
type showing struct {
	page, path string
	cost       asking
}

// pagesAsked says where each page is found in a place with n of everything, and what
// it costs, however many there are. A page that is not here fails the test.
var pagesAsked = []showing{
	{"/portal/{$}", "/portal/", asking{statements: 7, trips: 5}},
	{"/portal/sign-in", "/portal/sign-in", asking{statements: 1, trips: 1}},
	{"/portal/join/{link}", "/portal/join/{link}", asking{statements: 2, trips: 2}},
	{"/portal/reset/{link}", "/portal/reset/{reset}", asking{statements: 3, trips: 3}},
	{"/portal/applications", "/portal/applications", asking{statements: 2, trips: 2}},
	{"/portal/applications/new", "/portal/applications/new", asking{statements: 1, trips: 1}},
	{"/portal/applications/{id}", "/portal/applications/{application}", asking{statements: 6, trips: 5}},
	{"/portal/webhooks", "/portal/webhooks", asking{statements: 5, trips: 4}},
	{"/portal/webhooks/new", "/portal/webhooks/new", asking{statements: 1, trips: 1}},
	{"/portal/webhooks/{id}", "/portal/webhooks/{webhook}", asking{statements: 8, trips: 7}},
	{"/portal/webhooks/{id}/edit", "/portal/webhooks/{webhook}/edit", asking{statements: 2, trips: 2}},
	{"/portal/webhooks/{id}/deliveries/{delivery}", "/portal/webhooks/{webhook}/deliveries/{delivery}", asking{statements: 4, trips: 4}},
	{"/portal/patients", "/portal/patients", asking{statements: 2, trips: 2}},
	{"/portal/patients", "/portal/patients?search=patient", asking{statements: 3, trips: 3}},
	{"/portal/patients/{id}", "/portal/patients/{patient}", asking{statements: 7, trips: 5}},
	{"/portal/patients/{id}/fhir", "/portal/patients/{patient}/fhir", asking{statements: 3, trips: 4}},
	{"/portal/patients/{id}/remove", "/portal/patients/{patient}/remove", asking{statements: 2, trips: 2}},
	{"/portal/patients/{id}/records/{record}", "/portal/patients/{patient}/records/{record}", asking{statements: 3, trips: 3}},
	{"/portal/medicines", "/portal/medicines", asking{statements: 3, trips: 2}},
	{"/portal/medicines", "/portal/medicines?look=MS+Contin", asking{statements: 4, trips: 3}},
	{"/portal/analytics", "/portal/analytics", asking{statements: 3, trips: 3}},
	{"/portal/reports", "/portal/reports", asking{statements: 5, trips: 3}},
	{"/portal/reports/{id}", "/portal/reports/{report}", asking{statements: 2, trips: 2}},
	{"/portal/reports/{id}/download", "/portal/reports/{report}/download", asking{statements: 2, trips: 2}},
	{"/portal/exports", "/portal/exports", asking{statements: 5, trips: 3}},
	{"/portal/exports/{id}", "/portal/exports/{export}", asking{statements: 2, trips: 2}},
	{"/portal/exports/{id}/files/{name}", "/portal/exports/{export}/files/patients.csv", asking{statements: 2, trips: 2}},
	{"/portal/audit", "/portal/audit", asking{statements: 5, postgres: 1, trips: 5}},
	{"/portal/members", "/portal/members", asking{statements: 2, trips: 2}},
	{"/portal/account", "/portal/account", asking{statements: 1, trips: 1}},
	{"/docs/{$}", "/docs/", asking{statements: 1, trips: 1}},
	{"/docs/reference", "/docs/reference", asking{statements: 1, trips: 1}},
	{"/docs/reference/{$}", "/docs/reference/", asking{statements: 1, trips: 1}},
	{"/docs/reference/schemas", "/docs/reference/schemas", asking{statements: 1, trips: 1}},
	{"/docs/reference/{operation}", "/docs/reference/{operation}", asking{statements: 1, trips: 1}},
	{"/docs/{guide}", "/docs/{guide}", asking{statements: 1, trips: 1}},
}

// The number of statements of a page does not depend on the amount of data.
//
//test:norace
func TestStatementsOfAPage(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		storeRun(t, h)
		for _, rt := range new(Portal).table() {
			method, page, _ := strings.Cut(rt.pattern, " ")
			if method == http.MethodGet && !slices.ContainsFunc(pagesAsked, func(s showing) bool { return s.page == page }) {
				t.Errorf("%s: this test does not know what it costs", rt.pattern)
			}
		}
		for _, size := range []int{1, 100} {
			b, named := h.crowd(size)
			for _, s := range pagesAsked {
				path := named.Replace(s.path)
				b.get(path)
				if p := b.get(path); p.status >= http.StatusBadRequest && p.status != http.StatusConflict {
					t.Fatalf("%s: %d\n%s", s.path, p.status, p.text)
				}
				tally := h.trips.Last()
				statements, trips := tally.Count()
				want := s.cost.statements
				if h.store.Distributed() {
					// As in the API, rows and positions are divided into several statements.
					if statements > 2*(want+s.cost.postgres)+6 || trips > s.cost.trips+3 {
						t.Errorf("%d items: %s: %d statements in %d round trips, which is too many for Citus:%s", size, s.path, statements, trips, tally)
					}
					continue
				}
				if h.store.Engine() == storetest.Postgres {
					want += s.cost.postgres
					if trips != s.cost.trips {
						t.Errorf("%d items: %s: %d round trips, want %d:%s", size, s.path, trips, s.cost.trips, tally)
					}
				}
				if statements != want {
					t.Errorf("%d items: %s: %d statements, want %d:%s", size, s.path, statements, want, tally)
				}
			}
		}
	})
}

// crowd creates an organisation with this many of everything, and returns a
// browser of its administrator and the identifiers of its resources.
func (h *house) crowd(size int) (*browser, *strings.Replacer) {
	h.t.Helper()
	name := fmt.Sprintf("with%d", size)
	b := h.signedIn("admin@"+name+".example", name, access.Administrator)
	org := h.org(name)
	ctx := h.t.Context()
	admin, _, err := h.store.System().AccountByEmail(ctx, "admin@"+name+".example")
	if err != nil {
		h.t.Fatal(err)
	}
	principal := admin.Principal()
	of := h.store.For(&principal) // the administrator's
	link, hash := NewLink()
	if err := of.Invite(ctx, hash, access.Viewer, inviteLifetime, audit.Entry{At: h.now()}); err != nil {
		h.t.Fatal(err)
	}
	reset, hash := NewLink()
	if _, err := of.MakeReset(ctx, admin.ID, hash, ResetLifetime, audit.Entry{At: h.now()}); err != nil {
		h.t.Fatal(err)
	}
	who := storetest.AddPatient(h.t, org, "Patient 0")
	record := storetest.Record(h.t, who.ID, `{"data_type":"pain_scores","recorded_at":"2026-01-10","value":5}`)
	if err := storetest.AddRecords(ctx, org, who.ID, record); err != nil {
		h.t.Fatal(err)
	}
	oldest := record.ID
	hook := storetest.AddWebhook(h.t, org, "https://clinic.example/hook")
	var delivery, report, export string
	for i := range size {
		storetest.AddPatient(h.t, org, fmt.Sprintf("Patient %d", i+1))
		if _, err := h.store.System().CreateAccount(ctx, name, accounts.NewAccount{Email: fmt.Sprintf("%d@%s.example", i, name), Name: "Member", Role: access.Viewer}); err != nil {
			h.t.Fatal(err)
		}
		if i < 90 { // of a hundred that there may be
			storetest.AddWebhook(h.t, org, "https://clinic.example/other")
			if _, err := of.CreateClient(ctx, clients.NewClient{Name: "app", Tier: access.Standard, Scopes: access.AllScopes, SecretHash: []byte{byte(i)}}, audit.Entry{At: h.now()}); err != nil {
				h.t.Fatal(err)
			}
		}
		if err := storetest.AddRecords(ctx, org, who.ID, storetest.Record(h.t, who.ID, `{"data_type":"pain_scores","recorded_at":"2026-01-11","value":4}`)); err != nil {
			h.t.Fatal(err)
		}
		correction, err := storetest.Correct(ctx, org, who.ID, record.ID, `{"value":6}`)
		if err != nil {
			h.t.Fatal(err)
		}
		record = correction.New
		if _, err := org.TestWebhook(ctx, hook.ID, event.ForTest(h.now(), hook.ID), storetest.WebhookLine(audit.WebhookTest, hook.ID), nil, func(d *webhooks.Delivery) idempotency.Outcome {
			delivery = d.ID.String()
			return idempotency.Outcome{}
		}); err != nil {
			h.t.Fatal(err)
		}
		if p := b.post("/portal/medicines", "name", fmt.Sprint("house stock number ", i), "rxnorm_code", "7804"); p.status != http.StatusSeeOther {
			h.t.Fatalf("%d\n%s", p.status, p.text)
		}
		report = strings.TrimPrefix(b.post("/portal/reports", "type", "population_health", "format", "json").location, "/portal/reports/")
		export = strings.TrimPrefix(b.post("/portal/exports", "format", "csv").location, "/portal/exports/")
	}
	clients, err := org.Clients(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	return b, strings.NewReplacer("{link}", link, "{reset}", reset, "{application}", clients[0].ID.String(), "{webhook}", hook.ID.String(), "{delivery}", delivery,
		"{patient}", who.ID.String(), "{record}", oldest.String(), "{newest}", record.ID.String(), "{report}", report, "{export}", export, "{guide}", "quick-start", "{operation}", "listPatients")
}
