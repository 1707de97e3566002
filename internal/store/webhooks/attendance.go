package webhooks

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/lease"
)

// Attendance shows other nodes that this one is alive and delivers webhooks. It
// is a lock that ends with the process, however that ends: on SQLite a lock on
// an open file, on PostgreSQL a lock of a dedicated session. If a node hangs or
// is cut off, its lease decides instead.
type Attendance struct {
	sys System
	// Node is the unique number of the node.
	Node int64

	mu    sync.Mutex
	leave func()
}

// lockedNodes is the lowest number of nodes with a lock. Nodes with a lower
// number, which are of an older version or have no lock, are judged by their
// lease.
const lockedNodes = int64(1) << 62

// Attend takes a number and its lock. If it cannot get the lock, it returns the
// reason, and the node has only its lease.
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

// Again takes the lock again after it was lost.
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

// Leave releases the lock. It may be called more than once.
func (a *Attendance) Leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
}

// Roll lists the live nodes.
type Roll struct {
	// Others are the live nodes other than the caller.
	Others []int64
	// Freed reports whether leases were removed.
	Freed bool
	// Missed reports whether the caller has lost its lock, so that other nodes
	// consider it dead. In that case it learns nothing about them: the cause
	// may have affected their locks too.
	Missed bool
}

// CallRoll determines which nodes are alive, and removes the leases of the
// others, which frees their claims: those whose lease has expired, and those
// whose process has ended.
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
		default: // a node that has renewed its lease in the meantime keeps it
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
