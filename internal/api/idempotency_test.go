package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// once creates a patient under a key.
func (c *caller) once(key, body string) *reply {
	c.tb.Helper()
	return c.post("/v1/patients", body, "Idempotency-Key", key)
}

func (c *caller) total() int {
	c.tb.Helper()
	return c.get("/v1/patients").pagination()[2]
}

func TestIdempotencyReplays(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		first := c.once("k", fullPatient).is(http.StatusCreated)
		if first.header.Get("Idempotency-Replayed") != "" {
			t.Error("the first is marked as replayed")
		}
		other := c.at(n.another())
		for _, again := range []*reply{c.once("k", fullPatient), other.once("k", fullPatient)} {
			again.is(http.StatusCreated)
			if again.header.Get("Idempotency-Replayed") != "true" || string(again.body) != string(first.body) {
				t.Errorf("replayed %v: %s, first %s", again.header["Idempotency-Replayed"], again.body, first.body)
			}
			for _, name := range []string{"Location", "ETag", "Content-Type"} {
				if again.header.Get(name) != first.header.Get(name) {
					t.Errorf("%s %q, first %q", name, again.header.Get(name), first.header.Get(name))
				}
			}
		}
		// The outcome is the first one, also after the patient has changed.
		c.send("PATCH", first.header.Get("Location"), `{"gender":"x"}`).is(http.StatusOK)
		if again := c.once("k", fullPatient).is(http.StatusCreated); string(again.body) != string(first.body) {
			t.Errorf("replayed %s", again.body)
		}
		if got := c.total(); got != 1 {
			t.Errorf("%d patients", got)
		}
		if events := c.get("/v1/events?wait=20").data(); events[0]["type"] != "patient.created" || len(events) > 2 {
			t.Errorf("%v", events)
		}
	})
}

func TestIdempotencyKeyWithAnotherBody(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.once("k", fullPatient).is(http.StatusCreated)
		c.once("k", fullPatient+" ").details(http.StatusUnprocessableEntity, fault.IdempotencyKeyReused, map[string]any{})
		c.once("k2", fullPatient+" ").is(http.StatusCreated)
		if got := c.total(); got != 2 {
			t.Errorf("%d patients", got)
		}
	})
}

func TestIdempotencyKeepsNoFailures(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		reader := n.caller("north", access.PatientsRead)
		c.once("k", `{"name":"Arlo Finch"}`).is(http.StatusBadRequest)
		c.once("k", `{`).is(http.StatusBadRequest)
		c.post("/v1/patients", fullPatient, "Idempotency-Key", "k", "Content-Type", "text/plain").is(http.StatusUnsupportedMediaType)
		reader.once("k", fullPatient).is(http.StatusForbidden)
		if r := c.once("k", fullPatient).is(http.StatusCreated); r.header.Get("Idempotency-Replayed") != "" {
			t.Error("a refused request took the key")
		}
	})
}

func TestIdempotencyKeyBelongsToItsClient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		north, colleague, south := n.caller("north"), n.caller("north"), n.caller("south")
		ids := map[string]bool{}
		for _, c := range []*caller{north, colleague, south} {
			r := c.once("k", fullPatient).is(http.StatusCreated)
			if r.header.Get("Idempotency-Replayed") != "" {
				t.Error("another client's outcome was replayed")
			}
			ids[r.json()["id"].(string)] = true
		}
		// A new token of the same client has the same keys.
		north.token = north.issue("")
		if r := north.once("k", fullPatient).is(http.StatusCreated); r.header.Get("Idempotency-Replayed") != "true" || len(ids) != 3 {
			t.Errorf("%d patients, replayed %v", len(ids), r.header["Idempotency-Replayed"])
		}
	})
}

// The key consists of method, path and the caller's key.
func TestIdempotencyKeyBelongsToItsPath(t *testing.T) {
	t.Parallel()
	key := func(method, path, header string) string {
		r, err := http.NewRequest(method, "http://x"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Idempotency-Key", header)
		once, err := (&exchange{r: r}).once([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		return string(once.Key)
	}
	seen := map[string]bool{}
	for _, k := range []string{key("POST", "/v1/patients", "k"), key("POST", "/v1/reports", "k"), key("PUT", "/v1/patients", "k"), key("POST", "/v1/patients", "l")} {
		if seen[k] {
			t.Error("two requests share a key")
		}
		seen[k] = true
	}
	if !seen[key("POST", "/v1/patients?x=1", "k")] {
		t.Error("the query is part of the key")
	}
}

func TestIdempotencyKeyForm(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, key := range []string{"x", "a key with spaces!", strings.Repeat("k", 255), `"quoted"`} {
			c.once(key, fullPatient).is(http.StatusCreated)
		}
		for key, echo := range map[string]string{"": "", strings.Repeat("k", 256): strings.Repeat("k", 200) + "…", "naïve": "naïve", "a\tb": "a\tb"} {
			c.once(key, fullPatient).wrong("Idempotency-Key", echo)
		}
		c.post("/v1/patients", fullPatient, "Idempotency-Key", "a", "Idempotency-Key", "b").wrong("Idempotency-Key", "a,b")
	})
}

// Of parallel requests with one key, on any number of nodes, one makes the
// patient and all get its answer.
func TestIdempotencyInParallel(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		callers := []*caller{c, c.at(n.another()), c.at(n.another())}
		for round := range 3 {
			key := fmt.Sprintf("round %d", round)
			replies := parallel(64, func(i int) *reply { return callers[i%len(callers)].once(key, fullPatient) })
			fresh := 0
			for _, r := range replies {
				if string(r.is(http.StatusCreated).body) != string(replies[0].body) {
					t.Fatalf("two answers: %s and %s", r.body, replies[0].body)
				}
				if r.header.Get("Idempotency-Replayed") == "" {
					fresh++
				}
			}
			if got := c.total(); fresh != 1 || got != round+1 {
				t.Errorf("round %d: %d were first, %d patients", round, fresh, got)
			}
		}
	})
}
