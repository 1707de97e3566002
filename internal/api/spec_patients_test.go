package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestSpec4_AllNeedAuthorization(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for _, route := range n.api.Routes() {
			method, pattern, _ := strings.Cut(route, " ")
			if !strings.HasPrefix(pattern, "/v1/") {
				continue
			}
			n.send(method, strings.ReplaceAll(pattern, "{id}", "pat_x"), "").fault(http.StatusUnauthorized, fault.Unauthorized)
		}
	})
}

func TestSpec4_IDIsAString(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id, ok := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["id"].(string)
		if !ok || !idForm.MatchString(id) {
			t.Fatalf("id %v", id)
		}
		c.get("/v1/patients/" + id).is(http.StatusOK)
	})
}

func TestSpec4_1_ListsPatients(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		if got := c.get("/v1/patients").data(); got == nil || len(got) != 0 {
			t.Errorf("an empty list is %v", got)
		}
		want := []string{"Cleo Wren", "Arlo Finch", "Berta Finch"}
		for _, name := range want {
			c.create(name)
		}
		if got := c.get("/v1/patients").names(); !slices.Equal(got, want) {
			t.Errorf("listed %q, created %q", got, want)
		}
	})
}

func TestSpec4_1_ParametersAreOptional(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.create("Arlo Finch")
		for _, query := range []string{"", "?", "?page=1", "?limit=5", "?search=arlo", "?search=", "?page=1&limit=5&search=arlo"} {
			if got := c.get("/v1/patients" + query).names(); !slices.Equal(got, []string{"Arlo Finch"}) {
				t.Errorf("%q: %q", query, got)
			}
		}
	})
}

func TestSpec4_1_PageDefaultsTo1(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		first := c.create("Arlo Finch")
		c.create("Berta Finch")
		r := c.get("/v1/patients?limit=1")
		if got := r.pagination(); got != [3]int{1, 1, 2} || r.data()[0]["id"] != first {
			t.Errorf("%v %v", got, r.data())
		}
	})
}

// fill creates patients, some at a time.
func (c *caller) fill(count int) {
	c.tb.Helper()
	replies := parallel(count, func(i int) *reply {
		return c.post("/v1/patients", fmt.Sprintf(`{"name":"Robin Starling %03d","date_of_birth":"1980-02-29"}`, i))
	})
	for _, r := range replies {
		r.is(http.StatusCreated)
	}
}

func TestSpec4_1_LimitDefaultsTo50(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.fill(51)
		r := c.get("/v1/patients")
		if got := r.pagination(); got != [3]int{1, 50, 51} || len(r.data()) != 50 {
			t.Errorf("%v, %d items", got, len(r.data()))
		}
	})
}

func TestSpec4_1_LimitMaximumIs100(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.fill(101)
		r := c.get("/v1/patients?limit=100")
		if got := r.pagination(); got != [3]int{1, 100, 101} || len(r.data()) != 100 {
			t.Errorf("%v, %d items", got, len(r.data()))
		}
		c.get("/v1/patients?limit=101").wrong("limit", "101")
	})
}

func TestSpec4_1_SearchByName(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, name := range []string{"José Núñez", "Ann O'Neil", "100% Real_Name", "Jörg Straße", "Ann-Marie Null"} {
			c.create(name)
		}
		for term, want := range map[string][]string{
			"nunez":   {"José Núñez"},
			"NÚÑEZ":   {"José Núñez"},
			"osé":     {"José Núñez"},
			"ann":     {"Ann O'Neil", "Ann-Marie Null"},
			"  ann  ": {"Ann O'Neil", "Ann-Marie Null"},
			"%":       {"100% Real_Name"},
			"_":       {"100% Real_Name"},
			"o'n":     {"Ann O'Neil"},
			"strasse": {"Jörg Straße"},
			"nobody":  nil,
			"e":       {"José Núñez", "Ann O'Neil", "100% Real_Name", "Jörg Straße", "Ann-Marie Null"},
		} {
			r := c.get("/v1/patients?search=" + escaped(term))
			if got := r.names(); !slices.Equal(got, want) || r.pagination()[2] != len(want) {
				t.Errorf("search %q: %q of %d, want %q", term, got, r.pagination()[2], want)
			}
		}
	})
}

func TestSpec4_1_SearchByIdentifier(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		first, second := c.create("Arlo Finch"), c.create("Berta Finch")
		for term, want := range map[string]int{first: 1, second: 1, "pat_": 2, first[:8]: 2, first + "0": 0, "pat_zzz": 0} {
			r := c.get("/v1/patients?search=" + term)
			if got := r.pagination()[2]; got != want {
				t.Errorf("search %q: %d patients, want %d", term, got, want)
			}
			if want == 1 && r.data()[0]["id"] != term {
				t.Errorf("search %q found %v", term, r.data())
			}
		}
	})
}

func TestSpec4_1_Response(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		body := c.get("/v1/patients").is(http.StatusOK).json()
		wantMembers(t, body, "data", "pagination")
		if _, ok := body["data"].([]any); !ok {
			t.Errorf("data is %T", body["data"])
		}
	})
}

func TestSpec4_2_DetailAtTopLevel(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		detail := c.get("/v1/patients/" + id).is(http.StatusOK).json()
		if detail["id"] != id || detail["name"] != "Arlo Finch" {
			t.Errorf("%v", detail)
		}
	})
}

func TestSpec4_2_UnknownIs404(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, id := range []string{"pat_01kf0k8y20a14c3emmv2g2jemj", "pat_1", "42", "x%20y", "a%2Fb", "PAT_01KF0K8Y20A14C3EMMV2G2JEMJ"} {
			details := c.get("/v1/patients/"+id).fault(http.StatusNotFound, fault.NotFound)
			if details["resource"] != "patient" || details["id"] != unescaped(id) {
				t.Errorf("%q: %v", id, details)
			}
		}
	})
}

func TestSpec4_3_Creates(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.post("/v1/patients", fullPatient).is(http.StatusCreated)
		id := r.json()["id"].(string)
		if got := r.header.Get("Location"); got != "/v1/patients/"+id {
			t.Errorf("Location %q", got)
		}
		if read := c.get(r.header.Get("Location")).is(http.StatusOK); string(read.body) != string(r.body) || read.header.Get("ETag") != r.header.Get("ETag") {
			t.Errorf("created %s, read %s", r.body, read.body)
		}
	})
}

func TestSpec4_3_ContentType(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.post("/v1/patients", fullPatient, "Content-Type", "application/json").is(http.StatusCreated)
		c.post("/v1/patients", fullPatient, "Content-Type", "text/plain").is(http.StatusUnsupportedMediaType)
	})
}

func TestSpec4_3_Payload(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		body := `{"name":"Arlo Finch","date_of_birth":"1990-01-01","gender":"male","contact":{"email":"arlo@example.org"}}`
		detail := c.post("/v1/patients", body).is(http.StatusCreated).json()
		if detail["gender"] != "male" || detail["contact"].(map[string]any)["email"] != "arlo@example.org" {
			t.Errorf("%v", detail)
		}
	})
}
