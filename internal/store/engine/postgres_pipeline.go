package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// question is a statement of a round.
type question struct {
	sql  string
	args []any
	each func(postgresRow) error
	// calls are the places of the calls that it answers.
	calls []int
	// changed is the number of rows that it changed.
	changed int64
	err     error
}

// pipeline sends questions in one message and reads their answers. It returns
// an error if the connection was lost. All questions without an answer have an
// error: they are one transaction, so if one fails, the rest is not carried out.
// Answers before it are valid, because only the last questions change anything.
//
// It does what [postgresTx.Many] does, with less work for each statement.
func (e *postgresEngine) pipeline(ctx context.Context, conn *pgx.Conn, questions []question) error {
	descriptions := make([]*pgconn.StatementDescription, len(questions))
	sent := make([]string, 0, len(questions))
	for i := range questions {
		q := &questions[i]
		if descriptions[i], q.err = conn.Prepare(ctx, q.sql, q.sql); q.err == nil {
			sent = append(sent, q.sql)
		} else if conn.IsClosed() {
			return fail(questions, 0, q.err) // none was sent
		}
	}
	if e.observe != nil {
		e.observe(ctx, sent...)
	}
	p := conn.PgConn().StartPipeline(ctx)
	for i := range questions {
		if q := &questions[i]; q.err == nil {
			values, formats := encode(q.args, descriptions[i].ParamOIDs)
			p.SendQueryStatement(descriptions[i], values, formats, inBinary)
		}
	}
	if err := p.Sync(); err != nil {
		return fail(questions, 0, errors.Join(err, p.Close()))
	}
	var err error
	for i := range questions {
		q := &questions[i]
		if q.err != nil {
			continue
		}
		if err = q.answer(p); err != nil {
			_ = fail(questions, i, err)
			break
		}
	}
	if failed := committed(p); failed != nil {
		err = cmp.Or(err, fail(questions, 0, failed))
	}
	if failed := p.Close(); conn.IsClosed() {
		return cmp.Or(err, failed, errNoAnswer)
	}
	return nil
}

// committed reads the end of the transaction.
func committed(p *pgconn.Pipeline) error {
	for {
		switch result, err := p.GetResults(); {
		case err != nil:
			return err
		case result == nil:
			return errNoAnswer
		default:
			if _, ended := result.(*pgconn.PipelineSync); ended {
				return nil
			}
		}
	}
}

// only runs a statement as a transaction of its own, without BEGIN and COMMIT.
// Its arguments must be encodable.
func (t *postgresTx) only(s *Stmt) (err error) {
	ctx, end, err := t.limited(*s)
	if err != nil {
		return err
	}
	defer func() { err = end(err) }()
	asked := []question{{sql: t.e.rewrite(s.SQL), args: s.Args, each: func(r postgresRow) error {
		if s.Each == nil {
			return nil
		}
		return s.Each(r)
	}}}
	err = cmp.Or(t.e.pipeline(ctx, t.conn, asked), asked[0].err)
	if mustReconnect(err) {
		_ = t.conn.Close(ctx)
	}
	if err == nil && s.Changed != nil {
		s.Changed(asked[0].changed)
	}
	return err
}

// answer reads the answer to a question. It returns an error if the server did not
// carry it out.
func (q *question) answer(p *pgconn.Pipeline) error {
	result, err := p.GetResults()
	rows, ok := result.(*pgconn.ResultReader)
	if !ok {
		return cmp.Or(err, errNoAnswer)
	}
	for rows.NextRow() {
		if q.err == nil {
			q.err = q.each(postgresRow(rows.Values()))
		}
	}
	tag, err := rows.Close()
	q.changed = tag.RowsAffected()
	return err
}

var errNoAnswer = errors.New("the database sent no answer")

// fail sets the error of the questions from number first that have none.
func fail(questions []question, first int, err error) error {
	for i := first; i < len(questions); i++ {
		if questions[i].err == nil {
			questions[i].err = err
		}
	}
	return err
}

// inBinary asks for all columns in binary format.
var inBinary = []int16{pgx.BinaryFormatCode}

// encode returns arguments in the form in which they are sent. A slice is sent
// as an array.
func encode(args []any, types []uint32) (values [][]byte, formats []int16) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, arg := range args {
		formats[i] = pgx.BinaryFormatCode
		switch v := arg.(type) {
		case int64:
			if i < len(types) && types[i] == pgtype.Int8OID {
				values[i] = binary.BigEndian.AppendUint64(nil, uint64(v))
			} else {
				values[i], formats[i] = strconv.AppendInt(nil, v, 10), pgx.TextFormatCode
			}
		case string:
			values[i], formats[i] = []byte(v), pgx.TextFormatCode
		case []byte:
			values[i] = v
		case []int64:
			values[i] = arrayOf(len(v), 8*len(v), pgtype.Int8OID)
			for _, n := range v {
				values[i] = binary.BigEndian.AppendUint32(values[i], 8)
				values[i] = binary.BigEndian.AppendUint64(values[i], uint64(n))
			}
		case []string:
			values[i] = texts(v, pgtype.TextOID)
		case [][]byte:
			values[i] = texts(v, pgtype.ByteaOID)
		case nil: // NULL
		default:
			panic(fmt.Sprintf("a lookup has an argument of type %T", arg))
		}
	}
	return values, formats
}

// encodable reports whether encode knows the types of all arguments.
func encodable(args []any) bool {
	for _, arg := range args {
		switch arg.(type) {
		case int64, string, []byte, []int64, []string, [][]byte, nil:
		default:
			return false
		}
	}
	return true
}

// texts returns an array of texts or bytes.
func texts[T string | []byte](list []T, oid uint32) []byte {
	size := 0
	for _, v := range list {
		size += len(v)
	}
	b := arrayOf(len(list), size, oid)
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	return b
}

// arrayOf returns the beginning of an array of n elements in one dimension, with
// room for their lengths and bytes.
func arrayOf(n, bytes int, oid uint32) []byte {
	b := make([]byte, 0, 20+4*n+bytes)
	for _, v := range []uint32{1, 0, oid, uint32(n), 1} { // dimensions, no NULL, type, length, first index
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
