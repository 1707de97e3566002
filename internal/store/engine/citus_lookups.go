package engine

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Lookups in distributed tables have rounds of their own, one set for each
// organisation:
//   - Citus can send a statement to one worker only if it contains the
//     organisation as a single argument, so a statement cannot serve several.
//   - It refuses generic plans for most statements.
//   - A worker that does not answer must not hold up what is on others, nor
//     counting, which is done on the coordinator.
const (
	// fewLookups is how many lookups are sent as separate statements. Each costs
	// about 0.3 ms of CPU time; one for all of them has to be planned with its
	// arguments every time, which alone costs 0.5 ms.
	fewLookups = 2
	// apartConns bounds the connections for these rounds.
	apartConns = 8
)

// apart makes lookups in distributed tables.
type apart struct {
	e    *postgresEngine
	pool *pgxpool.Pool
	// orgs are those that have calls.
	orgs *inUse[*Rounds[ask, found]]
	// direct makes them on the workers, if possible.
	direct *direct
}

// openApart opens the connections for lookups in distributed tables.
func (e *postgresEngine) openApart(ctx context.Context, cfg *pgxpool.Config) (err error) {
	direct := newDirect(e, cfg)
	cfg = roundsConfig(cfg, apartConns)
	cfg.MaxConns = apartConns
	cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "auto"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err == nil {
		e.apart = &apart{e: e, pool: pool, direct: direct, orgs: newInUse(func(int64) *Rounds[ask, found] {
			return NewRounds(RoundsConfig{Lanes: 1, Spare: 1, Most: callsPerRound}, func(ctx context.Context, asked []ask, answers []found) error {
				return e.answerOn(ctx, pool, 1, asked, answers)
			})
		})}
	}
	return postgresError(err)
}

// do makes a lookup, whose first argument is the organisation, in the next round
// of the organisation. Tallies that were meant to be sent with it are sent beside
// it.
func (a *apart) do(ctx context.Context, q ask) (found, error) {
	go a.e.asks.Start()
	org := q.args[0].(int64)
	if f, err := a.direct.do(ctx, org, q); !errors.Is(err, errDetour) {
		return f, err
	}
	own := a.orgs.join(org)
	defer a.orgs.leave(org)
	return own.Do(ctx, q)
}
