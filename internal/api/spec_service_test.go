package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

const formType = "application/x-www-form-urlencoded"

// form posts a form.
func (n *node) form(path string, fields url.Values, header ...string) *reply {
	n.tb.Helper()
	return n.send(http.MethodPost, path, fields.Encode(), append([]string{"Content-Type", formType}, header...)...)
}

// credentials are the client's, and more fields, for a form.
func (c *caller) credentials(more ...string) url.Values {
	fields := url.Values{"client_id": {c.client.ID.String()}, "client_secret": {c.secret}}
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	return fields
}

const grantType, clientCredentials = "grant_type", "client_credentials"

func TestSpec4_12_Token(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusOK)
	})
}

func TestSpec5_ClientIDAndSecret(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		if !strings.HasPrefix(c.client.ID.String(), "cli_") || !strings.HasPrefix(c.secret, "cs_") {
			t.Errorf("client id %s, secret of %d characters", c.client.ID, len(c.secret))
		}
		c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusOK)
	})
}

func TestSpec5_TokenRequest(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusOK)
		token := r.json()
		wantMembers(t, token, "access_token", "token_type", "expires_in", "scope")
		if token["token_type"] != "Bearer" || token["expires_in"] != float64(3600) || token["scope"] != access.AllScopes.String() {
			t.Errorf("%v %v %v", token["token_type"], token["expires_in"], token["scope"])
		}
		if r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("Cache-Control %q", r.header.Get("Cache-Control"))
		}
	})
}

func TestSpec5_BearerHeader(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		token := c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusOK).json()["access_token"].(string)
		n.send("GET", "/v1/patients", "", "Authorization", "Bearer "+token).is(http.StatusOK)
		n.send("GET", "/v1/patients", "", "Authorization", "bearer "+token).is(http.StatusOK)
		n.send("GET", "/v1/patients?access_token="+token, "").is(http.StatusUnauthorized)
	})
}

func TestSpec5_MissingOrInvalidIs401(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		n.send("GET", "/v1/patients", "").details(http.StatusUnauthorized, fault.Unauthorized, map[string]any{"reason": "missing_token"})
		invalid := map[string]any{"reason": "invalid_token"}
		for _, header := range []string{"Bearer", "Bearer x", "Bearer " + c.token[:len(c.token)-1], "Bearer " + c.token + "x", "Bearer  " + c.token,
			"Bearer " + c.token[:len(c.token)-1] + "!", "Bearer " + strings.ToUpper(c.token), "Bearer " + c.secret} {
			n.send("GET", "/v1/patients", "", "Authorization", header).details(http.StatusUnauthorized, fault.Unauthorized, invalid)
		}
		n.send("GET", "/v1/patients", "", "Authorization", "Bearer "+c.token, "Authorization", "Bearer "+c.token).
			details(http.StatusUnauthorized, fault.Unauthorized, invalid)
	})
}

func TestSpec5_InsufficientIs403(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north", access.PatientsRead)
		c.get("/v1/patients").is(http.StatusOK)
		c.post("/v1/patients", fullPatient).details(http.StatusForbidden, fault.Forbidden,
			map[string]any{"required_scope": "patients:write", "granted_scopes": []any{"patients:read"}})
	})
}

func TestSpec6_PatientCreated(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		events := c.get("/v1/events?wait=20").data()
		if len(events) != 1 {
			t.Fatalf("%d events: %v", len(events), events)
		}
		e := events[0]
		wantMembers(t, e, "id", "type", "timestamp", "data")
		if e["type"] != "patient.created" || !strings.HasPrefix(e["id"].(string), "evt_") || !timeForm.MatchString(e["timestamp"].(string)) {
			t.Errorf("%v", e)
		}
		wantMembers(t, e["data"].(map[string]any), "patient_id")
		if e["data"].(map[string]any)["patient_id"] != id {
			t.Errorf("data %v of %s", e["data"], id)
		}
	})
}

