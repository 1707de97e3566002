package journal

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// SealedHead is the position up to which an organisation's journal is sealed.
type SealedHead struct {
	Org  access.OrgNo
	ID   id.Org
	Name string
	Pos  Pos
	Head audit.Head
}

// Seal seals the entries appended since the last time, and returns the heads
// that moved. It skips journals that contradict this node's witness.
func (s System) Seal(ctx context.Context) (moved []SealedHead, err error) {
	s.j.witness.mu.Lock()
	defer s.j.witness.mu.Unlock()
	if ok, err := s.openWitness(ctx); err != nil || !ok {
		return nil, err
	}
	behind, err := s.unsealed(ctx)
	// A different order each time, so that slow organisations do not always delay
	// the same others.
	rand.Shuffle(len(behind), func(i, j int) { behind[i], behind[j] = behind[j], behind[i] })
	for _, j := range behind {
		if ctx.Err() != nil {
			err = errors.Join(err, ctx.Err())
			break
		}
		if !s.j.sealing.Ready(j.sealed.Org) {
			continue
		}
		head, sealErr := s.sealOrg(ctx, j)
		if s.j.sealing.Done(ctx, j.sealed.Org, sealErr) != nil {
			err = errors.Join(err, sealErr)
		} else if head.Pos > j.sealed.Pos {
			moved = append(moved, head)
		}
	}
	return moved, errors.Join(err, s.keepWitness(false))
}

// behindSeal selects the journals with entries after their seal.
const behindSeal = `SELECT o.org_no, o.id, o.name, h.pos, s.pos, s.head FROM journal_head h JOIN org o ON o.org_no = h.org_no
	LEFT JOIN journal_seal s ON s.org_no = h.org_no /*AND s.org_no = ANY($1)*/ WHERE h.pos > coalesce(s.pos, 0) /*AND h.org_no = ANY($1)*/`

// unsealed returns the journals with entries after their seal. If a part of the
// database is unavailable, it returns those it could read with the error.
func (s System) unsealed(ctx context.Context) (behind []journalState, err error) {
	behind, err = engine.List(ctx, s.j.db, behindSeal, func(r engine.Row) (journalState, error) { return scanJournal(r), nil })
	s.missed(ctx, err)
	return behind, err
}

