package api

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// offence is something wrong with a request, in the order of judgement.
type offence struct {
	name   string
	status int
	code   fault.Code
}

// The order in which a request is judged. A request with two offences is
// answered for the first.
var judged = []offence{
	{"no token", http.StatusUnauthorized, fault.Unauthorized},
	{"over the limit", http.StatusTooManyRequests, fault.RateLimitExceeded},
	{"unknown path", http.StatusNotFound, fault.NotFound},
	{"wrong method", http.StatusMethodNotAllowed, fault.MethodNotAllowed},
	{"no scope", http.StatusForbidden, fault.Forbidden},
	{"bad query", http.StatusBadRequest, fault.InvalidParameter},
	{"wrong media type", http.StatusUnsupportedMediaType, fault.UnsupportedMediaType},
	{"too large", http.StatusRequestEntityTooLarge, fault.PayloadTooLarge},
	{"bad body", http.StatusBadRequest, fault.InvalidBody},
	{"bad member", http.StatusBadRequest, fault.InvalidParameter},
	{"unknown record", http.StatusNotFound, fault.NotFound},
	{"other version", http.StatusPreconditionFailed, fault.PreconditionFailed},
}

// excludes are pairs that no request can have.
var excludes = map[string]bool{
	"unknown path+wrong method": true, "too large+bad body": true, "too large+bad member": true, "bad body+bad member": true,
}

// offend changes a patient in a way that has all these offences.
func offend(full, poor, scopeless *caller, id string, offences ...offence) *reply {
	has := map[string]bool{}
	for _, o := range offences {
		has[o.name] = true
	}
	method, path, body, media, version := "PATCH", "/v1/patients/"+id, `{"gender":"x"}`, "application/json", "*"
	header := []string{}
	c := full
	if has["no scope"] {
		c = scopeless
	}
	if has["over the limit"] {
		c = poor
	}
	if has["unknown record"] {
		path = "/v1/patients/pat_01kf0k8y20a14c3emmv2g2jemj"
	}
	if has["unknown path"] {
		path = "/v1/nothing"
	}
	if has["wrong method"] {
		method = "PUT"
	}
	if has["bad query"] {
		path += "?color=red"
	}
	if has["wrong media type"] {
		media = "text/plain"
	}
	if has["other version"] {
		version = `"99"`
	}
	switch {
	case has["too large"]:
		body = strings.Repeat(" ", bodyLimit+1)
	case has["bad body"]:
		body = `{`
	case has["bad member"]:
		body = `{"date_of_birth":"01/02/2003"}`
	}
	header = append(header, "Content-Type", media, "If-Match", version)
	if has["no token"] {
		return c.node.send(method, path, body, header...)
	}
	return c.send(method, path, body, header...)
}

func TestOrderOfJudgement(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		full, poor, scopeless := n.caller("north"), n.caller("north", access.PatientsRead), n.caller("north", access.PatientsRead)
		id := full.create("Arlo Finch")
		poor.exhaust()
		offend(full, poor, scopeless, id).is(http.StatusOK)
		for i, first := range judged {
			offend(full, poor, scopeless, id, first).fault(first.status, first.code)
			for _, second := range judged[i+1:] {
				if excludes[first.name+"+"+second.name] {
					continue
				}
				r := offend(full, poor, scopeless, id, first, second)
				if r.status != first.status {
					t.Errorf("%s and %s: %d, want %d", first.name, second.name, r.status, first.status)
					continue
				}
				r.fault(first.status, first.code)
			}
		}
	})
}

func TestNoTokenIsAlways401UnderV1(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for _, path := range []string{"/v1", "/v1/", "/v1/x", "/v1/patients", "/v1/patients/", "/v1/patients/x?page=0", "/v1//x", "/v1/../healthz"} {
			for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
				r := n.send(method, path, "")
				r.fault(http.StatusUnauthorized, fault.Unauthorized)
				if got := r.header.Get("WWW-Authenticate"); got != `Bearer realm="anodyne"` {
					t.Errorf("%s: WWW-Authenticate %q", r.what, got)
				}
			}
		}
	})
}