func TestSpec7_Statuses(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north", access.PatientsRead|access.PatientsWrite)
		c.get("/v1/patients").is(http.StatusOK)
		c.post("/v1/patients", fullPatient).is(http.StatusCreated)
		c.get("/v1/patients?page=x").fault(http.StatusBadRequest, fault.InvalidParameter)
		n.send("GET", "/v1/patients", "").fault(http.StatusUnauthorized, fault.Unauthorized)
		c.get("/v1/audit").fault(http.StatusForbidden, fault.Forbidden)
		c.get("/v1/patients/pat_x").fault(http.StatusNotFound, fault.NotFound)
		c.exhaust()
		c.get("/v1/patients").fault(http.StatusTooManyRequests, fault.RateLimitExceeded)
	})
}

// broken is an authority that fails.
type broken struct {
	Authority
	fail func() error
}

func (b broken) Verify(context.Context, []string) (*access.Principal, error) { return nil, b.fail() }

func TestSpec7_InternalServerError(t *testing.T) {
	const inside = "the inside of the service"
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New(inside) },
		"a panic":  func() error { panic(inside) },
	} {
		t.Run(name, func(t *testing.T) {
			eachWith(t, func(cfg *Config) { cfg.Authority = broken{cfg.Authority, fail} }, func(t *testing.T, n *node) {
				r := n.send("GET", "/v1/patients", "", "Authorization", "Bearer x", "X-Request-Id", "my-request")
				r.details(http.StatusInternalServerError, fault.Internal, map[string]any{"request_id": "my-request"})
				if strings.Contains(string(r.body), inside) {
					t.Errorf("the answer tells: %s", r.body)
				}
				r.limits()
				n.log.mu.Lock()
				defer n.log.mu.Unlock()
				if log := n.log.text.String(); !strings.Contains(log, inside) || !strings.Contains(log, "my-request") {
					t.Errorf("the log does not tell: %s", log)
				}
			})
		})
	}
}

func TestSpec7_ErrorBody(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, r := range []*reply{c.get("/v1/patients?page=x"), c.get("/v1/patients/x"), n.send("GET", "/v1/x", ""), c.send("DELETE", "/v1/patients", ""), c.post("/v1/patients", "{")} {
			body := r.json()
			wantMembers(t, body, "error")
			wantMembers(t, body["error"].(map[string]any), "code", "message", "details")
		}
	})
}

func TestSpec7_InvalidParameter(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.get("/v1/patients?limit=many").wrong("limit", "many")
		c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":19900101}`).wrong("date_of_birth", float64(19900101))
	})
}

func TestSpec7_DateMessage(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		future := time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly) // even if midnight passes
		for _, day := range []string{"01/02/1990", "1990-1-2", "2025-02-30", "1990-01-02T00:00:00Z", "yesterday", "1899-12-31", future} {
			r := c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":`+quote(day)+`}`)
			r.wrong("date_of_birth", day)
			if !strings.Contains(r.message(), "YYYY-MM-DD") {
				t.Errorf("%q: %q", day, r.message())
			}
		}
	})
}

func TestSpec8_Tiers(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for tier, limit := range map[access.Tier]int64{access.Standard: 1_000, access.Professional: 10_000, access.Enterprise: 100_000} {
			c := n.callerOf("north", tier, access.AllScopes)
			got, remaining, _ := c.get("/v1/patients").is(http.StatusOK).limits()
			if got != limit || remaining != limit-1 {
				t.Errorf("%s: %d of %d left, want a limit of %d", tier, remaining, got, limit)
			}
		}
	})
}

// exhaust uses up what is left of the caller's allowance.
func (c *caller) exhaust() {
	c.tb.Helper()
	limit := c.client.Tier.Limit()
	if _, err := c.store.System().Reserve(context.Background(), c.client.No, limit, limit, c.clock.now()); err != nil {
		c.tb.Fatal(err)
	}
	for range limit { // what the node had reserved ahead
		if c.get("/v1/nothing").status == http.StatusTooManyRequests {
			return
		}
	}
	c.tb.Fatal("the allowance has no end")
}

