package bench

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/id"
)

// Credentials are the credentials of a client, as printed by "anodyne client
// create --json".
type Credentials struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

// ReadCredentials reads clients from a sequence of JSON objects.
func ReadCredentials(r io.Reader) (list []Credentials, err error) {
	decoder := json.NewDecoder(r)
	for {
		var c Credentials
		switch err := decoder.Decode(&c); {
		case errors.Is(err, io.EOF) && len(list) > 0:
			return list, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("there is no client in it")
		case err != nil || c.ID == "" || c.Secret == "":
			return nil, errors.New("want JSON objects with client_id and client_secret, one after the other")
		}
		list = append(list, c)
	}
}

// NoFloor explains why the paths of a target have no ratio.
const NoFloor = "the server was already running, perhaps on another machine: there is no baseline to compare it with, and its CPU time and memory are unknown"

// cannotTarget explains why some measurements are not available for a target.
var cannotTarget = map[string]string{
	startPath:   "the target is not ours to stop",
	webhookPath: "the target would not send to a receiver on loopback",
	"nodes":     "how many servers answer behind its address is the target's affair",
}

// checkTarget reports errors in the options of a target.
func (o *Options) checkTarget(bad func(format string, args ...any)) {
	u, err := url.Parse(o.Target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		bad("the target must be a URL such as https://pain.example.org")
	}
	if len(o.Clients) == 0 {
		bad("a target needs clients to ask with")
	}
	if o.Server != "" || o.Engine != "" || o.Database != "" {
		bad("a target has its program, its engine and its database already")
	}
	if o.Organizations > 1 {
		bad("a target is measured with one organization, that of its clients")
	}
	if o.ProfileDir != "" {
		bad("a target cannot be profiled from here")
	}
}

// runTarget measures a running server through its API alone.
func runTarget(ctx context.Context, o Options) (result Result, err error) {
	result = newResult(&o)
	t := newTarget(&o)
	defer t.close()
	if err := t.fill(ctx, &o); err != nil {
		return result, fmt.Errorf("filling the target: %w", err)
	}
	result.Patients, result.Records = t.stock.filled, t.stock.records
	m := &measurement{Options: o, server: t.server, slots: t.slots}
	m.Paths = nil
	for _, name := range o.Paths {
		if reason := cannotTarget[name]; reason != "" {
			result.Skipped = append(result.Skipped, Skip{name, reason})
		} else {
			m.Paths = append(m.Paths, name)
		}
	}
	if o.Nodes > 1 {
		result.Skipped = append(result.Skipped, Skip{"nodes", cannotTarget["nodes"]})
	}
	return result, m.all(ctx, &result)
}

// target is a server that was not started here.
type target struct {
	base   string
	server *child
	stock  *stock
	slots  []*slot
	calls  []*caller // one per slot
	tokens []string  // one per client
}

func newTarget(o *Options) *target {
	u, _ := url.Parse(o.Target) // already checked
	t := &target{base: u.Scheme + "://" + u.Host, server: &child{address: u.Host, host: u.Host}, stock: new(stock)}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
		t.server.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	if u.Port() == "" {
		t.server.address = net.JoinHostPort(u.Hostname(), port)
	}
	t.slots = stocks{t.stock}.slots(o.Connections)
	for _, s := range t.slots {
		t.calls = append(t.calls, newCaller(t.base, s, 1))
	}
	return t
}

func (t *target) close() {
	for _, c := range t.calls {
		c.close()
	}
}

// listing is the part of a list response that is needed.
type listing struct {
	Data []struct {
		ID id.Patient `json:"id"`
	} `json:"data"`
	Pagination struct {
		Total int `json:"total"`
	} `json:"pagination"`
}

// fill adds the missing patients and records, and reads some identifiers.
func (t *target) fill(ctx context.Context, o *Options) error {
	if err := t.signIn(ctx, o.Clients); err != nil {
		return err
	}
	here, err := t.ours(ctx)
	if err != nil {
		return err
	}
	missing, bodies := max(0, o.Patients-here), arrivals()
	err = t.each(ctx, missing, func(ctx context.Context, c *caller, n int) error {
		return c.call(ctx, http.MethodPost, "/v1/patients", bodies[n%len(bodies)], http.StatusCreated, nil)
	}, func(done int) { o.Progress("patients", done, missing) })
	if err != nil {
		return err
	}
	t.stock.filled = here + missing
	if err := t.sample(ctx); err != nil {
		return err
	}
	if o.Records > 0 && readsRecords(o.Paths) {
		return t.addRecords(ctx, o)
	}
	return nil
}

