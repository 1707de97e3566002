package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Rounds have connections of their own, so that they need not wait for
// transactions of others, and settings that suit single statements of many
// rows.
const (
	// roundTime is the deadline of a round. After it, the calls of a read are
	// made one by one.
	roundTime = 8 * time.Second
	// roundLockWait is how long a round waits for a row that another
	// transaction has locked. It is short, because calls about other rows wait
	// too; on its own, a call waits for LockWait.
	roundLockWait = time.Second
	// callsPerRound bounds the memory for the rows of a round.
	callsPerRound = 256
)

// roundsConfig returns the configuration of the connections of rounds.
func roundsConfig(cfg *pgxpool.Config, lanes int) *pgxpool.Config {
	cfg = cfg.Copy()
	cfg.MaxConns = int32(lanes + spareLanes)
	cfg.MinConns, cfg.MinIdleConns = 0, 0
	for name, value := range map[string]string{
		// Nothing that rounds write on these connections has to be durable.
		"synchronous_commit": "off",
		"lock_timeout":       fmt.Sprint(roundLockWait.Milliseconds()),
		// A plan for ten keys is good for any number of them.
		"plan_cache_mode": "force_generic_plan",
	} {
		cfg.ConnConfig.RuntimeParams[name] = value
	}
	return cfg
}

// roundLanes is how many rounds are under way at a time. Fewer rounds are larger
// ones, which cost less for each call; one connection to the database can answer
// what two CPUs ask.
func roundLanes() int { return min(max(1, runtime.GOMAXPROCS(0)/2), 8) }

// spareLanes is how many more there can be while one waits.
const spareLanes = 2

// ask is a call of a round: a statement for one key, with its arguments, or a
// tally.
type ask struct {
	sql  string
	args []any
	// tally are the arguments of a tally, whose statement takes an array of each.
	tally []int64
	// shard is that of a lookup on a worker of a Citus cluster.
	shard *shard
}

// found is the answer to a call.
type found struct {
	rows []postgresRow
	err  error
}

// inRound sends the questions of a round on one of its connections.
func (e *postgresEngine) inRound(caller context.Context, pool *pgxpool.Pool, questions []question) error {
	ctx, cancel := context.WithTimeout(caller, roundTime)
	defer cancel()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		fail(questions, 0, err)
	} else {
		defer e.release(caller, conn)
		err = e.pipeline(ctx, conn.Conn(), questions)
		for i := range questions {
			if mustReconnect(questions[i].err) {
				_ = conn.Conn().Close(ctx)
			}
		}
	}
	if err != nil && caller.Err() != nil {
		return caller.Err()
	}
	if pool == e.rounds {
		e.drop(err)
	} else if isLost(err) {
		pool.Reset()
	}
	return err
}

// mustReconnect reports whether an error would occur again on its connection:
// the server was demoted, or a migration has changed the columns of a statement
// that was prepared before.
func mustReconnect(err error) bool {
	// Citus uses 0A000 for statements that it does not support, too.
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "0A000" && pg.Routine == "RevalidateCachedQuery" || pg.Code == "26000") {
		return true
	}
	return isReadOnly(err)
}

func (e *postgresEngine) tally(ctx context.Context, sql string, numbers []int64, tell func(Row, error)) {
	e.asks.Add(ctx, ask{sql: sql, tally: numbers}, func(f found, err error) {
		if err = cmp.Or(err, f.err); err != nil || len(f.rows) != 1 {
			tell(nil, cmp.Or(err, errNoAnswer))
		} else {
			tell(f.rows[0], nil)
		}
	})
}

func (e *postgresEngine) startTallies() { e.asks.Start() }

