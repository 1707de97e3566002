package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
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
	// lookupsPerRound bounds the memory for the rows of a round.
	lookupsPerRound = 128
)

// roundsConfig returns the configuration of the connections of rounds.
func roundsConfig(cfg *pgxpool.Config, lanes int) *pgxpool.Config {
	cfg = cfg.Copy()
	cfg.MaxConns = int32(lanes) + 1 // and one for counting requests
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

// lookupLanes is how many rounds of lookups are under way at a time.
func lookupLanes() int { return min(max(2, runtime.GOMAXPROCS(0)), 8) }

// inRound runs fn on a connection for rounds. Every statement is its own
// transaction.
func (e *postgresEngine) inRound(caller context.Context, fn func(*postgresTx) error) error {
	ctx, cancel := context.WithTimeout(caller, roundTime)
	defer cancel()
	conn, err := e.rounds.Acquire(ctx)
	if err == nil {
		defer release(caller, conn)
		if err = fn(e.tx(ctx, conn.Conn())); isReadOnly(err) {
			_ = conn.Conn().Close(ctx) // as in write
		}
	}
	if err != nil && caller.Err() != nil {
		return caller.Err()
	}
	e.drop(err)
	return err
}

func (e *postgresEngine) hurried(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	err := e.inRound(ctx, func(tx *postgresTx) error { return tx.Query(sql, each, args...) })
	if concernsSome(err) {
		return fmt.Errorf("%w: %w", ErrAlone, err)
	}
	told := postgresError(err)
	e.stuck.note(err, told)
	return told
}

// concernsSome reports whether a statement about many rows failed in a way that
// it might not have for some of them. A lost connection or a full disk concerns
// all.
func concernsSome(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch pg.Code[:2] {
	case "08", "53", "58": // connection, resources, system
		return false
	case "57": // shutdown, unless it is a cancelled statement
		return pg.Code == "57014"
	}
	return !isReadOnly(err)
}

// lookup is a question to a round: a statement with its arguments.
type lookup struct {
	sql  string
	args []any
}

func (e *postgresEngine) lookup(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	alone := func() error {
		return e.read(ctx, func(tx Tx) error { return tx.Query(sql, each, args...) })
	}
	if _, ok := arrayTypes(args); !ok {
		return alone()
	}
	rows, err := e.lookups.Do(ctx, lookup{sql, args})
	if errors.Is(err, ErrAlone) {
		return alone()
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// lookUp carries out a round: one statement for all calls with the same SQL,
// and all statements in one message.
func (e *postgresEngine) lookUp(ctx context.Context, asked []lookup, answers [][]postgresRow) error {
	groups := make([][]int, 0, 4)
	for i := range asked {
		g := 0
		for g < len(groups) && asked[groups[g][0]].sql != asked[i].sql {
			g++
		}
		if g == len(groups) {
			groups = append(groups, make([]int, 0, len(asked)-i))
		}
		groups[g] = append(groups[g], i)
	}
	rows := &copied{bytes: make([]byte, 0, 512*len(asked))}
	stmts := make([]Stmt, len(groups))
	for g, places := range groups {
		stmts[g] = e.statement(asked, places, answers, rows)
	}
	err := e.inRound(ctx, func(tx *postgresTx) error {
		if len(stmts) == 1 {
			return tx.Query(stmts[0].SQL, stmts[0].Each, stmts[0].Args...)
		}
		return tx.Many(stmts...)
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // of a single caller
	}
	if err != nil && len(asked) > 1 || concernsSome(err) { // such as a lock, for which a call on its own waits longer
		return fmt.Errorf("%w: %w", ErrAlone, err)
	}
	return postgresError(err)
}

// statement returns the statement for some of the calls, which have the same
// SQL. Each answer gets the rows for its own arguments and no others.
func (e *postgresEngine) statement(asked []lookup, places []int, answers [][]postgresRow, rows *copied) Stmt {
	first := asked[places[0]]
	if len(places) == 1 {
		return Stmt{SQL: first.sql, Args: first.args, Each: func(r Row) error {
			answers[places[0]] = append(answers[places[0]], rows.add(r.(postgresRow)))
			return nil
		}}
	}
	args := make([]any, len(first.args))
	for n, example := range first.args {
		switch example.(type) {
		case int64:
			args[n] = column[int64](asked, places, n)
		case string:
			args[n] = column[string](asked, places, n)
		case []byte:
			args[n] = column[[]byte](asked, places, n)
		}
	}
	return Stmt{SQL: e.forAll(first), Args: args, Each: func(r Row) error {
		row := r.(postgresRow)
		to := places[row.Int(0)-1]
		answers[to] = append(answers[to], rows.add(row[1:]))
		return nil
	}}
}

// column returns argument n of the calls.
func column[T any](asked []lookup, places []int, n int) []T {
	all := make([]T, len(places))
	for i, place := range places {
		all[i] = asked[place].args[n].(T)
	}
	return all
}

var placeholder = regexp.MustCompile(`\$\d+`)

// forAll returns the SQL that runs a statement for each element of arrays of
// its arguments, and puts the number of the element before its columns. OFFSET
// keeps PostgreSQL from turning the lookups into a join, which could read a
// whole table.
func (e *postgresEngine) forAll(l lookup) string {
	if done, ok := e.sqlForAll.Load(l.sql); ok {
		return done.(string)
	}
	types, _ := arrayTypes(l.args)
	var arrays, names []string
	for i, array := range types {
		n := strconv.Itoa(i + 1)
		arrays = append(arrays, "CAST($"+n+" AS "+array+")")
		names = append(names, "a"+n)
	}
	one := placeholder.ReplaceAllStringFunc(l.sql, func(p string) string { return "asked.a" + p[1:] })
	done := "SELECT asked.place, found.* FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS asked (" + strings.Join(names, ", ") +
		", place) CROSS JOIN LATERAL (" + one + " OFFSET 0) AS found"
	e.sqlForAll.Store(l.sql, done)
	return done
}

// arrayTypes returns the array types of arguments. ok is false if there are
// none, or some that rounds do not know.
func arrayTypes(args []any) (types []string, ok bool) {
	for _, arg := range args {
		switch arg.(type) {
		case int64:
			types = append(types, "BIGINT[]")
		case string:
			types = append(types, "TEXT[]")
		case []byte:
			types = append(types, "BYTEA[]")
		default:
			return nil, false
		}
	}
	return types, len(types) > 0
}

// copied holds rows after the connection has moved on.
type copied struct {
	bytes []byte
	cells [][]byte
}

func (c *copied) add(row postgresRow) postgresRow {
	if cap(c.cells)-len(c.cells) < len(row) {
		c.cells = make([][]byte, 0, max(2*cap(c.cells), 16*len(row)))
	}
	first := len(c.cells)
	for _, v := range row {
		if v == nil {
			c.cells = append(c.cells, nil)
			continue
		}
		if cap(c.bytes)-len(c.bytes) < len(v) {
			c.bytes = make([]byte, 0, max(2*cap(c.bytes), len(v)))
		}
		from := len(c.bytes)
		c.bytes = append(c.bytes, v...)
		c.cells = append(c.cells, c.bytes[from:len(c.bytes):len(c.bytes)])
	}
	return postgresRow(c.cells[first:len(c.cells):len(c.cells)])
}
