package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
)

// running is a server with an organisation "bench1" that has a patient of
// somebody, and an empty one.
type running struct {
	url            string
	others, empty  []Credentials
	newCredentials func(org string, tier access.Tier) Credentials
}

func startRunning(t *testing.T) *running {
	t.Helper()
	o := small(t)
	o.silence()
	o.Patients, o.Paths = 1, []string{"get"}
	db, err := openDatabase(&o, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fill(t.Context(), db, &o); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), db.Config)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{}
	client := func(org string, tier access.Tier) Credentials {
		secret, hash := oauth.NewSecret()
		c, err := s.System().CreateClient(t.Context(), clients.NewClient{Org: org, Name: "load", Tier: tier, Scopes: access.AllScopes, SecretHash: hash})
		if err != nil {
			t.Fatal(err)
		}
		return Credentials{c.ID.String(), secret}
	}
	r.others = []Credentials{client("bench1", access.Enterprise)}
	for range 3 {
		r.empty = append(r.empty, client("empty", access.Enterprise))
	}
	r.newCredentials = client
	server, err := startServer(t.Context(), &o, db)
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + server.address
	t.Cleanup(func() {
		if err := server.stop(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *running) options(t *testing.T, clients ...Credentials) Options {
	o := small(t)
	o.Server, o.Engine, o.Target, o.Clients, o.Nodes = "", "", r.url, clients, 2
	return o
}

func TestTargetIsMeasuredThroughItsAPI(t *testing.T) {
	r := startRunning(t)
	o := r.options(t, r.empty...)
	added := map[string]int{}
	o.Progress = func(step string, done, total int) {
		if done == total {
			added[step] += total
		}
	}
	result, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if added["patients"] != o.Patients || added["records"] != o.Records || result.Patients != o.Patients || result.Records != o.Records {
		t.Errorf("added %v, and the result says %d and %d", added, result.Patients, result.Records)
	}
	var measured, left []string
	for _, p := range result.Paths {
		measured = append(measured, p.Name)
		if p.Requests == 0 || p.Rate <= 0 || p.Latency.P50 <= 0 || p.Errors > 0 {
			t.Errorf("%s was not measured: %+v", p.Name, p)
		}
		if p.FloorRate != 0 || p.Ratio.Total != 0 || p.Gate != 0 || p.CPU != 0 || p.Allocations != 0 {
			t.Errorf("%s is held against something that cannot be known: %+v", p.Name, p)
		}
	}
	for _, s := range result.Skipped {
		left = append(left, s.Path)
	}
	if want := []string{webhookPath, startPath, "nodes"}; !slices.Equal(left, want) || len(measured)+2 != len(o.Paths) {
		t.Errorf("left out %v, want %v; measured %v of %v", left, want, measured, o.Paths)
	}
	if result.ServerPeakRSS != 0 || result.RSSBound != 0 || result.Target != r.url || result.Engine != "" {
		t.Errorf("result %+v", result)
	}

	// Again: what is there is used.
	clear(added)
	o.Paths = []string{"get", "range"}
	again, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if added["patients"] != 0 || added["records"] != 0 || again.Patients < result.Patients {
		t.Errorf("the second run added %v to %d patients", added, again.Patients)
	}
}

func TestTargetIsRefused(t *testing.T) {
	r := startRunning(t)
	wrong := Credentials{r.empty[0].ID, r.others[0].Secret}
	for name, tt := range map[string]struct {
		clients []Credentials
		want    string
	}{
		"patients of somebody": {r.others, "no bench made"},
		"wrong secret":         {[]Credentials{wrong}, "status 401"},
		"two organisations":    {[]Credentials{r.empty[0], r.others[0]}, "client 2"},
		"allowance used up":    {[]Credentials{r.newCredentials("small", access.Standard)}, "allowances"},
	} {
		t.Run(name, func(t *testing.T) {
			o := r.options(t, tt.clients...)
			o.Paths = []string{"get"}
			if tt.want == "allowances" {
				o.Patients = 2000 // more than an hour's
			}
			if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTargetOptions(t *testing.T) {
	good := Credentials{"c", "s"}
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"good":       {func(*Options) {}, ""},
		"no URL":     {func(o *Options) { o.Target = "pain.example.org" }, "URL"},
		"password":   {func(o *Options) { o.Target = "https://a:b@pain.example.org" }, "URL"},
		"path":       {func(o *Options) { o.Target = "https://pain.example.org/v1" }, "URL"},
		"no clients": {func(o *Options) { o.Clients = nil }, "clients"},
		"server":     {func(o *Options) { o.Server = "x" }, "program"},
		"database":   {func(o *Options) { o.Database = "postgres://x" }, "database"},
		"profile":    {func(o *Options) { o.ProfileDir = "x" }, "profiled"},
	} {
		t.Run(name, func(t *testing.T) {
			o := small(t)
			o.Server, o.Engine, o.Target, o.Clients = "", "", "https://pain.example.org", []Credentials{good}
			tt.change(&o)
			err := o.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestReadCredentials(t *testing.T) {
	const one = `{"client_id":"a","client_secret":"b","name":"load"}`
	if list, err := ReadCredentials(strings.NewReader(one + "\n" + one)); err != nil || len(list) != 2 || list[1] != (Credentials{"a", "b"}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{"", "hello", `{"client_id":"a"}`, one + "{"} {
		if list, err := ReadCredentials(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken for %v", text, list)
		}
	}
}

// The load speaks TLS, and names the host.
func TestLoadOverTLS(t *testing.T) {
	var host string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	target := newTarget(&Options{Target: "https://example.com", Connections: 1})
	target.server.address, target.server.tls.RootCAs = server.Listener.Addr().String(), roots
	for name, config := range map[string]*tls.Config{"trusted": target.server.tls, "not trusted": {ServerName: "example.com"}} {
		target.server.tls = config
		conn, err := target.server.dial(t.Context())
		if (err == nil) != (name == "trusted") {
			t.Fatalf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		s := newScript(findPath("list"), target.server.name(), false)
		if _, err := conn.Write(s.render(nil, &slot{grant: grant{token: "at_x"}})); err != nil {
			t.Fatal(err)
		}
		if status, err := readAnswer(bufio.NewReader(conn)); status != 200 || err != nil || host != "example.com" {
			t.Errorf("status %d, %v, host %q", status, err, host)
		}
		if err := conn.Close(); err != nil {
			t.Error(fmt.Errorf("closing: %w", err))
		}
	}
}

func TestAllowanceIsSharedOut(t *testing.T) {
	for uses, want := range map[int]int{0: 0, 2: 2, 10: 4, 100_000: 4} {
		target := newTarget(&Options{Target: "http://x", Connections: 4})
		target.share(grant{token: "at_x", uses: uses})
		sum := 0
		for _, g := range target.stock.grants {
			if g.uses < 1 || g.token != "at_x" {
				t.Errorf("a part of %d is %+v", uses, g)
			}
			sum += g.uses
		}
		if sum != uses || len(target.stock.grants) != want {
			t.Errorf("%d are shared out as %v", uses, target.stock.grants)
		}
	}
}
