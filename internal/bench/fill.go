package bench

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// stock is what the load uses of an organisation: existing patients and tokens.
type stock struct {
	org      store.Org
	client   clients.Client // that filled it
	filled   int
	patients []id.Patient // a sample, spread evenly
	records  int
	batches  int          // in which the records were added
	courses  int          // number of patients, from the first, that have records
	grants   []grant      // each of a different client
	taken    atomic.Int64 // number of grants given out
}

// stocks are those of the measured organisations.
type stocks []*stock

// progress is called with the progress of a step.
type progress func(step string, done, total int)

// grant is a client's token, and its credentials for HTTP Basic.
type grant struct {
	token, basic string
	// uses is the number of requests left.
	uses int
}

const (
	// fillers is the number of concurrent patient creations: enough for full
	// batches.
	fillers = 256
	// sampleSize limits the identifiers kept.
	sampleSize = 1 << 17
	// perClient is the number of requests of a client, with a margin below the
	// 100,000 per hour allowed.
	perClient = 90_000
	// fastest is a rate, in requests per second, that no server reaches.
	fastest = 150_000
)

// fill creates the database, the patients and the clients directly in the
// store, and returns the keys of the data directory too. Journal and seal are
// complete afterwards, so that the server has nothing to catch up on.
func fill(ctx context.Context, db *database, o *Options) (all stocks, keys map[string][]byte, err error) {
	cfg := db.Config
	cfg.Log = slog.New(slog.DiscardHandler)
	if s, err := store.Open(ctx, cfg); !errors.Is(err, engine.ErrEmpty) {
		if err == nil {
			err = errors.Join(errors.New("the database is in use: the bench fills it with made-up patients and wants an empty one"), s.Close())
		}
		return nil, nil, err
	}
	if err := db.migrate(ctx, cfg); err != nil {
		return nil, nil, err
	}
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	stop := sequencing(ctx, s)
	defer stop()
	all = make(stocks, max(1, o.Organizations))
	for i := range all {
		if all[i], err = newStock(ctx, s, fmt.Sprint("bench", i+1), o.Patients/len(all)); err != nil {
			return nil, nil, err
		}
	}
	records := 0
	if readsRecords(o.Paths) {
		records = o.Records / len(all)
	}
	for _, step := range []func(*stock, progress) error{
		func(st *stock, report progress) error { return st.people(ctx, report) },
		func(st *stock, report progress) error { return st.addCourses(ctx, records, courseSize(o), report) },
		// Tokens come last: they expire after an hour, and filling may take long.
		func(st *stock, _ progress) error { return st.issue(ctx, s, clientsNeeded(o, len(all))) },
		func(st *stock, _ progress) error { return st.settle(ctx) },
	} {
		for i, st := range all {
			report := func(step string, done, total int) { o.Progress(step, i*total+done, len(all)*total) }
			if err := step(st, report); err != nil {
				return nil, nil, err
			}
		}
	}
	if _, err := s.System().Seal(ctx); err != nil {
		return nil, nil, err
	}
	return all, s.System().KeyFiles(), db.analyze(ctx) // PostgreSQL would do it within a minute
}

// newStock creates an organisation, which will have so many patients.
func newStock(ctx context.Context, s *store.Store, name string, patients int) (*stock, error) {
	c, _, err := newClient(ctx, s, name)
	p := c.Principal()
	return &stock{org: s.For(&p), client: c, filled: patients}, err
}

// clientsNeeded returns the clients of each organisation: one per connection,
// plus as many as the fastest server could use up.
func clientsNeeded(o *Options, organizations int) int {
	seconds := o.measuring().Seconds()
	return (o.Connections+int(seconds*fastest/perClient))/organizations + 1
}

// newClient registers a client of an organisation.
func newClient(ctx context.Context, s *store.Store, org string) (c clients.Client, secret string, err error) {
	secret, hash := oauth.NewSecret()
	c, err = s.System().CreateClient(ctx, clients.NewClient{
		Org: org, Name: "load", Tier: access.Enterprise, Scopes: access.AllScopes, SecretHash: hash})
	return c, secret, err
}

// basic returns a client's credentials for HTTP Basic.
func basic(clientID, secret string) string {
	return base64.StdEncoding.EncodeToString([]byte(clientID + ":" + secret))
}

// issue creates tokens, each for a different client.
func (st *stock) issue(ctx context.Context, s *store.Store, count int) error {
	authority := oauth.New(s, time.Now)
	st.grants = make([]grant, count)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fillers)
	for i := range st.grants {
		group.Go(func() error {
			c, secret, err := newClient(ctx, s, st.client.OrgName)
			if err != nil {
				return err
			}
			issued, err := authority.Issue(ctx, &c, "")
			st.grants[i] = grant{issued.Token, basic(c.ID.String(), secret), perClient}
			return err
		})
	}
	return group.Wait()
}

// people adds the patients and keeps a sample of their identifiers.
func (st *stock) people(ctx context.Context, report progress) error {
	every := (st.filled + sampleSize - 1) / sampleSize
	st.patients = make([]id.Patient, (st.filled+every-1)/every)
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range fillers {
		group.Go(func() error {
			for n := int(next.Add(1)) - 1; n < st.filled; n = int(next.Add(1)) - 1 {
				p := person(n, time.Now())
				if _, err := st.org.CreatePatient(ctx, &p, arrival(&p, st.client.ID), nil, idempotency.Outcome{}); err != nil {
					return err
				}
				if n%every == 0 {
					st.patients[n/every] = p.ID
				}
				report("patients", int(done.Add(1)), st.filled)
			}
			return nil
		})
	}
	return group.Wait()
}

// sequencing assigns positions to journal entries until it is stopped, if the
// writer does not.
func sequencing(ctx context.Context, s *store.Store) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.System().Sequence(ctx) // database errors show up in the writes
	}()
	return func() { cancel(); <-done }
}

// settle waits until the journal has an entry for each change.
func (st *stock) settle(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		head, _, err := st.org.Head(ctx)
		if err != nil {
			return err
		}
		if int(head) >= st.filled+st.batches {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// slot is the state of one connection for the whole run: its client and its
// position.
type slot struct {
	stock *stock
	grant
	n int // number of the next request
}

// slots divides the connections among the organisations. It gives each
// connection distinct numbers with different starts, so that connections do not
// request the same in step.
func (all stocks) slots(connections int) []*slot {
	list := make([]*slot, connections)
	for i := range list {
		list[i] = &slot{stock: all[i%len(all)], n: i<<40 + i*7919}
	}
	return list
}

// records returns the number of records in the database.
func (all stocks) records() (n int) {
	for _, st := range all {
		n += st.records
	}
	return n
}

var errAllowance = errors.New("the allowances of all clients are used up; measure for a shorter time, or with more clients")

// use counts a request for the client, and switches to the next client in
// time.
func (s *slot) use() error {
	for s.uses <= 0 {
		next := s.stock.taken.Add(1) - 1
		if next >= int64(len(s.stock.grants)) {
			return errAllowance
		}
		s.grant = s.stock.grants[next]
	}
	s.uses--
	return nil
}
