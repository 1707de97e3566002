package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/testwait"
)

func TestBodyIsStrict(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		for _, b := range []struct {
			body, reason string
			offset       int
		}{
			{``, "it is empty", 0},
			{`  `, "it is empty", 0},
			{`[]`, "it is not an object", 0},
			{`"x"`, "it is not an object", 0},
			{`null`, "it is not an object", 0},
			{`{"name":"a","name":"b"}`, "a field occurs twice in one object", 12},
			{`{"contact":{"email":"a@b","email":"c@d"}}`, "a field occurs twice in one object", 26},
			{"{\"name\":\"\xff\"}", "it is not valid UTF-8", 9},
			{`{"name":"\ud800"}`, "a string contains an invalid escape", 9},
			{`{"name":"a"} {}`, "more data follows the object", 13},
			{`{"name":"a"}x`, "more data follows the object", 12},
			{`{"name":`, "it ends too early", 8},
			{`{'name':1}`, "it is not valid JSON", 1},
			{strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "it is nested too deeply", 160},
		} {
			want := map[string]any{"reason": b.reason, "offset": float64(b.offset)}
			c.post("/v1/patients", b.body).details(http.StatusBadRequest, fault.InvalidBody, want)
			c.send("PATCH", "/v1/patients/"+id, b.body).details(http.StatusBadRequest, fault.InvalidBody, want)
		}
	})
}

func TestMembersAreStrict(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, b := range []struct {
			members, parameter string
			value              any
			says               string
		}{
			{`"nmae":"x"`, "nmae", "x", `Did you mean "name"?`},
			{`"dateOfBirth":"1990-01-01"`, "dateOfBirth", "1990-01-01", `Did you mean "date_of_birth"?`},
			{`"Gender":"f"`, "Gender", "f", `Did you mean "gender"?`},
			{`"shoe_size":44`, "shoe_size", float64(44), "Unknown field"},
			{`"contact":{"mail":"a@b"}`, "contact.mail", "a@b", `Did you mean "email"?`},
			{`"contact":{"email":"nobody"}`, "contact.email", "nobody", "e-mail"},
			{`"contact":"a@b"`, "contact", "a@b", "object"},
			{`"gender":1`, "gender", float64(1), "string"},
			{`"medical_history":[{"condition":"x"},{"condition":"y","icd10_code":"?"}]`, "medical_history[1].icd10_code", "?", "ICD-10"},
			{`"id":"pat_1"`, "id", "pat_1", "read-only"},
			{`"created_at":"2026-01-01T00:00:00Z"`, "created_at", "2026-01-01T00:00:00Z", "read-only"},
		} {
			r := c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":"1990-01-01",`+b.members+`}`)
			r.wrong(b.parameter, b.value)
			if !strings.Contains(r.message(), b.says) {
				t.Errorf("%s: %q does not say %q", b.members, r.message(), b.says)
			}
		}
		c.post("/v1/patients", `{"date_of_birth":"1990-01-01"}`).wrong("name", nil)
		c.post("/v1/patients", `{"name":"Arlo Finch"}`).wrong("date_of_birth", nil)
		c.post("/v1/patients", `{"name":null,"date_of_birth":"1990-01-01"}`).wrong("name", nil)
		c.post("/v1/patients", `{"name":"","date_of_birth":"1990-01-01"}`).wrong("name", "")
		c.post("/v1/patients", `{"name":"Arlo\nFinch","date_of_birth":"1990-01-01"}`).wrong("name", "Arlo\nFinch")
		if got := c.post("/v1/patients", `{"name":"  Arlo Finch  ","date_of_birth":"1990-01-01"}`).is(http.StatusCreated).json()["name"]; got != "Arlo Finch" {
			t.Errorf("the name is kept as %q", got)
		}
	})
}