func TestSpec8_ExceedingIs429(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		_, _, reset := c.get("/v1/patients").is(http.StatusOK).limits()
		c.exhaust()
		r := c.get("/v1/patients")
		r.details(http.StatusTooManyRequests, fault.RateLimitExceeded, map[string]any{"limit": float64(1000), "reset": float64(reset)})
		if wait := r.number("Retry-After"); wait < 3500 || wait > 3600 {
			t.Errorf("Retry-After %d", wait)
		}
		if limit, remaining, again := r.limits(); limit != 1000 || remaining != 0 || again != reset {
			t.Errorf("limit %d, remaining %d, reset %d, before %d", limit, remaining, again, reset)
		}
		c.clock.forward(time.Hour)
		c.token = c.issue("")
		if got := c.get("/v1/patients").is(http.StatusOK).remaining(); got != 999 {
			t.Errorf("%d left in the new window", got)
		}
	})
}

func TestSpec8_HeadersOnEveryResponse(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, poor := n.caller("north"), n.caller("north")
		id := c.create("Arlo Finch")
		poor.exhaust()
		for want, replies := range map[int][]*reply{
			200: {c.get("/v1/patients"), c.get("/v1/patients/" + id), c.get("/v1/events"), c.get("/v1/audit"), c.send("HEAD", "/v1/patients", ""),
				n.send("GET", "/healthz", ""), n.send("GET", "/readyz", ""), n.send("GET", "/openapi.json", ""), n.send("GET", "/openapi.yaml", ""),
				n.send("GET", "/.well-known/oauth-authorization-server", ""), c.form("/oauth/token", c.credentials(grantType, clientCredentials)),
				c.form("/oauth/revoke", c.credentials("token", "x")), c.form("/oauth/introspect", c.credentials("token", "x"))},
			201: {c.post("/v1/patients", fullPatient)},
			304: {c.get("/v1/patients/"+id, "If-None-Match", "*")},
			400: {c.get("/v1/patients?page=0"), c.post("/v1/patients", "{"), c.form("/oauth/token", c.credentials())},
			401: {n.send("GET", "/v1/patients", ""), n.form("/oauth/token", nil)},
			404: {c.get("/v1/nothing"), c.get("/v1/patients/x"), n.send("GET", "/nothing", ""), n.send("GET", "/", "")},
			405: {c.send("DELETE", "/v1/patients", ""), n.send("GET", "/oauth/token", ""), n.send("POST", "/healthz", "")},
			412: {c.send("PATCH", "/v1/patients/"+id, "{}", "If-Match", `"9"`)},
			413: {c.post("/v1/patients", strings.Repeat(" ", bodyLimit+1))},
			415: {c.post("/v1/patients", "x", "Content-Type", "text/xml")},
			429: {poor.get("/v1/patients"), poor.form("/oauth/token", poor.credentials(grantType, clientCredentials))},
		} {
			for _, r := range replies {
				limit, remaining, reset := r.is(want).limits()
				if limit != 1000 || remaining < 0 || remaining > limit || reset < time.Now().Unix() || reset > time.Now().Unix()+3601 {
					t.Errorf("%s: %d: limit %d, remaining %d, reset %d", r.what, want, limit, remaining, reset)
				}
				if got := r.header.Get("RateLimit-Policy"); got != `"hour";q=1000;w=3600` {
					t.Errorf("%s: RateLimit-Policy %q", r.what, got)
				}
				if got, begins := r.header.Get("RateLimit"), fmt.Sprintf(`"hour";r=%d;t=`, remaining); !strings.HasPrefix(got, begins) {
					t.Errorf("%s: RateLimit %q", r.what, got)
				}
			}
		}
	})
}

func TestSpec8_HeaderMeanings(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		before := n.clock.now().Unix()
		_, _, reset := c.get("/v1/patients").limits()
		if after := n.clock.now().Unix(); reset < before+3600 || reset > after+3601 {
			t.Errorf("reset %d is not an hour from %d", reset, before)
		}
		for want := int64(998); want > 990; want-- {
			limit, remaining, again := c.get("/v1/patients").limits()
			if limit != 1000 || remaining != want || again != reset {
				t.Fatalf("limit %d, remaining %d, reset %d; want 1000, %d, %d", limit, remaining, again, want, reset)
			}
		}
	})
}

func TestSpec9_VersionInPath(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.get("/v1/patients").is(http.StatusOK)
		for _, path := range []string{"/v2/patients", "/patients", "/V1/patients", "/v1", "/v1/", "/v10/patients"} {
			c.get(path).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "path", "id": path})
		}
	})
}
