package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// measurement is a run in progress.
type measurement struct {
	Options
	server *child
	slots  []*slot
	keys   map[string][]byte // of the data directory, for other nodes
	// database are the parents of the processes of PostgreSQL.
	database []int
}

// all measures the requested paths in order. Derived results are also set if
// it was interrupted.
func (m *measurement) all(ctx context.Context, r *Result) error {
	defer r.derive()
	for i, name := range m.Paths {
		m.Progress("measuring", i, len(m.Paths))
		if err := m.one(ctx, name, r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	m.Progress("measuring", len(m.Paths), len(m.Paths))
	m.server.resume()
	if m.ours() {
		return m.memory(ctx, r)
	}
	return nil
}

// one measures one path.
func (m *measurement) one(ctx context.Context, name string, r *Result) (err error) {
	switch name {
	case startPath: // already measured
	case webhookPath:
		r.Webhook, err = m.webhooks(ctx)
	default:
		var measured PathResult
		if measured, err = m.path(ctx, findPath(name)); err == nil {
			r.Paths = append(r.Paths, measured)
		}
	}
	return err
}

// ours reports whether the server was started here, so that it can be compared
// with a baseline on the same machine.
func (m *measurement) ours() bool { return m.server.cmd != nil }

// path measures one path: it records responses, starts a baseline server that
// repeats them, and alternates between the two.
func (m *measurement) path(ctx context.Context, p *path) (result PathResult, err error) {
	s := newScript(p, m.server.name(), m.IdempotencyKey)
	recs, first, err := m.record(ctx, s)
	if err != nil {
		return result, err
	}
	product, err := connect(ctx, []*child{m.server}, s, m.slots, true)
	if err != nil {
		return result, err
	}
	defer product.close()
	defer context.AfterFunc(ctx, product.close)()
	sides := []*side{product}
	var floor *side
	if m.ours() {
		var bare *child
		if bare, err = startFloor(ctx, m.Program, recs); err != nil {
			return result, err
		}
		defer func() { err = errors.Join(err, bare.stop()) }()
		if floor, err = connect(ctx, []*child{bare}, s, m.slots, false); err != nil {
			return result, err
		}
		defer floor.close()
		defer context.AfterFunc(ctx, floor.close)()
		sides = append(sides, floor)
	}
	spent, err := m.turns(ctx, p, sides)
	if err != nil {
		return result, err
	}
	result = newPathResult(p, product, floor)
	result.Bytes, result.FirstSeconds = len(recs[0].Body), first.Seconds()
	result.charge(spent)
	return result, nil
}

// turns runs the slices, the product first, and returns the resources used.
func (m *measurement) turns(ctx context.Context, p *path, sides []*side) (spent used, err error) {
	defer m.server.resume()
	sides[0].pause()
	if err := m.warm(sides...); err != nil {
		return spent, err
	}
	before, err := m.used(ctx)
	if err != nil {
		return spent, err
	}
	profile := m.profile(ctx, p.name)
	sides[0].pause()
	if err := m.alternate(sides...); err != nil {
		return spent, err
	}
	after, err := m.used(ctx)
	return after.less(before), errors.Join(err, profile())
}

// length returns the length of a slice.
func (m *measurement) length() time.Duration { return min(sliceTime, m.Duration/4) }

// warm runs a slice per side that does not count.
func (m *measurement) warm(sides ...*side) error {
	for _, sd := range sides {
		if _, err := sd.slice(m.length()); err != nil {
			return err
		}
		sd.forget()
	}
	return nil
}

// alternate runs slices in turn. The order changes with every round, so that a
// machine that gets faster or slower does not favour a side.
func (m *measurement) alternate(sides ...*side) error {
	for end := time.Now().Add(m.Duration); time.Now().Before(end); {
		for _, sd := range sides {
			t, err := sd.slice(m.length())
			if err != nil {
				return err
			}
			sd.turns = append(sd.turns, t)
		}
		sides = append(sides[1:len(sides):len(sides)], sides[0])
	}
	return nil
}

// record requests each kind of request once, like the load, and returns the
// time of the first response.
func (m *measurement) record(ctx context.Context, s *script) (recs recordings, first time.Duration, err error) {
	side, err := connect(ctx, []*child{m.server}, s, m.slots[:1], true)
	if err != nil {
		return nil, 0, err
	}
	defer side.close()
	slot, seen := m.slots[0], map[*path]bool{}
	slot.n += len(s.parts) - slot.n%len(s.parts)
	for i := range s.parts {
		if p := s.parts[i].path; !seen[p] {
			seen[p] = true
			rec, took, err := side.links[0].ask(s)
			if err != nil {
				return nil, 0, err
			}
			if recs == nil {
				first = took
			}
			recs = append(recs, rec)
		} else {
			slot.n++
		}
	}
	return recs, first, nil
}

// ask makes one request and returns the whole response.
func (l *link) ask(s *script) (rec recording, took time.Duration, err error) {
	if err := l.slot.use(); err != nil {
		return rec, 0, err
	}
	if err := l.SetDeadline(time.Now().Add(startTime)); err != nil { // the first search reads all names
		return rec, 0, err
	}
	p := s.part(l.slot.n)
	began := time.Now()
	if _, err := l.Write(s.render(nil, l.slot)); err != nil {
		return rec, 0, err
	}
	rec.Shape = shape(p.method, string(p.target(nil, l.slot.stock, l.slot.n)))
	l.slot.n++
	response, err := http.ReadResponse(l.in, &http.Request{Method: p.method})
	if err != nil {
		return rec, 0, err
	}
	if rec.Body, err = io.ReadAll(response.Body); err != nil {
		return rec, 0, err
	}
	took = time.Since(began)
	if response.StatusCode != p.expect {
		return rec, 0, fmt.Errorf("status %d instead of %d", response.StatusCode, p.expect)
	}
	response.Header.Del("Date") // net/http adds its own
	rec.Status, rec.Header = response.StatusCode, response.Header
	return rec, took, nil
}

// profile takes a CPU profile of the product while a path is measured, if
// requested. The returned function waits for it.
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
