package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// auditor is a client of north with a high limit.
func (n *node) auditor(scopes access.Scopes) *caller {
	n.tb.Helper()
	return n.callerOf("north", access.Enterprise, scopes)
}

// audit reads the whole log, filtered, once it has as many lines as wanted.
func (c *caller) audit(query string, atLeast int) (lines []map[string]any) {
	c.tb.Helper()
	eventually(c.tb, fmt.Sprintf("%d lines of %q", atLeast, query), func() bool {
		lines = nil
		cursor := ""
		for {
			r := c.get("/v1/audit?limit=100" + query + cursor)
			page := r.data()
			lines = append(lines, page...)
			if len(page) < 100 { // a walk until nothing comes has no end: reading leaves lines
				return len(lines) >= atLeast
			}
			cursor = "&after=" + r.cursor()
		}
	})
	return lines
}

// line finds the one line of a request.
func line(t *testing.T, lines []map[string]any, request string) map[string]any {
	t.Helper()
	for _, l := range lines {
		if l["request_id"] == request {
			return l
		}
	}
	t.Fatalf("no line of request %s in %v", request, lines)
	return nil
}

func TestAuditTellsWhoDidWhat(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		id := c.post("/v1/patients", fullPatient, "X-Request-Id", "made").is(http.StatusCreated).json()["id"].(string)
		path := "/v1/patients/" + id
		c.get(path, "X-Request-Id", "read").is(http.StatusOK)
		c.send("HEAD", path, "", "X-Request-Id", "head").is(http.StatusOK)
		c.get("/v1/patients", "X-Request-Id", "listed").is(http.StatusOK)
		c.get("/v1/patients?search=vasarely", "X-Request-Id", "searched").is(http.StatusOK)
		c.send("PATCH", path, `{"gender":"x"}`, "X-Request-Id", "changed").is(http.StatusOK)
		token := c.issue("")
		c.form("/oauth/revoke", c.credentials("token", token), "X-Request-Id", "revoked").is(http.StatusOK)
		for _, want := range []struct {
			action   string
			lines    int
			request  string
			resource any
		}{
			{"patient.create", 1, "made", id},
			{"patient.read", 3, "read", id}, // a change shows the patient too
			{"patient.read", 3, "head", id},
			{"patient.list", 1, "listed", nil},
			{"patient.search", 1, "searched", nil},
			{"patient.update", 1, "changed", id},
			{"token.revoke", 1, "revoked", nil},
		} {
			got := line(t, auditor.audit("&action="+want.action, want.lines), want.request)
			if got["action"] != want.action || got["client_id"] != c.client.ID.String() || got["resource"] != want.resource ||
				got["source"] != "127.0.0.1" || !timeForm.MatchString(got["timestamp"].(string)) {
				t.Errorf("%s: %v", want.request, got)
			}
		}
		listed := line(t, auditor.audit("&action=patient.list", 1), "listed")["details"].(map[string]any)
		if listed["count"] != float64(1) || listed["first_number"] != float64(1) || listed["last_number"] != float64(1) {
			t.Errorf("list: %v", listed)
		}
		searched := line(t, auditor.audit("&action=patient.search", 1), "searched")["details"].(map[string]any)
		if fmt.Sprint(searched["patients"]) != "["+id+"]" || strings.Contains(fmt.Sprint(searched), "vasarely") {
			t.Errorf("search: %v", searched)
		}
		for _, l := range auditor.audit("&patient_id="+id, 5) {
			if l["resource"] != id {
				t.Errorf("of the patient: %v", l)
			}
		}
		if got := auditor.audit("&action=client.create", 2); got[0]["client_id"] != "operator" {
			t.Errorf("%v", got[0])
		}
		if len(auditor.audit("&action=audit.read", 1)) == 0 {
			t.Error("reading the log leaves no line")
		}
	})
}

// A replayed outcome shows the patient again.
func TestAuditOfAReplay(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.once("k", fullPatient).is(http.StatusCreated).json()["id"]
		c.post("/v1/patients", fullPatient, "Idempotency-Key", "k", "X-Request-Id", "again").is(http.StatusCreated)
		if got := line(t, n.auditor(access.AllScopes).audit("&action=patient.read", 1), "again"); got["resource"] != id {
			t.Errorf("%v", got)
		}
	})
}

