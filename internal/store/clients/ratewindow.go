package clients

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/engine"
)

// reserve takes from a client's window. It opens one if none is open, and
// corrects an end that a wrong clock has set too far ahead. The right-hand
// sides use the old values, so granted is what this statement took.
const reserve = `INSERT INTO rate_window AS w (client_no, window_end, used, granted) VALUES ($1, CAST($2 AS BIGINT) + 3600000, $3, $3)
	ON CONFLICT (client_no) DO UPDATE SET
		window_end = CASE WHEN w.window_end <= $2 OR w.window_end > $5 THEN $2 + 3600000 ELSE w.window_end END,
		used       = CASE WHEN w.window_end <= $2 THEN $3 WHEN w.used + $3 <= $4 THEN w.used + $3 WHEN w.used > $4 THEN w.used ELSE $4 END,
		granted    = CASE WHEN w.window_end <= $2 THEN $3 WHEN w.used + $3 <= $4 THEN $3 WHEN w.used > $4 THEN 0 ELSE $4 - w.used END
	RETURNING window_end, used, granted`

// Reserve takes up to n of a client's allowance; see [ratelimit.Reserve]. On
// PostgreSQL it does not wait until that is durable: a crash of the database
// may lose the last moments of counting, a crash of this program never does.
func (s System) Reserve(ctx context.Context, client access.ClientNo, limit, n int64, now time.Time) (g ratelimit.Grant, err error) {
	n = min(n, limit)
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		if hurried := s.db.Dialect().Hurried; hurried != "" {
			tx.Last(engine.Stmt{SQL: hurried})
		}
		tx.Last(engine.Stmt{SQL: reserve, Args: []any{int64(client), engine.Millis(now), n, limit, engine.Millis(now.Add(ratelimit.Farthest))}, Each: func(r engine.Row) error {
			g = ratelimit.Grant{WindowEnd: engine.FromMillis(r.Int(0)), Used: r.Int(1), Granted: r.Int(2)}
			return nil
		}})
		return nil
	})
	return g, err
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
