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

// Once is an idempotency key, hashed together with the method and path, and
// the hash of the body it came with.
type Once struct {
	Key, Body []byte
	// Sealed is set where the outcome shows a secret: it is kept sealed, so
	// that the database does not give away what it seals elsewhere. A path
	// always or never sets it.
	Sealed bool
}

// Seal makes the key one whose outcome is kept sealed; it may be nil.
func (k *Once) Seal() *Once {
	if k != nil {
		k.Sealed = true
	}
	return k
}

// Outcome is the answer to a write: what is sent, and kept under the key.
type Outcome struct {
	Status   int
	Location string
	ETag     string
	Body     []byte
	// Replayed is true when the write had been done before.
	Replayed bool
}

// IdempotencyKept is how long outcomes are kept.
const IdempotencyKept = 24 * time.Hour

// Do runs a write and keeps its outcome under the key, in the transaction
// of the write. With a key that has been used it writes nothing and gives the
// outcome that was kept. Without a key it only writes.
//
// While the first request with a key is running, others wait for it a little:
// in the same process without the database, on another node for the lock that
// the first one's transaction holds from its start to its end. It comes before
// any lock of the write itself, for which they would have to wait as well
// without knowing why.
func (o Org) Do(ctx context.Context, key *Once, now time.Time, fn func(engine.Tx) (Outcome, error)) (out Outcome, err error) {
	if key != nil {
		done, waited := o.underway.enter(ctx, string(o.placeOf(key)))
		if waited != nil {
			return out, waited
		}
		defer func() { done(err == nil) }()
	}
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
		// A node of an older version does not know the lock: behind one, a
		// transaction waits here, then fails, and is run again below.
		_, err = tx.Exec(`INSERT INTO idempotency (org_no, client_no, key_hash, body_hash, status, location, etag, body, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			int64(o.org), int64(o.client), key.Key, key.Body, out.Status, out.Location, out.ETag, o.toKeep(key, out.Body), engine.Millis(now))
		running = engine.IsLockTimeout(err)
		return err
	})
	if key == nil || err == nil {
		return out, err
	}
	if running {
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

// kept looks for the outcome under a key. The row is locked so that on
// PostgreSQL the COMMIT waits for a synchronous standby: an outcome whose own
// COMMIT gave up waiting for it must not be acknowledged the second time.
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
		err = fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was already used with a different body; use a new key for a new request.")
	}
	if err == nil && found && key.Sealed {
		out.Body, err = o.master.Open(out.Body, o.placeOf(key))
	}
	return out, found, err
}

// toKeep is the form in which an outcome's body is kept.
func (o Org) toKeep(key *Once, body []byte) []byte {
	switch {
	case key.Sealed:
		return o.master.Seal(body, o.placeOf(key))
	case body == nil:
		return []byte{} // an answer without a body is not NULL
	}
	return body
}

// lockOf is the number of a key's lock. Keys that share one, which is next to
// impossible, only wait for each other.
func (o Org) lockOf(key *Once) int64 {
	sum := sha256.Sum256(o.placeOf(key))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// placeOf binds a sealed outcome to its row.
func (o Org) placeOf(key *Once) []byte {
	return fmt.Appendf(nil, "idempotency %d %d %x", o.org, o.client, key.Key)
}
