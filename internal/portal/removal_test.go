package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/storetest"
)

// An administrator merges a patient after confirming it, and its page then leads
// to the other one. Others are not offered it and may not do it.
func TestMergeOfAPatient(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin, viewer := h.signedIn("admin@clinic.example", "ours", access.Administrator), h.signedIn("ada@clinic.example", "ours", access.Viewer)
		ours, theirs := h.org("ours"), h.org("theirs")
		from, into, stranger := storetest.AddPatient(t, ours, "Twice"), storetest.AddPatient(t, ours, "Once"), storetest.AddPatient(t, theirs, "Stranger")
		path := "/portal/patients/" + from.ID.String()
		if p := viewer.get(path); strings.Contains(p.text, "Merge or erase") {
			t.Error("a viewer is offered to merge")
		}
		for what, p := range map[string]page{"page": viewer.get(path + "/remove"), "merge": viewer.post(path+"/merge", "into", into.ID.String(), "sure", "yes"), "erase": viewer.post(path+"/erase", "reason", "x", "sure", "yes")} {
			if p.status != http.StatusForbidden {
				t.Errorf("a viewer, %s: %d", what, p.status)
			}
		}
		if p := admin.get(path); !strings.Contains(p.text, path+"/remove") {
			t.Error("an administrator is not offered to merge")
		}
		for want, p := range map[string]page{
			"starts with pat_": admin.post(path+"/merge", "into", "x", "sure", "yes"), "into itself": admin.post(path+"/merge", "into", from.ID.String(), "sure", "yes"),
			"cannot be undone": admin.post(path+"/merge", "into", into.ID.String()), "The other patient": admin.post(path+"/merge", "into", stranger.ID.String(), "sure", "yes"),
		} {
			if p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, want) {
				t.Errorf("%s: %d", want, p.status)
			}
		}
		if p := admin.post(path+"/merge", "into", into.ID.String(), "sure", "yes"); p.status != http.StatusSeeOther {
			t.Fatalf("merge: %d\n%s", p.status, p.text)
		}
		if p := viewer.get(path); p.status != http.StatusGone || !strings.Contains(p.text, "/portal/patients/"+into.ID.String()) {
			t.Errorf("the merged patient: %d\n%s", p.status, p.text)
		}
	})
}

// An administrator erases a patient with a reason.
func TestErasureOfAPatient(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		admin := h.signedIn("admin@clinic.example", "ours", access.Administrator)
		patient := storetest.AddPatient(t, h.org("ours"), "Zqxmarker")
		path := "/portal/patients/" + patient.ID.String()
		for want, p := range map[string]page{"must not be blank": admin.post(path+"/erase", "sure", "yes"), "cannot be undone": admin.post(path+"/erase", "reason", "case 7")} {
			if p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, want) {
				t.Errorf("%s: %d", want, p.status)
			}
		}
		if p := admin.post(path+"/erase", "reason", "case 7", "sure", "yes"); p.status != http.StatusSeeOther {
			t.Fatalf("%d\n%s", p.status, p.text)
		}
		if p := admin.get(path); p.status != http.StatusNotFound {
			t.Errorf("%d", p.status)
		}
		if _, err := h.org("ours").Patient(t.Context(), patient.ID); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
		if p := admin.get("/portal/audit"); !strings.Contains(p.text, "case 7") && !strings.Contains(p.text, "patient.erase") {
			t.Error("the audit log does not show it")
		}
	})
}
