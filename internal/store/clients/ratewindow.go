package clients

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/engine"
)

// reserve takes from a client's window. It opens one if none is open, and
// corrects an end that a wrong clock has set too far ahead. The row that it
// would insert holds the question: used is how much to take, granted the limit,
// and window_end an hour from now. The right-hand sides use the old values, so
// granted becomes what this statement took. In a row that was just inserted it
// is the limit, which is not less than what was taken.
const (
	reserveOne = `INSERT INTO rate_window AS w (client_no, window_end, used, granted) VALUES ($1, CAST($2 AS BIGINT) + 3600000, $3, $4)` + reserve

	// The rows are locked in the order of their clients, so that nodes cannot
	// deadlock.
	reserveAll = `INSERT INTO rate_window AS w (client_no, window_end, used, granted)
		SELECT client_no, now + 3600000, n, most
		FROM (SELECT unnest(CAST($1 AS BIGINT[])) AS client_no, unnest(CAST($2 AS BIGINT[])) AS now, unnest(CAST($3 AS BIGINT[])) AS n, unnest(CAST($4 AS BIGINT[])) AS most) AS asked
		ORDER BY client_no` + reserve

	reserve = ` ON CONFLICT (client_no) DO UPDATE SET
		window_end = CASE WHEN w.window_end <= excluded.window_end - 3600000 OR w.window_end > excluded.window_end + 300000 THEN excluded.window_end ELSE w.window_end END,
		used       = CASE WHEN w.window_end <= excluded.window_end - 3600000 THEN excluded.used WHEN w.used + excluded.used <= excluded.granted THEN w.used + excluded.used
			WHEN w.used > excluded.granted THEN w.used ELSE excluded.granted END,
		granted    = CASE WHEN w.window_end <= excluded.window_end - 3600000 THEN excluded.used WHEN w.used + excluded.used <= excluded.granted THEN excluded.used
			WHEN w.used > excluded.granted THEN 0 ELSE excluded.granted - w.used END
	RETURNING client_no, window_end, used, CASE WHEN granted < used THEN granted ELSE used END`
)

// The statement contains the length of a window and, as the difference, how far
// ahead its end can be.
const (
	_ = uint(ratelimit.Window/time.Millisecond-3600000) + uint(3600000-ratelimit.Window/time.Millisecond)
	_ = uint((ratelimit.Farthest-ratelimit.Window)/time.Millisecond-300000) + uint(300000-(ratelimit.Farthest-ratelimit.Window)/time.Millisecond)
)

// claim is what a client asks for.
type claim struct {
	client        access.ClientNo
	limit, n, now int64
}

// Reserve takes up to n of a client's allowance; see [ratelimit.Reserve]. It
// does not wait until that is durable: a crash of the database may lose the
// last moments of counting, a crash of this program never does.
func (s System) Reserve(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time) (g ratelimit.Grant, err error) {
	if !s.db.Dialect().Gathers {
		return s.reserveAlone(ctx, claim{client, limit, min(n, limit), engine.Millis(now)})
	}
	done := make(chan struct{})
	s.Claim(ctx, client, limit, n, now, func(granted ratelimit.Grant, failed error) {
		g, err = granted, failed
		close(done)
	})
	s.StartClaims()
	<-done
	return g, err
}

// Claim is Reserve for callers that do not wait; see [ratelimit.Claim]. On
// PostgreSQL, the claims of all clients that wait are made with one statement,
// in one message with lookups that wait.
func (s System) Claim(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time, tell func(ratelimit.Grant, error)) {
	c := claim{client, limit, min(n, limit), engine.Millis(now)}
	if !s.db.Dialect().Gathers {
		go func() { tell(s.reserveAlone(context.WithoutCancel(ctx), c)) }()
		return
	}
	s.db.Tally(ctx, reserveAll, []int64{int64(c.client), c.now, c.n, c.limit}, func(r engine.Row, err error) {
		switch {
		case errors.Is(err, engine.ErrAlone):
			go func() {
				tell(s.reserveAlone(context.WithoutCancel(ctx), c))
				s.StartClaims() // those that waited for this one
			}()
		case err != nil:
			tell(ratelimit.Grant{}, err)
		default:
			tell(grant(r), nil)
		}
	})
}

// StartClaims makes the claims that no lookup has made.
func (s System) StartClaims() { s.db.StartTallies() }

// reserveAlone makes a claim in its own transaction.
func (s *tables) reserveAlone(ctx context.Context, c claim) (g ratelimit.Grant, err error) {
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		if hurried := s.db.Dialect().Hurried; hurried != "" {
			tx.Last(engine.Stmt{SQL: hurried})
		}
		tx.Last(engine.Stmt{SQL: reserveOne, Args: []any{int64(c.client), c.now, c.n, c.limit}, Each: func(r engine.Row) error {
			g = grant(r)
			return nil
		}})
		return nil
	})
	return g, err
}

// grant reads the result of a claim.
func grant(r engine.Row) ratelimit.Grant {
	return ratelimit.Grant{WindowEnd: engine.FromMillis(r.Int(1)), Used: r.Int(2), Granted: r.Int(3)}
}

// Return returns what was reserved and not used, if the window is still the
// same.
func (s System) Return(ctx context.Context, client access.ClientNo, windowEnd time.Time, n int64) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`UPDATE rate_window SET used = used - $3 WHERE client_no = $1 AND window_end = $2 AND used >= $3`,
			int64(client), engine.Millis(windowEnd), n)
		return err
	})
}
