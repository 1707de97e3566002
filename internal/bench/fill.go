package bench

import (
	"context"
	"encoding/base64"
	"errors"
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

// stock is what the load uses: existing patients and tokens.
type stock struct {
	filled   int
	patients []id.Patient // a sample, spread evenly
	records  int
	courses  int               // number of patients, from the first, that have records
	grants   []grant           // each of a different client
	taken    atomic.Int64      // number of grants given out
	keys     map[string][]byte // of the data directory, for other nodes
}

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
// store. Journal and seal are complete afterwards, so that the server has
// nothing to catch up on.
func fill(ctx context.Context, db *database, o *Options) (_ *stock, err error) {
	cfg := db.Config
	cfg.Log = slog.New(slog.DiscardHandler)
	if s, err := store.Open(ctx, cfg); !errors.Is(err, engine.ErrEmpty) {
		if err == nil {
			err = errors.Join(errors.New("the database is in use: the bench fills it with made-up patients and wants an empty one"), s.Close())
		}
		return nil, err
	}
	if err := db.migrate(ctx, cfg); err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	stop := sequencing(ctx, s)
	defer stop()
	st := &stock{filled: o.Patients, keys: s.System().KeyFiles()}
	c, _, err := newClient(ctx, s)
	if err != nil {
		return nil, err
	}
	p := c.Principal()
	org := s.For(&p)
	if err := st.people(ctx, org, p.ClientID, o.Progress); err != nil {
		return nil, err
	}
	entries := o.Patients
	if o.Records > 0 && readsRecords(o.Paths) {
		size := courseSize(o)
		added, err := st.addCourses(ctx, org, p.ClientID, o.Records, size, o.Progress)
		if err != nil {
			return nil, err
		}
		entries += added
		st.records = added * size
	}
	// Tokens come last: they expire after an hour, and filling may take long.
	if err := st.issue(ctx, s, clientsNeeded(o)); err != nil {
		return nil, err
	}
	if err := settle(ctx, s, org, entries); err != nil {
		return nil, err
	}
	return st, db.analyze(ctx) // PostgreSQL would do it within a minute
}

// clientsNeeded returns one client per connection, plus as many as the fastest
// server could use up.
func clientsNeeded(o *Options) int {
	seconds := o.measuring().Seconds()
	return o.Connections + int(seconds*fastest/perClient) + 1
}

// newClient registers a client of the measured organisation.
func newClient(ctx context.Context, s *store.Store) (c clients.Client, secret string, err error) {
	secret, hash := oauth.NewSecret()
	c, err = s.System().CreateClient(ctx, clients.NewClient{
		Org: "bench", Name: "load", Tier: access.Enterprise, Scopes: access.AllScopes, SecretHash: hash})
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
			c, secret, err := newClient(ctx, s)
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
func (st *stock) people(ctx context.Context, org store.Org, client id.Client, progress func(step string, done, total int)) error {
	every := (st.filled + sampleSize - 1) / sampleSize
	st.patients = make([]id.Patient, (st.filled+every-1)/every)
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range fillers {
		group.Go(func() error {
			for n := int(next.Add(1)) - 1; n < st.filled; n = int(next.Add(1)) - 1 {
				p := person(n, time.Now())
				if _, err := org.CreatePatient(ctx, &p, arrival(&p, client), nil, idempotency.Outcome{}); err != nil {
					return err
				}
				if n%every == 0 {
					st.patients[n/every] = p.ID
				}
				progress("patients", int(done.Add(1)), st.filled)
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

// settle waits until the journal has an entry for each change, and seals it.
func settle(ctx context.Context, s *store.Store, org store.Org, entries int) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		head, _, err := org.Head(ctx)
		if err != nil {
			return err
		}
		if int(head) >= entries {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, err := s.System().Seal(ctx)
	return err
}

// slot is the state of one connection for the whole run: its client and its
// position.
type slot struct {
	stock *stock
	grant
	n int // number of the next request
}

// slots gives each connection distinct numbers with different starts, so that
// connections do not request the same in step.
func (st *stock) slots(connections int) []*slot {
	list := make([]*slot, connections)
	for i := range list {
		list[i] = &slot{stock: st, n: i<<40 + i*7919}
	}
	return list
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
