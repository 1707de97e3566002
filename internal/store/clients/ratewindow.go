package clients

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	// wait for each other in a circle.
	reserveAll = `INSERT INTO rate_window AS w (client_no, window_end, used, granted)
		SELECT client_no, now + 3600000, n, most FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[])) AS asked (client_no, now, n, most)
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

// claimsPerRound bounds the number of clients in one statement.
const claimsPerRound = 512

// Reserve takes up to n of a client's allowance; see [ratelimit.Reserve]. On
// PostgreSQL, one statement at a time does that for all clients that wait. It
// does not wait until that is durable: a crash of the database may lose the
// last moments of counting, a crash of this program never does.
func (s System) Reserve(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time) (ratelimit.Grant, error) {
	c := claim{client, limit, min(n, limit), engine.Millis(now)}
	if !s.db.Dialect().Gathers {
		return s.reserveAlone(ctx, c)
	}
	g, err := s.reserving.Do(ctx, c)
	if errors.Is(err, engine.ErrAlone) {
		return s.reserveAlone(ctx, c)
	}
	return g, err
}

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

// reserveTogether makes the claims of a round. A client that has several gets
// them one after the other.
func (s *tables) reserveTogether(ctx context.Context, claims []claim, grants []ratelimit.Grant) error {
	places := make([]int, len(claims))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(claims[a].client, claims[b].client) })
	for len(places) > 0 {
		var again []int
		first := places[:1]
		for _, next := range places[1:] {
			if claims[next].client == claims[first[len(first)-1]].client {
				again = append(again, next)
			} else {
				first = append(first, next)
			}
		}
		if err := s.reserveEach(ctx, claims, first, grants); err != nil {
			return err
		}
		places = again
	}
	return nil
}

// reserveEach makes claims of different clients, in order of their clients.
func (s *tables) reserveEach(ctx context.Context, claims []claim, places []int, grants []ratelimit.Grant) error {
	columns := make([]int64, 4*len(places))
	client, now, n, limit := columns[:len(places)], columns[len(places):2*len(places)], columns[2*len(places):3*len(places)], columns[3*len(places):]
	for i, place := range places {
		c := &claims[place]
		client[i], now[i], n[i], limit[i] = int64(c.client), c.now, c.n, c.limit
	}
	return s.db.Hurried(ctx, reserveAll, func(r engine.Row) error {
		if i, found := slices.BinarySearch(client, r.Int(0)); found {
			grants[places[i]] = grant(r)
		}
		return nil
	}, client, now, n, limit)
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