// sealOrg continues a seal, a slice at a time. Other nodes may do the same, so
// it updates the row only if it still has the seal that was read. The witness
// records a seal once it is committed.
func (s System) sealOrg(ctx context.Context, j journalState) (SealedHead, error) {
	from, l := j.sealed, s.j.witness.log(j)
	if sound, err := s.judge(ctx, l, j); err != nil || !sound {
		return from, err
	}
	for from.Pos < j.newest {
		sealer := audit.NewSealer(s.j.auditKey, from.Head)
		to := min(from.Pos+walkEntries, j.newest)
		reached, err := s.chain(ctx, sealer, from.Org, from.Pos, to)
		if err != nil && !errors.Is(err, errHole) {
			return from, err
		}
		if reached < to {
			s.breakSeal(ctx, l, brokenOff(reached, j.newest))
			return from, nil
		}
		next := from
		next.Pos, next.Head = to, sealer.Head()
		var changed int64
		err = s.j.db.Write(ctx, func(tx engine.Tx) (err error) {
			now := engine.Millis(s.j.db.Now())
			if from.Pos == 0 {
				changed, err = tx.Exec(`INSERT INTO journal_seal (org_no, pos, head, sealed_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
					int64(from.Org), int64(to), next.Head[:], now)
			} else {
				changed, err = tx.Exec(`UPDATE journal_seal SET pos = $2, head = $3, sealed_at = $4 WHERE org_no = $1 AND pos = $5 AND head = $6`,
					int64(from.Org), int64(to), next.Head[:], now, int64(from.Pos), from.Head[:])
			}
			return err
		})
		if err != nil || changed == 0 {
			return from, err
		}
		from = next
		s.j.witness.remember(l, from)
	}
	return from, nil
}

// errHole reports that the entry for a position is missing.
var errHole = errors.New("the journal entry is missing")

// chain adds the entries after one position up to another to a sealer, and
// returns the last position added. A gap in the positions is an error, and so
// is an entry before the first.
func (s System) chain(ctx context.Context, sealer *audit.Sealer, org access.OrgNo, after, upTo Pos) (at Pos, err error) {
	for at = after; at < upTo; {
		stop := min(at+walkEntries, upTo)
		at, err = s.chainSlice(ctx, sealer, org, at, stop)
		if err != nil || at < stop {
			return at, err
		}
	}
	return at, nil
}

func (s System) chainSlice(ctx context.Context, sealer *audit.Sealer, org access.OrgNo, after, upTo Pos) (Pos, error) {
	at, low := after, int64(after)
	if after == 0 {
		low = math.MinInt64
	}
	var numbers []byte
	begin := sealer.Head()
	err := s.j.db.Read(ctx, func(tx engine.Tx) error {
		at = after
		sealer.Reset(begin)
		return tx.Query(sealedEntries, func(r engine.Row) error {
			if pos := Pos(r.Int(0)); pos != at+1 || !asWritten(r) {
				return fmt.Errorf("organisation number %d: entry %d: %w", org, at+1, errHole)
			}
			at++
			numbers = addEntry(sealer, r, r.Raw(6), numbers)
			return nil
		}, int64(org), low, int64(upTo))
	})
	if err != nil && !errors.Is(err, errHole) { // interrupted: the slice can be read again
		at = after
		sealer.Reset(begin)
	}
	return at, err
}

// sealedEntries selects entries with all that is sealed, and whether the numbers
// are integers.
const sealedEntries = `SELECT pos, at, subject, event_id, event_type, event_data, audit, packed,
	CASE WHEN at = CAST(at AS BIGINT) AND packed = CAST(packed AS BIGINT) THEN 1 ELSE 0 END FROM journal
	WHERE org_no = $1 AND pos > $2 AND pos <= $3 ORDER BY pos`

// addEntry adds a row of sealedEntries to a sealer, with the given audit lines.
// It uses and returns buf.
func addEntry(sealer *audit.Sealer, r engine.Row, lines, buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(buf[:0], uint64(r.Int(1)))
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.Int(7)))
	sealer.Add(r.Int(0), buf, r.Raw(2), r.Raw(3), r.Raw(4), r.Raw(5), lines)
	return buf
}

// asWritten reports whether the columns of an entry have the form in which the
// program writes them. The seal does not distinguish NULL from an empty text,
// nor an integer from a fraction, which SQLite accepts in any column.
func asWritten(r engine.Row) bool {
	for column := 2; column <= 6; column++ {
		if !r.IsNull(column) && len(r.Raw(column)) == 0 {
			return false
		}
	}
	return r.Int(8) == 1
}

// sealEvery is how often the audit lines of reads are shipped and journals are
// sealed.
const sealEvery = time.Second

const (
	// compareRounds is the number of sealer rounds, of a second each, between
	// two comparisons of all seals with the witness.
	compareRounds = 5
	// compareRest is how often a node compares them while another one is elected
	// for background work; compareLeading is how often the elected node does.
	compareRest, compareLeading = 40 * time.Second, 20 * time.Second
	// patrolRounds is the number of rounds between the starts of two walks over
	// all logs. A walk that ends before the next one is due finds a change within
	// twice that number of rounds.
	patrolRounds = 30
	// patrolGoal is the number of rounds in which a walk should end.
	patrolGoal = patrolRounds * 3 / 4
	// A walk takes at least patrolTime of every round, and up to longestPatrol if it
	// would not end within patrolRounds otherwise.
	patrolTime, longestPatrol = 50 * time.Millisecond, 250 * time.Millisecond
)

// KeepSealed ships the audit lines of reads, seals, and verifies what was
// sealed until the context ends, and then seals once more. It logs heads from
// time to time: logs stored elsewhere serve as another witness.
func (s System) KeepSealed(ctx context.Context) error {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	logged := map[access.OrgNo]time.Time{}
	unlogged := map[access.OrgNo]SealedHead{} // the latest heads that are not logged yet
	watch := watchRounds{poll: s.j.db.NewPoll(compareRest).Leading(compareLeading)}
	due := sealDue{j: s.j, poll: s.j.db.NewPoll(0)}
	pace := shipPace{apart: s.j.db.Distributed()}
	for {
		ending := ctx.Err() != nil
		round, cancel := context.WithTimeout(context.WithoutCancel(ctx), engine.WriteTime)
		ship := s.ShipReads // the sequencer continues from there
		if ending || s.j.db.Duty() == engine.Alone {
			ship = s.FlushReads
		}
		var err error
		if ending || pace.due() {
			err = pace.measure(func() error { return ship(round) })
		}
		// Acceptances have to be known before anything is judged.
		sealErr := watch.compare(round, s)
		var moved []SealedHead
		if due.now() || ending {
			var movedErr error
			if moved, movedErr = s.Seal(round); movedErr != nil {
				due.poll.Again()
			}
			sealErr = errors.Join(sealErr, movedErr)
		}
		sealErr = errors.Join(sealErr, watch.walk(round, s, ending))
		cancel()
		s.j.counts.shipped.Done(engine.IgnorePart(err))
		s.j.counts.sealed.Done(engine.IgnorePart(sealErr))
		if err = errors.Join(err, sealErr); err != nil && !errors.Is(err, engine.ErrPart) { // which is logged by organisation
			s.j.db.Log.Warn("could not store or seal all audit entries; trying again", "error", err)
		}
		for _, h := range moved {
			unlogged[h.Org] = h
			if s.j.db.Now().Sub(logged[h.Org]) > time.Hour {
				logged[h.Org] = s.j.db.Now()
				s.logHead(h)
				delete(unlogged, h.Org)
			}
		}
		if ending {
			for _, h := range unlogged {
				s.logHead(h)
			}
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (s System) logHead(h SealedHead) {
	s.j.db.Log.Info("audit seal", "organization", h.Name, "pos", h.Pos, "head", hex.EncodeToString(h.Head[:]))
}

// sealDue decides in which rounds to seal: if entries were assigned positions
// since the last one, or if it is time to poll. The elected node seals for all.
type sealDue struct {
	j    *Journal
	poll *engine.Poll
	grew <-chan struct{}
}

func (d *sealDue) now() bool {
	due := d.poll.Due()
	select {
	case <-d.grew: // nil in the first round, which polls
		due = due || d.j.db.Duty() != engine.Following
	default:
		if !due {
			return false
		}
	}
	d.grew = d.j.positioned.Wait()
	return due
}

// watchRounds counts the rounds of the sealer, to spread verification over
// them.
type watchRounds struct {
	poll    *engine.Poll
	n       int
	begun   int // the round in which the walk over all logs began
	walking bool
	started time.Time     // when it began
	took    time.Duration // the time it has taken of its rounds
	share   time.Duration // the time it may take of each
}

func (r *watchRounds) compare(ctx context.Context, s System) error {
	due := r.poll.Due()
	if s.j.db.Duty() == engine.Alone {
		due = r.n%compareRounds == 0
	}
	if r.n++; !due {
		return nil
	}
	err := s.compareSeals(ctx)
	if err != nil {
		r.poll.Again()
	}
	return err
}

func (r *watchRounds) walk(ctx context.Context, s System, ending bool) error {
	if ending {
		s.j.witness.mu.Lock()
		defer s.j.witness.mu.Unlock()
		return s.keepWitness(true)
	}
	if s.j.db.Duty() == engine.Following { // the elected node walks
		r.walking = false
		return nil
	}
	if !r.walking && (r.begun == 0 || r.n-r.begun >= patrolRounds) {
		s.beginPatrol()
		r.begun, r.walking, r.started, r.took = r.n, true, time.Now(), 0
	}
	if !r.walking {
		return nil
	}
	from, share := time.Now(), r.patrolTime()
	done, err := s.goOnPatrol(ctx, func() bool { return time.Since(from) < share })
	r.took += time.Since(from)
	if r.walking = !done; done {
		r.share = r.took / patrolGoal
		if err == nil {
			s.j.counts.scanned.Set(time.Since(r.started).Seconds())
		}
	}
	return err
}

// patrolTime returns how much of this round the walk may take: enough to reach the
// goal if it has as much to do as the last one. If it has more, it hurries after
// that.
func (r *watchRounds) patrolTime() time.Duration {
	if r.n-r.begun >= patrolGoal {
		return longestPatrol
	}
	return min(max(r.share, patrolTime), longestPatrol)
}
