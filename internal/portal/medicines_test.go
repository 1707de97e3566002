package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// An administrator adds and removes aliases; a viewer sees them, a developer
// does not; the patient's page says what rests on one.
func TestAliasesInThePortal(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin := h.signedIn("admin@clinic.example", "default", access.Administrator)
		viewer := h.signedIn("viewer@clinic.example", "default", access.Viewer)
		dev := h.signedIn("dev@clinic.example", "default", access.Developer)
		other := h.signedIn("admin@other.example", "other", access.Administrator)
		org := h.org("default")
		patient := storetest.AddPatient(t, org, "Ada")
		if err := storetest.AddRecordsAt(t.Context(), org, h.now(), patient.ID, storetest.RecordAt(t, h.now(), patient.ID, `{"data_type":"medications","value":{"name":"Calm mix","days_supply":30}}`)); err != nil {
			t.Fatal(err)
		}
		if p := admin.get("/portal/medicines"); p.status != http.StatusOK || !strings.Contains(p.text, "No aliases yet") || !strings.Contains(p.text, "New alias") {
			t.Errorf("%d\n%s", p.status, p.text)
		}
		if p := viewer.get("/portal/medicines?look=calm+mix"); p.status != http.StatusOK || strings.Contains(p.text, "New alias") || !strings.Contains(p.text, "was not recognised") {
			t.Errorf("%d\n%s", p.status, p.text)
		}
		if p := dev.get("/portal/medicines"); p.status != http.StatusForbidden {
			t.Errorf("a developer sees it: %d", p.status)
		}
		for who, b := range map[string]*browser{"viewer": viewer, "developer": dev} {
			if p := b.post("/portal/medicines", "name", "calm mix", "rxnorm_code", "6470"); p.status != http.StatusForbidden {
				t.Errorf("a %s adds one: %d", who, p.status)
			}
		}
		for _, wrong := range []struct {
			name, code string
			status     int
			words      string
		}{
			{"ibuprofen", "7804", http.StatusUnprocessableEntity, "The name is already recognised as ibuprofen"},
			{"blue pills", "99999999", http.StatusUnprocessableEntity, "The RxNorm code is not in the dictionary"},
			{"", "", http.StatusUnprocessableEntity, "The name is required."},
			{"", "", http.StatusUnprocessableEntity, "The RxNorm code is required."},
			{"ibuprofen mix", "7804", http.StatusUnprocessableEntity, "but the RxNorm code is that of oxycodone"},
		} {
			if p := admin.post("/portal/medicines", "name", wrong.name, "rxnorm_code", wrong.code); p.status != wrong.status || !strings.Contains(p.text, wrong.words) {
				t.Errorf("%q for %s: %d\n%s", wrong.name, wrong.code, p.status, p.text)
			}
		}
		if p := admin.post("/portal/medicines", "name", "calm <mix>", "rxnorm_code", "6470"); p.status != http.StatusSeeOther || p.location != "/portal/medicines" {
			t.Fatalf("adding: %d\n%s", p.status, p.text)
		}
		if p := admin.post("/portal/medicines", "name", "CALM MIX", "rxnorm_code", "6470"); p.status != http.StatusConflict || !strings.Contains(p.text, "An alias with this name already exists") {
			t.Errorf("adding it again: %d\n%s", p.status, p.text)
		}
		p := viewer.get("/portal/medicines?look=Calm+Mix")
		for _, want := range []string{"calm &lt;mix&gt;", "6470", "lorazepam", "benzodiazepine", "By an alias of the organisation: lorazepam."} {
			if !strings.Contains(p.text, want) {
				t.Errorf("the page lacks %q\n%s", want, p.text)
			}
		}
		if p := other.get("/portal/medicines?look=Calm+Mix"); strings.Contains(p.text, "lorazepam") {
			t.Error("another organisation sees it")
		}
		if err := h.store.System().Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := viewer.get("/portal/patients/" + patient.ID.String()); !strings.Contains(p.text, "by an alias: lorazepam") {
			t.Errorf("the patient's page does not say what the class rests on\n%s", p.text)
		}
		remove := admin.get("/portal/medicines").find(t, `/portal/medicines/als_[0-9a-z]{26}/remove`)
		if p := viewer.post(remove); p.status != http.StatusForbidden {
			t.Errorf("a viewer removes one: %d", p.status)
		}
		if p := other.post(remove); p.status != http.StatusNotFound {
			t.Errorf("another organisation removes it: %d", p.status)
		}
		if p := admin.post(remove); p.status != http.StatusSeeOther {
			t.Errorf("removing: %d\n%s", p.status, p.text)
		}
		if p := admin.post("/portal/medicines/x/remove"); p.status != http.StatusNotFound {
			t.Errorf("removing nothing: %d", p.status)
		}
		storeRun(t, h)
		for _, action := range []audit.Action{audit.AliasCreate, audit.AliasDelete} {
			var lines [][]byte
			testwait.Until(t, "the line is in the log", func() bool {
				var err error
				if lines, _, err = org.Audit(t.Context(), journal.AuditCursor{}, 10, journal.AuditFilter{Action: action}); err != nil {
					t.Fatal(err)
				}
				return len(lines) > 0
			})
			if len(lines) != 1 || !strings.Contains(string(lines[0]), `"member_id":"usr_`) {
				t.Errorf("%s: %s", action, lines)
			}
		}
	})
}