// signIn gets a token for each client, and its remaining allowance.
func (t *target) signIn(ctx context.Context, clients []Credentials) error {
	for i, c := range clients {
		g := grant{basic: basic(c.ID, c.Secret)}
		var answer struct {
			Token string `json:"access_token"`
		}
		header, err := t.calls[0].send(ctx, "Basic "+g.basic, http.MethodPost, "/oauth/token", formType, tokenForm, http.StatusOK, &answer)
		if err != nil {
			return fmt.Errorf("client %d: %w", i+1, err)
		}
		g.token = answer.Token
		if g.uses, err = strconv.Atoi(header.Get("X-RateLimit-Remaining")); err != nil {
			return fmt.Errorf("client %d: the target does not say what is left of its allowance", i+1)
		}
		t.tokens = append(t.tokens, g.token)
		g.uses-- // for oneOrganisation
		t.share(g)
	}
	return nil
}

// share splits a client's allowance, so that all connections have a part even
// if there are more connections than clients.
func (t *target) share(g grant) {
	left, parts := g.uses, len(t.slots)
	for ; parts > 0 && left > 0; parts-- {
		g.uses = (left + parts - 1) / parts
		left -= g.uses
		t.stock.grants = append(t.stock.grants, g)
	}
}

// ours returns the number of patients, and fails unless all of them were
// generated by a bench, so that real patients are never mixed with synthetic
// ones.
func (t *target) ours(ctx context.Context) (count int, err error) {
	c := t.calls[0]
	var first listing
	if err := c.call(ctx, http.MethodGet, "/v1/patients?limit=1", nil, http.StatusOK, &first); err != nil {
		return 0, err
	}
	if len(first.Data) == 0 {
		return 0, nil
	}
	var patient creation
	if err := c.call(ctx, http.MethodGet, "/v1/patients/"+first.Data[0].ID.String(), nil, http.StatusOK, &patient); err != nil {
		return 0, err
	}
	if name, ok := strings.CutSuffix(patient.Contact.Email, "@example.org"); !ok || !strings.HasPrefix(name, "arrival") {
		return 0, errors.New("the clients' organisation has patients that no bench made; make clients of an organisation of their own")
	}
	return first.Pagination.Total, nil
}

// each runs do count times, with as many in parallel as there are connections.
func (t *target) each(ctx context.Context, count int, do func(ctx context.Context, c *caller, n int) error, progress func(done int)) error {
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range t.calls {
		group.Go(func() error {
			for n := int(next.Add(1)) - 1; n < count; n = int(next.Add(1)) - 1 {
				if err := do(ctx, c, n); err != nil {
					return err
				}
				progress(int(done.Add(1)))
			}
			return nil
		})
	}
	return group.Wait()
}

// samplePages is the number of pages of patients read, evenly spread.
const samplePages = 40

func (t *target) sample(ctx context.Context) error {
	const limit = 100
	pages := (t.stock.filled + limit - 1) / limit
	step := max(1, pages/samplePages)
	for page := 1; page <= pages; page += step {
		var list listing
		if err := t.calls[0].call(ctx, http.MethodGet, fmt.Sprintf("/v1/patients?limit=%d&page=%d", limit, page), nil, http.StatusOK, &list); err != nil {
			return err
		}
		for _, p := range list.Data {
			t.stock.patients = append(t.stock.patients, p.ID)
		}
	}
	if len(t.stock.patients) == 0 {
		return errors.New("the target lists no patients")
	}
	return t.oneOrganisation(ctx)
}

// oneOrganisation checks that all clients see the same patients.
func (t *target) oneOrganisation(ctx context.Context) error {
	path := "/v1/patients/" + t.stock.patients[0].String()
	for i, token := range t.tokens {
		if err := t.calls[0].callAs(ctx, "Bearer "+token, http.MethodGet, path, nil, http.StatusOK, nil); err != nil {
			return fmt.Errorf("client %d does not see the patients of the first: %w", i+1, err)
		}
	}
	return nil
}

// addRecords adds a course to patients of the sample, unless an earlier run
// did.
func (t *target) addRecords(ctx context.Context, o *Options) error {
	size := courseSize(o)
	t.stock.courses = min((o.Records+size-1)/size, len(t.stock.patients))
	t.stock.records = t.stock.courses * size
	var have struct {
		Pagination struct {
			Total int `json:"total"`
		} `json:"pagination"`
	}
	last := t.stock.patients[t.stock.courses-1]
	if err := t.calls[0].call(ctx, http.MethodGet, "/v1/patients/"+last.String()+"/clinical-data?limit=1", nil, http.StatusOK, &have); err != nil {
		return err
	}
	if have.Pagination.Total >= size {
		return nil
	}
	return t.each(ctx, t.stock.courses, func(ctx context.Context, c *caller, n int) error {
		return c.call(ctx, http.MethodPost, "/v1/patients/"+t.stock.patients[n].String()+"/clinical-data", batch(n, size), http.StatusCreated, nil)
	}, func(done int) { o.Progress("records", done*size, t.stock.records) })
}