func TestSeveralFaultsOfABody(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		details := c.post("/v1/patients", `{"date_of_birth":"no","contact":{"email":"no"},"extra":[1]}`).fault(http.StatusBadRequest, fault.InvalidParameter)
		wantMembers(t, details, "parameter", "value", "errors")
		var found []string
		for _, e := range details["errors"].([]any) {
			found = append(found, fmt.Sprint(e.(map[string]any)["parameter"]))
		}
		if got := strings.Join(found, " "); got != "name date_of_birth contact.email extra" || details["parameter"] != "name" || details["value"] != nil {
			t.Errorf("faults %s; first %v", got, details)
		}
		if got := c.get("/v1/patients").pagination()[2]; got != 0 {
			t.Errorf("%d patients were kept", got)
		}
	})
}

func TestMediaTypes(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		for _, media := range []string{"", "application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"} {
			c.post("/v1/patients", fullPatient, "Content-Type", media).is(http.StatusCreated)
			c.send("PATCH", "/v1/patients/"+id, "{}", "Content-Type", media).is(http.StatusOK)
		}
		c.send("PATCH", "/v1/patients/"+id, "{}", "Content-Type", "application/merge-patch+json").is(http.StatusOK)
		for _, media := range []string{"text/plain", "application/xml", formType, "application/json; charset=latin1", "json", "application/json;;", "multipart/form-data"} {
			c.post("/v1/patients", fullPatient, "Content-Type", media).
				details(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType, map[string]any{"supported": []any{"application/json"}})
		}
		c.post("/v1/patients", fullPatient, "Content-Type", "application/merge-patch+json").is(http.StatusUnsupportedMediaType)
		c.post("/v1/patients", fullPatient, "Content-Type", "application/json", "Content-Type", "application/json").is(http.StatusUnsupportedMediaType)
		c.send("PATCH", "/v1/patients/"+id, "{}", "Content-Type", "application/json-patch+json").details(http.StatusUnsupportedMediaType,
			fault.UnsupportedMediaType, map[string]any{"supported": []any{"application/merge-patch+json", "application/json"}})
		n.send("POST", "/oauth/token", "{}", "Content-Type", "application/json").is(http.StatusUnsupportedMediaType)
	})
}

func TestBodyLimit(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		fits := fullPatient + strings.Repeat(" ", bodyLimit-len(fullPatient))
		c.post("/v1/patients", fits).is(http.StatusCreated)
		want := map[string]any{"max_bytes": float64(bodyLimit)}
		c.post("/v1/patients", fits+" ").details(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge, want)
		c.post("/v1/patients", strings.Repeat("x", 3*bodyLimit)).details(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge, want)
		n.send("POST", "/oauth/token", strings.Repeat("x", bodyLimit+1), "Content-Type", formType).is(http.StatusRequestEntityTooLarge)
	})
}

// A body of unknown length is cut off at the limit.
func TestBodyLimitOfAChunkedBody(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for size, want := range map[int]string{bodyLimit: "HTTP/1.1 201", bodyLimit + 1: "HTTP/1.1 413"} {
			body := fullPatient + strings.Repeat(" ", size-len(fullPatient))
			head := "POST /v1/patients HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + c.token + "\r\nTransfer-Encoding: chunked\r\n\r\n"
			if got := n.raw(head + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)); !strings.HasPrefix(got, want) {
				t.Errorf("%d bytes: %.80q, want %s", size, got, want)
			}
		}
		broken := "POST /v1/patients HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + c.token + "\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"
		if got := n.raw(broken); !strings.HasPrefix(got, "HTTP/1.1 400") || !strings.Contains(got, "INVALID_BODY") {
			t.Errorf("a broken encoding: %q", got)
		}
	})
}

// raw sends bytes that no HTTP client would, and returns everything received
// until the connection is closed.
func (n *node) raw(request string) string {
	n.tb.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		n.tb.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testwait.Bound)); err != nil {
		n.tb.Fatal(err)
	}
	if _, err := conn.Write([]byte(request)); err != nil {
		n.tb.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		n.tb.Fatal(err)
	}
	return string(answer)
}