func (e *postgresEngine) lookup(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	if !gatherable(args) {
		return e.lookupAlone(ctx, sql, each, args)
	}
	do := e.asks.Do
	if e.useOf(sql).spread {
		do = e.apart.do
	}
	f, err := do(ctx, ask{sql: sql, args: args})
	if err = cmp.Or(err, f.err); errors.Is(err, ErrAlone) {
		return e.lookupAlone(ctx, sql, each, args)
	} else if err != nil {
		return err
	}
	for _, r := range f.rows {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// lookupAlone is lookup without a round.
func (e *postgresEngine) lookupAlone(ctx context.Context, sql string, each func(Row) error, args []any) error {
	return e.read(ctx, func(tx Tx) error { return tx.Query(sql, each, args...) })
}

// answer carries out a round: one statement for all calls with the same SQL,
// and all statements in one message. Tallies come last, because they may have to
// wait for a lock.
func (e *postgresEngine) answer(ctx context.Context, asked []ask, answers []found) error {
	return e.answerOn(ctx, e.rounds, 0, asked, answers)
}

// answerOn is answer on a connection of a pool. The first same arguments of all
// calls are equal; if there are any, few lookups are sent as they are, and those
// that took too long are not made again: a worker does not answer, and others
// need the connections.
func (e *postgresEngine) answerOn(ctx context.Context, pool *pgxpool.Pool, same int, asked []ask, answers []found) error {
	questions, again := e.questions(same, asked, answers)
	var concerned reach
	if same > 0 {
		concerned.orgs = []int64{asked[0].args[0].(int64)}
	}
	within, end, err := e.watch.begin(ctx, concerned)
	if err != nil {
		return err
	}
	if err = end(e.inRound(within, pool, questions)); errors.Is(err, errSilent) {
		return err
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // of a single caller
	}
	for _, q := range questions {
		repeatable := asked[q.calls[0]].tally == nil && len(asked) > 1 && !(same > 0 && errors.Is(q.err, context.DeadlineExceeded))
		if err := e.judge(q.err, repeatable); err != nil {
			for _, place := range q.calls {
				answers[place] = found{err: err}
			}
		}
	}
	for _, r := range again {
		answers[r.place] = answers[r.first]
	}
	return nil
}

// questions returns the statements of a round, and the calls that repeat others.
func (e *postgresEngine) questions(same int, asked []ask, answers []found) (questions []question, again []repeated) {
	groups := grouped(asked)
	rows := newCopied(len(asked))
	questions = make([]question, 0, len(groups)+1)
	for _, places := range groups {
		if asked[places[0]].tally != nil {
			questions = append(questions, tallies(asked, places, answers, rows))
			continue
		}
		var distinct []int
		distinct, again = withoutRepeated(asked, places, again)
		if same > 0 && len(distinct) <= fewLookups {
			for i := range distinct {
				questions = append(questions, e.lookups(same, asked, distinct[i:i+1], answers, rows))
			}
		} else {
			questions = append(questions, e.lookups(same, asked, distinct, answers, rows))
		}
	}
	return questions, again
}

// judge returns the error of the calls of a question. A read can always be made
// again, if it was not made alone.
func (e *postgresEngine) judge(err error, again bool) error {
	if err != nil && again || concernsSome(err) { // such as a lock, for which a call on its own waits longer
		return fmt.Errorf("%w: %w", ErrAlone, err)
	}
	return e.told(err)
}

// grouped returns the calls that share a statement, by their places. Those of
// tallies are in the order of their keys, so that nodes lock rows in the same
// order, and a key occurs once in a group.
func grouped(asked []ask) [][]int {
	groups := make([][]int, 0, 4)
	var tallied []int
	for i := range asked {
		if asked[i].tally != nil {
			tallied = append(tallied, i)
			continue
		}
		g := 0
		for g < len(groups) && asked[groups[g][0]].sql != asked[i].sql {
			g++
		}
		if g == len(groups) {
			groups = append(groups, make([]int, 0, len(asked)-i))
		}
		groups[g] = append(groups[g], i)
	}
	slices.SortStableFunc(tallied, func(a, b int) int {
		return cmp.Or(strings.Compare(asked[a].sql, asked[b].sql), cmp.Compare(asked[a].tally[0], asked[b].tally[0]))
	})
	for len(tallied) > 0 {
		var group, again []int
		for _, place := range tallied {
			if n := len(group); n > 0 && (asked[group[n-1]].sql != asked[place].sql || asked[group[n-1]].tally[0] == asked[place].tally[0]) {
				again = append(again, place)
			} else {
				group = append(group, place)
			}
		}
		groups, tallied = append(groups, group), again
	}
	return groups
}

// tallies returns the statement of tallies. Its rows begin with their keys.
func tallies(asked []ask, places []int, answers []found, rows *copied) question {
	args := make([]any, len(asked[places[0]].tally))
	for n := range args {
		column := make([]int64, len(places))
		for i, place := range places {
			column[i] = asked[place].tally[n]
		}
		args[n] = column
	}
	return question{calls: places, sql: asked[places[0]].sql, args: args, each: func(r postgresRow) error {
		i, ok := slices.BinarySearchFunc(places, r.Int(0), func(place int, key int64) int { return cmp.Compare(asked[place].tally[0], key) })
		if ok {
			rows.addTo(answers, places[i], r)
		}
		return nil
	}}
}
