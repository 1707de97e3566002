package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
)

func TestRenderedRequestsAreGoodHTTP(t *testing.T) {
	now := time.Now()
	s := &stock{filled: 120, patients: []id.Patient{id.New[id.PatientKind](now), id.New[id.PatientKind](now)}}
	for _, tt := range []struct{ path, target string }{
		{"get", "/v1/patients/pat_"}, {"list", "/v1/patients?limit=50"}, {"list-deep", "/v1/patients?limit=50&page=2"},
		{"search", "/v1/patients?search="}, {"search-words", "/v1/patients?search="}, {"list-name", "/v1/patients?limit=50&sort=name&page=1"}, {"post", "/v1/patients"},
	} {
		sc := newScript(findPath(tt.path), "bench.example", true)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(sc.render(nil, &slot{stock: s, grant: grant{token: "at_x"}, n: 7})))))
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
	slots := stocks{st}.slots(2)
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
	if n := clientsNeeded(o, 1); n < 64+2*60*fastest/perClient {
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

func TestConnectionsAreSharedByAllNodes(t *testing.T) {
	var nodes []*child
	for range 2 {
		c, err := startFloor(context.Background(), program(t), answerToRepeat)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.stop(); err != nil {
				t.Error(err)
			}
		}()
		nodes = append(nodes, c)
	}
	st := new(stock)
	sd, err := connect(t.Context(), nodes, newScript(findPath("list"), "x", false), stocks{st}.slots(6), false)
	if err != nil {
		t.Fatal(err)
	}
	defer sd.close()
	count := map[string]int{}
	for _, l := range sd.links {
		count[l.RemoteAddr().String()]++
	}
	if count[nodes[0].address] != 3 || count[nodes[1].address] != 3 {
		t.Errorf("connections %v", count)
	}
}

// Reads find the patients that were asked for, and not those that writes added.
func TestReadsComeBeforeWrites(t *testing.T) {
	writing := ""
	for _, name := range PathNames() {
		if reads := findPath(name).method == http.MethodGet; !reads {
			writing = name
		} else if writing != "" {
			t.Errorf("%s comes after %s", name, writing)
		}
	}
}

// The baseline server distinguishes the requests of a mix, which has two
// writes in ten.
func TestMixedRequestsHaveShapes(t *testing.T) {
	st := &stock{patients: []id.Patient{id.New[id.PatientKind](time.Now())}, courses: 1}
	s := newScript(findPath("mixed"), "x", false)
	shapes, writes := map[string]*path{}, 0
	for n := range len(s.parts) {
		p := s.part(n)
		if p.method != http.MethodGet {
			writes++
		}
		key := shape(p.method, string(p.target(nil, st, n)))
		if other := shapes[key]; other != nil && other != p.path {
			t.Errorf("%s and %s look the same: %s", other.name, p.name, key)
		}
		shapes[key] = p.path
	}
	if len(s.parts) != 10 || writes != 2 || len(shapes) != 5 {
		t.Errorf("%d of %d requests write, in %d shapes", writes, len(s.parts), len(shapes))
	}
}

// The latencies of reads and writes in a mix are recorded separately, however
// few requests a slice has.
func TestReadsAndWritesAreCountedApart(t *testing.T) {
	c, err := startFloor(context.Background(), program(t), recordings{{Status: 201, Header: http.Header{"Content-Length": {"2"}}, Body: []byte("{}")}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	}()
	st := &stock{patients: []id.Patient{id.New[id.PatientKind](time.Now())}, courses: 1}
	sd, err := connect(t.Context(), []*child{c}, newScript(findPath("mixed"), "x", false), stocks{st}.slots(3), false)
	if err != nil {
		t.Fatal(err)
	}
	defer sd.close()
	for range 40 { // each is a request of each connection at least
		turn, err := sd.slice(0)
		if err != nil || turn.requests < 3 {
			t.Fatalf("%d requests, %v", turn.requests, err)
		}
	}
	reads, writes, all := sd.latencies()
	if all.total != 120 || reads.total != 96 || writes.total != 24 || reads.quantile(0.5) <= 0 || writes.quantile(0.5) <= 0 {
		t.Errorf("%d requests: %d reads, %d writes", all.total, reads.total, writes.total)
	}
	// What reads is answered 201 here.
	if wrong, first := sd.errors(); wrong != 96 || first != "status 201 instead of 200" {
		t.Errorf("%d wrong answers, the first: %s", wrong, first)
	}
}
