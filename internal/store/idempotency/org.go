package idempotency

import (
	"cmp"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Keys stores the outcomes of all organisations' requests.
type Keys struct {
	db       *engine.DB
	journal  *journal.Journal
	master   *seal.Master
	underway underway
}

// New returns the outcomes stored in a database. master seals those that
// contain a secret; patience is how long a request waits for the first one with
// its key, or 0 for the lock timeout of the database.
func New(db *engine.DB, j *journal.Journal, master *seal.Master, patience time.Duration) *Keys {
	return &Keys{db, j, master, newUnderway(cmp.Or(patience, engine.LockWait))}
}

// Org is a client's requests to its organisation.
type Org struct {
	*Keys
	org    access.OrgNo
	client access.ClientNo
}

// For returns the requests of a principal.
func For(k *Keys, p *access.Principal) Org { return Org{k, p.Org, p.Client} }
