package webhooks

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/lease"
)

// Attendance tells the other nodes that one that delivers webhooks is there. It
// is a lock that ends with the process, however that ends: on SQLite one that
// the kernel keeps for an open file, on PostgreSQL one of a session of its own.
// The lease of a node is what counts when it hangs, or is cut off.
type Attendance struct {
	sys System
	// Node is the number of the node, which nobody else has.
	Node int64

	mu    sync.Mutex
	leave func()
}

// lockedNodes is the least number of a node that holds a lock. A node with a
// smaller one, of an older version or without a lock, is known by its lease.
const lockedNodes = int64(1) << 62

// Attend takes a number and its lock. When the lock cannot be had, the error
// says why, and the node has only its lease.
func (s System) Attend(ctx context.Context) (*Attendance, error) {
	a := &Attendance{sys: s, Node: lockedNodes + rand.Int64N(lockedNodes)}
	err := a.Again(ctx)
	if err != nil {
		a.Node -= lockedNodes - 1
	}
	return a, err
}

// Locked reports whether the node has a number with a lock.
func (a *Attendance) Locked() bool { return a.Node >= lockedNodes }

// Again takes the lock once more, after it was lost.
func (a *Attendance) Again(ctx context.Context) error {
	a.Leave()
	leave, err := a.sys.db.Attend(ctx, a.Node)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leave = leave
	return nil
}

// Leave gives the lock up; twice is safe.
func (a *Attendance) Leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
}

// Roll is which nodes are there.
type Roll struct {
	// Others are the nodes that live, without the one that asks.
	Others []int64
	// Freed says that leases were taken away.
	Freed bool
	// Missed says that the one that asks has lost its lock, and the others take
	// it for dead. It then finds out nothing about them: whatever took its lock
	// may have taken theirs.
	Missed bool
}

// CallRoll finds out which nodes live, and takes away the leases of those that
// do not, so that their claims are free: those whose lease has run out, and
// those whose process has ended.
func (s System) CallRoll(ctx context.Context, self int64) (roll Roll, err error) {
	after, upTo := lease.Living(s.db.Now())
	type lease struct{ node, until int64 }
	var leases []lease
	present := map[int64]bool{}
	if err := s.db.Read(ctx, func(tx engine.Tx) error {
		leases, roll = nil, Roll{}
		clear(present)
		stmts := []engine.Stmt{{SQL: `SELECT node, lease_until FROM webhook_node`, Each: func(r engine.Row) error {
			leases = append(leases, lease{r.Int(0), r.Int(1)})
			return nil
		}}}
		if locks := s.db.Dialect().Locks; locks != "" {
			stmts = append(stmts, engine.Stmt{SQL: locks, Each: func(r engine.Row) error {
				present[r.Int(0)] = true
				return nil
			}})
		}
		return tx.Many(stmts...)
	}); err != nil {
		return roll, err
	}
	if self >= lockedNodes && !present[self] && !s.db.Attends(self) {
		return Roll{Missed: true}, nil
	}
	var gone []engine.Stmt
	for _, l := range leases {
		there := l.node < lockedNodes || present[l.node] || s.db.Attends(l.node)
		switch {
		case l.node == self:
		case there && l.until > after && l.until <= upTo:
			roll.Others = append(roll.Others, l.node)
		default: // one that has renewed its lease meanwhile keeps it
			gone = append(gone, engine.Stmt{SQL: `DELETE FROM webhook_node WHERE node = $1 AND lease_until = $2`, Args: []any{l.node, l.until}})
		}
	}
	slices.Sort(roll.Others)
	if len(gone) == 0 {
		return roll, nil
	}
	roll.Freed = true
	return roll, s.db.Write(ctx, func(tx engine.Tx) error { return tx.Many(gone...) })
}
