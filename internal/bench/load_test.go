package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne/internal/id"
)

func TestRenderedRequestsAreGoodHTTP(t *testing.T) {
	now := time.Now()
	s := &stock{filled: 120, patients: []id.Patient{id.New[id.PatientKind](now), id.New[id.PatientKind](now)}}
	for _, tt := range []struct{ path, target string }{
		{"get", "/v1/patients/pat_"}, {"list", "/v1/patients?limit=50"}, {"list-deep", "/v1/patients?limit=50&page=2"},
		{"search", "/v1/patients?search="}, {"post", "/v1/patients"},
	} {
		sc := newScript(findPath(tt.path), s, "bench.example", true)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(sc.render(nil, 7, &grant{token: "at_x"})))))
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		if !strings.HasPrefix(r.URL.String(), tt.target) || r.Header.Get("Authorization") != "Bearer at_x" {
			t.Errorf("%s: %s %v", tt.path, r.URL, r.Header)
		}
		if tt.path != "post" {
			continue
		}
		var c creation
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil || c.Name != personName(7) || r.Header.Get("Idempotency-Key") != "bench-7" {
			t.Errorf("post: %+v, %v, %v", c, r.Header, err)
		}
		if rest, err := io.ReadAll(r.Body); len(rest) > 0 || err != nil {
			t.Errorf("post: %q, %v after the body", rest, err)
		}
	}
}

func TestSlotsGoOnToTheNextClientInTime(t *testing.T) {
	st := &stock{grants: []grant{{token: "a", uses: 3}, {token: "b", uses: 1}, {token: "c", uses: 1}}}
	slots := st.slots(2)
	for _, step := range []struct {
		slot int
		want string
	}{{0, "a"}, {1, "b"}, {0, "a"}, {0, "a"}, {0, "c"}} {
		if err := slots[step.slot].use(); err != nil || slots[step.slot].token != step.want {
			t.Fatalf("slot %d has %q, %v; want %q", step.slot, slots[step.slot].token, err, step.want)
		}
	}
	if err := slots[1].use(); !errors.Is(err, errAllowance) {
		t.Errorf("error %v, want %v", err, errAllowance)
	}
}

func TestClientsAreEnough(t *testing.T) {
	o := &Options{Connections: 64, Duration: time.Minute, Paths: []string{"get", "list"}}
	if n := clientsNeeded(o); n < 64+2*60*fastest/perClient {
		t.Errorf("%d clients", n)
	}
}

func TestPeopleDiffer(t *testing.T) {
	names := map[string]int{}
	for n := range 10_000 {
		names[personName(n)]++
	}
	for name, count := range names {
		if count > 50 {
			t.Errorf("%d of 10000 are called %s", count, name)
		}
	}
	if len(names) < 1000 {
		t.Errorf("only %d names", len(names))
	}
}
