package clients

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// UsageOutcome is the outcome of a request, as distinguished by usage.
type UsageOutcome uint8

// The outcomes.
const (
	UsageAnswered UsageOutcome = iota // below 400
	UsageRefused                      // 4xx except 429
	UsageLimited                      // 429
	UsageFailed                       // 5xx
	UsageOutcomes
)

// Usage is the number of a client's requests with an outcome within an hour.
type Usage struct {
	Org      access.OrgNo
	Client   access.ClientNo
	Hour     time.Time
	Outcome  UsageOutcome
	Requests int64
}

// UsageKept is how long usage is stored: the week that is shown, and a day.
const UsageKept = 8 * 24 * time.Hour

// AddUsage adds to the stored counts.
func (s System) AddUsage(ctx context.Context, counts []Usage) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		for _, u := range counts {
			tx.Last(engine.Stmt{SQL: `INSERT INTO client_usage (org_no, client_no, hour, outcome, requests) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (org_no, client_no, hour, outcome) DO UPDATE SET requests = client_usage.requests + excluded.requests`,
				Args: []any{int64(u.Org), int64(u.Client), engine.Millis(u.Hour), int64(u.Outcome), u.Requests}})
		}
		return nil
	})
}

// Usage lists a client's usage since a time, ordered by hour.
func (o Org) Usage(ctx context.Context, client access.ClientNo, since time.Time) (list []Usage, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT hour, outcome, requests FROM client_usage WHERE org_no = $1 AND client_no = $2 AND hour >= $3 ORDER BY hour, outcome`, func(r engine.Row) error {
			list = append(list, Usage{o.org, client, engine.FromMillis(r.Int(0)), UsageOutcome(r.Int(1)), r.Int(2)})
			return nil
		}, int64(o.org), int64(client), engine.Millis(since))
	})
	return list, err
}

// Window returns a client's rate limit window: how much of its allowance is
// used, and until when. end is zero if no window is open.
func (o Org) Window(ctx context.Context, clientNo access.ClientNo) (used int64, end time.Time, err error) {
	now := o.db.Now()
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, `SELECT w.used, w.window_end FROM rate_window w JOIN client c ON c.client_no = w.client_no
			WHERE c.org_no = $1 AND c.client_no = $2 AND w.window_end > $3`, func(r engine.Row) {
			used, end = r.Int(0), engine.FromMillis(r.Int(1))
		}, int64(o.org), int64(clientNo), engine.Millis(now))
		return err
	})
	return used, end, err
}
