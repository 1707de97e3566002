package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/fault"
)

// sqliteError converts an error that an operator has to fix to a fault with a
// clear message. The caller may retry; nothing was written.
func sqliteError(err error) error {
	if err == nil || fault.CodeOf(err) != fault.Internal {
		return err
	}
	is := func(code error) bool { return errors.Is(err, code) }
	switch {
	case isFull(err):
		return fault.Away("The disk is full or failing; nothing was changed.", err)
	case is(sqlite3.BUSY), is(sqlite3.LOCKED):
		return fault.Away("The database is locked by another process.", err)
	case is(sqlite3.READONLY):
		return fault.Away("The database is read-only.", err)
	case is(sqlite3.INTERRUPT):
		return fault.Away("The database took too long.", err)
	case is(sqlite3.IOERR), is(sqlite3.CANTOPEN):
		return fault.Away("The database cannot be reached.", err)
	case is(sqlite3.CORRUPT), is(sqlite3.NOTADB):
		return fault.Away("The database is damaged.", err)
	}
	return err
}

// isFull reports whether the disk is full. The driver returns FULL only in some
// cases; in others it returns a failed write without the reason.
func isFull(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.IOERR_WRITE) || errors.Is(err, sqlite3.IOERR_SHMSIZE)
}

// sqliteOpenError explains why a file cannot be opened and what to do about it.
func sqliteOpenError(path string, err error) error {
	switch {
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%s is not a SQLite database; name another file or restore a backup: %w", path, err)
	case errors.Is(err, sqlite3.CORRUPT):
		return fmt.Errorf("%s is damaged; restore a backup, and keep the damaged file: %w", path, err)
	case errors.Is(err, sqlite3.BUSY):
		return fmt.Errorf("%s is locked by another process; stop it and try again: %w", path, err)
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.CANTOPEN):
		return fmt.Errorf("%s cannot be written; check the owner and mode of the file and its folder: %w", path, err)
	case isFull(err):
		return fmt.Errorf("%s: the disk is full or failing; free some space: %w", path, err)
	}
	return fmt.Errorf("%s cannot be opened: %w", path, err)
}

// postgresError does the same for PostgreSQL. The codes are listed in appendix
// A of its manual.
func postgresError(err error) error {
	if err == nil || fault.CodeOf(err) != fault.Internal {
		return err
	}
	// To the caller, every failure to connect is the same, even a password that
	// is no longer valid.
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && !connecting {
		switch {
		case pg.Code == "55P03":
			return fault.Away("Another request holds a lock that this one needs.", err)
		case pg.Code == "53100":
			return fault.Away("The database's disk is full; nothing was changed.", err)
		case isReadOnly(err):
			return fault.Away("The database is read-only.", err)
		case pg.Code == "57014":
			return fault.Away("The database took too long.", err)
		case pg.Code[:2] == "58":
			return fault.Away("The database's disk is failing.", err)
		case pg.Code[:2] == "08", pg.Code[:2] == "53", pg.Code[:2] == "57", lostWorker(pg):
			return fault.Away("The database is not available.", err)
		}
		return err
	}
	if errors.Is(err, puddle.ErrClosedPool) {
		return errClosed
	}
	if connecting || isLost(err) || pgconn.SafeToRetry(err) || errors.Is(err, net.ErrClosed) {
		return fault.Away("The database is not available.", err)
	}
	return err
}

// isLost reports whether a connection was lost or timed out, so that the others
// are most likely affected too. One that could not be made says nothing about
// them, unless the server answers that it is not up.
func isLost(err error) bool {
	if fault.CodeOf(err) != fault.Internal {
		return false // not from the connection
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "57P01" || pg.Code == "57P02" || pg.Code == "57P03" // the server stops, has crashed, or starts
	}
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// concernsSome reports whether a statement about many rows, or a transaction with
// many writes, failed in a way that it might not have for some of them. A lost
// connection or a full disk concerns all.
func concernsSome(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		_, explained := errors.AsType[*sqlite3.Error](err)
		_, bare := errors.AsType[sqlite3.ExtendedErrorCode](err)
		return (explained || bare) && fault.CodeOf(err) == fault.Internal // the others are faults by now
	}
	switch pg.Code[:2] {
	case "08", "53", "58": // connection, resources, system
		return false
	case "57": // shutdown, unless it is a cancelled statement
		return pg.Code == "57014"
	}
	return !isReadOnly(err)
}

// errClosed is returned by calls made after Close.
var errClosed = fault.Away("The service is shutting down.", nil)

// IsLockTimeout reports whether waiting for the lock of another transaction
// took too long.
func IsLockTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03"
}

// IsInsertTimeout reports whether waiting for another transaction that inserts the
// same key into a table took too long. The context of the error, in whatever
// language, names the table's index.
func IsInsertTimeout(err error, table string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03" && strings.Contains(pg.Where, table)
}

// isReadOnly reports whether the server does not accept writes.
func isReadOnly(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "25006"
}

// IsDuplicate reports whether err is a violated unique constraint.
func IsDuplicate(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) || errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY)
}
