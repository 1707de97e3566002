package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// measurement is a run under way.
type measurement struct {
	Options
	stock  *stock
	server *child
	slots  []*slot
}

// bodyVariants is how many different patients are posted.
const bodyVariants = 4096

// path measures one path: it records an answer, starts a floor that repeats
// it, and lets the two take turns.
func (m *measurement) path(ctx context.Context, p *path) (result PathResult, err error) {
	s := &script{path: p, stock: m.stock, keys: m.IdempotencyKey}
	if p.bodies != nil {
		s.bodies = p.bodies()
	} else {
		s.bodies = creations(bodyVariants)
	}
	rec, first, err := m.record(ctx, s)
	if err != nil {
		return result, err
	}
	floorChild, err := startFloor(ctx, m.Program, rec)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, floorChild.stop()) }()
	product, err := connect(ctx, m.server, s, m.slots, true)
	if err != nil {
		return result, err
	}
	defer product.close()
	floor, err := connect(ctx, floorChild, s, m.slots, false)
	if err != nil {
		return result, err
	}
	defer floor.close()
	defer m.server.resume()
	defer context.AfterFunc(ctx, func() { product.close(); floor.close() })()

	mallocs, err := m.alternate(ctx, product, floor)
	if err != nil {
		return result, err
	}
	result = newPathResult(p, product, floor)
	result.Bytes, result.FirstSeconds = len(rec.Body), first.Seconds()
	if total := sum(product.turns); total.requests > 0 {
		result.Allocations = mallocs / float64(total.requests)
	}
	return result, nil
}

// alternate gives the servers their turns, and gives the allocations of the
// product meanwhile. Who is first changes with every pair, so that a machine
// that gets faster or slower favours neither.
func (m *measurement) alternate(ctx context.Context, product, floor *side) (mallocs float64, err error) {
	length := min(sliceTime, m.Duration/4)
	product.pause()
	for _, warming := range []*side{floor, product} {
		if _, err := warming.slice(length); err != nil {
			return 0, err
		}
		warming.forget()
	}
	before, err := m.mallocs(ctx)
	if err != nil {
		return 0, err
	}
	profile := m.profile(ctx, product.script.name)
	product.pause()
	order := []*side{floor, product}
	for end := time.Now().Add(m.Duration); time.Now().Before(end); {
		for _, sd := range order {
			t, err := sd.slice(length)
			if err != nil {
				return 0, err
			}
			sd.turns = append(sd.turns, t)
		}
		order[0], order[1] = order[1], order[0]
	}
	m.server.resume()
	after, err := m.mallocs(ctx)
	return after - before, errors.Join(err, profile())
}

// record asks the product once, with a request as the load sends it, and gives
// the time that the answer took.
func (m *measurement) record(ctx context.Context, s *script) (rec recording, first time.Duration, err error) {
	slot := m.slots[0]
	if err := slot.use(); err != nil {
		return rec, 0, err
	}
	side, err := connect(ctx, m.server, s, m.slots[:1], true)
	if err != nil {
		return rec, 0, err
	}
	defer side.close()
	l := side.links[0]
	if err := l.SetDeadline(time.Now().Add(startTime)); err != nil { // a first search reads all names
		return rec, 0, err
	}
	began := time.Now()
	if _, err := l.Write(s.render(nil, slot.n, slot.token)); err != nil {
		return rec, 0, err
	}
	slot.n++
	response, err := http.ReadResponse(l.in, &http.Request{Method: s.method})
	if err != nil {
		return rec, 0, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return rec, 0, err
	}
	first = time.Since(began)
	if response.StatusCode != s.expect {
		return rec, 0, fmt.Errorf("status %d instead of %d", response.StatusCode, s.expect)
	}
	response.Header.Del("Date") // net/http adds its own
	return recording{response.StatusCode, response.Header, body}, first, nil
}

// mallocs reads how many allocations the product has made.
func (m *measurement) mallocs(ctx context.Context) (float64, error) {
	m.server.resume()
	page, err := fetch(ctx, m.server.admin+"/metrics")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(page) {
		if value, ok := strings.CutPrefix(string(line), "go_memstats_mallocs_total "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, errors.New("the server's metrics do not tell its allocations")
}

// profile takes a CPU profile of the product while a path is measured, if one
// is wanted; the function it returns waits for it.
func (m *measurement) profile(ctx context.Context, name string) (wait func() error) {
	if m.ProfileDir == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		seconds := max(1, int(m.Duration.Seconds()))
		profile, err := fetch(ctx, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", m.server.admin, seconds))
		if err == nil {
			err = os.WriteFile(filepath.Join(m.ProfileDir, name+".pprof"), profile, 0o600)
		}
		done <- err
	}()
	return func() error { return <-done }
}
