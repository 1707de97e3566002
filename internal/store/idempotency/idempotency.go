package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/engine"
)

// Once is an idempotency key, hashed together with the method and path, and the
// hash of the request body.
type Once struct {
	Key, Body []byte
	// Sealed is set if the outcome contains a secret. It is then stored sealed,
	// like the secret itself. A path must set it always or never.
	Sealed bool
}

// Seal marks the key as one whose outcome is stored sealed, and returns it. The
// key may be nil.
func (k *Once) Seal() *Once {
	if k != nil {
		k.Sealed = true
	}
	return k
}

// Outcome is the response to a write, which is sent and stored under the key.
type Outcome struct {
	Status   int
	Location string
	ETag     string
	Body     []byte
	// Replayed is true if the write was done before.
	Replayed bool
}

// Kept is how long outcomes are stored.
const Kept = 24 * time.Hour

// Do runs a write and stores its outcome under the key, in the transaction of
// the write. If the key has been used, it writes nothing and returns the stored
// outcome. Without a key it only writes.
//
// While the first request with a key is running, others wait for it for a short
// time: in the same process without the database, on another node for the lock
// that the first transaction holds from start to end. That lock precedes all
// locks of the write itself, for which they would otherwise wait without
// knowing why.
func (o Org) Do(ctx context.Context, key *Once, now time.Time, fn func(engine.Tx) (Outcome, error)) (Outcome, error) {
	if key == nil {
		return o.do(ctx, nil, now, fn)
	}
	own, out, err := o.underway.enter(ctx, string(o.placeOf(key)), key)
	if own == nil {
		return out, err
	}
	defer o.underway.end(own)
	out, err = o.do(ctx, key, now, fn)
	if err == nil {
		own.succeed(out)
	}
	return out, err
}

func (o Org) do(ctx context.Context, key *Once, now time.Time, fn func(engine.Tx) (Outcome, error)) (out Outcome, err error) {
	var running bool // the first request with this key
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		running = false
		if key != nil {
			kept, found, err := o.kept(tx, key)
			if err != nil || found {
				running = engine.IsLockTimeout(err)
				out = kept
				return err
			}
		}
		var err error
		if out, err = fn(tx); err != nil || key == nil {
			return err
		}
		// A node of an older version does not use the lock. Behind such a node,
		// a transaction waits for this statement, then fails, and is run again below.
		tx.Last(engine.Stmt{SQL: `INSERT INTO idempotency (org_no, client_no, key_hash, body_hash, status, location, etag, body, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			Args: []any{int64(o.org), int64(o.client), key.Key, key.Body, out.Status, out.Location, out.ETag, o.toKeep(key, out.Body), engine.Millis(now)}})
		return nil
	})
	if key == nil || err == nil {
		return out, err
	}
	if running || engine.IsInsertTimeout(err, "idempotency") {
		return out, stillRunning()
	}
	if !engine.IsDuplicate(err) {
		return out, err
	}
	err = o.db.Write(ctx, func(tx engine.Tx) error {
		kept, found, err := o.kept(tx, key)
		if err == nil && !found {
			err = fault.Away("The first request with this Idempotency-Key was rolled back; try again.", nil)
		}
		out = kept
		return err
	})
	return out, err
}

// Done returns the outcome stored under a key, if it has been used. It is for
// requests that are rejected before [Org.Do] because of what is stored now.
func (o Org) Done(ctx context.Context, key *Once) (out Outcome, found bool, err error) {
	if key == nil {
		return out, false, nil
	}
	err = o.db.Write(ctx, func(tx engine.Tx) error {
		out, found, err = o.kept(tx, key)
		return err
	})
	if engine.IsLockTimeout(err) {
		err = stillRunning()
	}
	return out, found && err == nil, err
}

// kept reads the outcome stored under a key. It locks the row so that on
// PostgreSQL the COMMIT waits for a synchronous standby: an outcome whose own
// COMMIT did not wait for it must not be acknowledged on the second request
// either.
func (o Org) kept(tx engine.Tx, key *Once) (out Outcome, found bool, err error) {
	sameBody := false
	read := engine.Stmt{SQL: `SELECT body_hash, status, location, etag, body FROM idempotency
		WHERE org_no = $1 AND client_no = $2 AND key_hash = $3 /*FOR UPDATE*/`, Args: []any{int64(o.org), int64(o.client), key.Key}, Each: func(r engine.Row) error {
		found = true
		sameBody = bytes.Equal(r.Raw(0), key.Body)
		out = Outcome{Status: int(r.Int(1)), Location: r.Text(2), ETag: r.Text(3), Body: bytes.Clone(r.Raw(4)), Replayed: true}
		return nil
	}}
	if lock := o.db.Dialect().LockKey; lock != "" {
		err = tx.Many(engine.Stmt{SQL: lock, Args: []any{o.lockOf(key)}}, read)
	} else {
		err = tx.Many(read)
	}
	if found && !sameBody {
		err = keyReused()
	}
	if err == nil && found && key.Sealed {
		out.Body, err = o.master.Open(out.Body, o.placeOf(key))
	}
	return out, found, err
}

// toKeep returns an outcome's body as it is stored.
func (o Org) toKeep(key *Once, body []byte) []byte {
	switch {
	case key.Sealed:
		return o.master.Seal(body, o.placeOf(key))
	case body == nil:
		return []byte{} // an empty body is not NULL
	}
	return body
}

// lockOf returns the number of a key's lock. In the very unlikely case that
// keys share a number, they only wait for each other.
func (o Org) lockOf(key *Once) int64 {
	sum := sha256.Sum256(o.placeOf(key))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// placeOf binds a sealed outcome to its row.
func (o Org) placeOf(key *Once) []byte {
	return fmt.Appendf(nil, "idempotency %d %d %x", o.org, o.client, key.Key)
}