// Refused reads and writes show nothing and change nothing; they leave no
// line. Nor does a record that the caller has already.
func TestAuditLeavesOutWhatShowedNothing(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, south := n.caller("north"), n.caller("south")
		id := c.create("Arlo Finch")
		south.get("/v1/patients/" + id).is(http.StatusNotFound)
		c.get("/v1/patients?page=0").is(http.StatusBadRequest)
		c.get("/v1/patients/"+id, "If-None-Match", "*").is(http.StatusNotModified)
		c.send("PATCH", "/v1/patients/"+id, "{}", "If-Match", `"9"`).is(http.StatusPreconditionFailed)
		for _, l := range n.auditor(access.AllScopes).audit("", 3) {
			if action := l["action"]; action != "patient.create" && action != "audit.read" && action != "client.create" && action != "organization.create" {
				t.Errorf("%v", l)
			}
		}
	})
}

func TestAuditKeepsTheHistory(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		blind := n.auditor(access.AuditRead)
		id := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["id"].(string)
		c.send("PATCH", "/v1/patients/"+id, `{"name":"Ingrid Lindgren","date_of_birth":"1961-03-15"}`).is(http.StatusOK)
		changes := n.auditor(access.AllScopes).audit("&action=patient.update", 1)[0]["details"].(map[string]any)["changes"]
		want := `[{"after":"Ingrid Lindgren","before":"Ingrid Vasarely","field":"name"},{"after":"1961-03-15","before":"1961-03-14","field":"date_of_birth"}]`
		if got := quoteAny(changes); got != want {
			t.Errorf("changes %s, want %s", got, want)
		}
		details := blind.audit("&action=patient.update", 1)[0]["details"]
		if got := quoteAny(details); got != `{"fields":["name","date_of_birth"],"redacted":true}` {
			t.Errorf("without patients:read: %s", got)
		}
		for _, l := range blind.audit("", 5) {
			for _, secret := range []string{"Ingrid", "1961-", "example.org", "+46", "Migraine"} {
				if strings.Contains(quoteAny(l), secret) {
					t.Errorf("without patients:read %q is in %v", secret, l)
				}
			}
		}
	})
}

// A filter must not reveal the hidden content of an entry.
func TestAuditFilterIsNoOracle(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, blind := n.caller("north"), n.auditor(access.AuditRead)
		id := c.create("Arlo Finch")
		c.send("PATCH", "/v1/patients/"+id, `{"name":"Cleo Wren"}`, "X-Request-Id", "r").is(http.StatusOK)
		guess := id + `","request_id":"r","source":"127.0.0.1","details":{"changes":[{"field":"name","before":"Arlo Finch`
		blind.get("/v1/audit?patient_id="+escaped(guess)).fault(http.StatusBadRequest, fault.InvalidParameter)
		for _, wrong := range []string{"", "x", "pat_1", strings.ToUpper(id)} {
			blind.get("/v1/audit?patient_id="+wrong).wrong("patient_id", wrong)
		}
		blind.get("/v1/audit?action=patient.delete").wrong("action", "patient.delete")
		blind.get("/v1/audit?action=").wrong("action", "")
	})
}

func TestAuditByCursor(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		id := c.create("Arlo Finch")
		for i := range 9 {
			c.get("/v1/patients/"+id, "X-Request-Id", fmt.Sprintf("read-%d", i)).is(http.StatusOK)
		}
		auditor.audit("&action=patient.read", 9)
		var got []string
		for cursor, pages := "", 0; pages < 50; pages++ {
			r := auditor.get("/v1/audit?limit=2" + cursor)
			if len(r.data()) > 2 {
				t.Fatalf("%d lines", len(r.data()))
			}
			for _, l := range r.data() {
				if l["action"] == "patient.read" {
					got = append(got, l["request_id"].(string))
				}
			}
			cursor = "&after=" + r.cursor()
		}
		want := "[read-0 read-1 read-2 read-3 read-4 read-5 read-6 read-7 read-8]"
		if fmt.Sprint(got) != want {
			t.Errorf("walked %v", got)
		}
	})
}
