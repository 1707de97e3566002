package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

// ShipReads moves the audit lines of reads to the journal, both of this process
// and of processes that died.
func (s System) ShipReads(ctx context.Context) error {
	failed, err := s.shipReads(ctx, 0)
	for _, orgErr := range failed {
		err = errors.Join(err, orgErr)
	}
	return err
}

// shipReads ships all segments. It returns the errors of organisations whose
// lines are still pending. If only is not 0, nobody waits for the lines of
// other organisations, so they may be left for the next call.
func (s System) shipReads(ctx context.Context, only access.OrgNo) (failed map[access.OrgNo]error, err error) {
	select {
	case s.j.spool.shipping <- struct{}{}:
		defer func() { <-s.j.spool.shipping }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	segments, err := s.j.spool.orphans()
	own, rotateErr := s.j.spool.rotate()
	err = errors.Join(err, rotateErr)
	failed = map[access.OrgNo]error{}
	for i, seg := range append(segments, own...) {
		// Close unlocks a segment that failed, so that it is found again as an
		// orphan.
		err = errors.Join(err, s.ship(ctx, seg, i >= len(segments), only, failed), seg.Close())
	}
	return failed, err
}

// packLines bounds the number of lines in one journal entry.
const packLines = 1000

// ship writes one segment to the journal, each line exactly once: the segment's
// name is stored in the same transaction. If that fails, or the organisations are
// on different servers, each organisation's lines are written in a transaction of
// their own, with the name of the segment and the organisation, so that they do
// not wait for others. fresh is set for a segment that nobody has tried to ship yet.
func (s System) ship(ctx context.Context, seg segment, fresh bool, only access.OrgNo, failed map[access.OrgNo]error) error {
	if _, err := seg.Seek(0, io.SeekStart); err != nil {
		return err
	}
	content, err := io.ReadAll(seg)
	if err != nil {
		return err
	}
	name, lines := strings.TrimSuffix(filepath.Base(seg.path), segmentSuffix), linesByOrg(content)
	pending := func(err error) error {
		return fmt.Errorf("audit lines of reads are pending in %s: %w", seg.path, err)
	}
	orgs := slices.Sorted(maps.Keys(lines))
	if fresh && !s.j.db.Distributed() {
		err := s.shipWhole(ctx, name, lines)
		if err == nil {
			return removeShipped(seg)
		}
		if len(orgs) < 2 || s.j.db.Ping(ctx) != nil {
			for _, org := range orgs {
				failed[org] = pending(err)
			}
			return nil
		}
	}
	left := 0
	for _, org := range orgs {
		var err error
		switch {
		case org == only, only == 0 && s.j.shipping.Ready(org):
			err = s.j.shipping.Done(ctx, org, s.shipPart(ctx, name, org, lines[org], fresh))
		default:
			err = errors.New("not tried")
		}
		if err != nil {
			failed[org] = fmt.Errorf("%w: %w", engine.ErrPart, pending(err))
			left++
		}
	}
	if left > 0 {
		return nil
	}
	return removeShipped(seg)
}

// removeShipped removes the file of a segment, if no other process has done so.
func removeShipped(seg segment) error {
	if err := os.Remove(seg.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

const noteSegment = `INSERT INTO spool_segment (segment, shipped_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`

// shipWhole writes all lines of a segment in one transaction.
func (s System) shipWhole(ctx context.Context, name string, lines map[access.OrgNo][][]byte) error {
	now := engine.Millis(s.j.db.Now())
	var entries []engine.Stmt
	for org, list := range lines {
		entries = append(entries, s.packed(org, list, now)...)
	}
	return s.j.ChangeIn(ctx, nowhere, func(tx engine.Tx) error {
		fresh, err := tx.Exec(noteSegment, name, now)
		if err == nil && fresh > 0 {
			tx.Last(entries...)
		}
		return err
	})
}

// shipPart writes the lines of one organisation, unless the whole segment was
// shipped. The outcome of an attempt to do that may still be open, so it takes
// the name of the whole segment for a moment, which waits for that attempt. In a
// Citus cluster, no segment is shipped as a whole, but the worker commits before
// the coordinator: if that was killed in between, the lines are stored without
// the name. Unless the segment is fresh, they are therefore looked for.
func (s System) shipPart(ctx context.Context, name string, org access.OrgNo, lines [][]byte, fresh bool) error {
	now := engine.Millis(s.j.db.Now())
	entries := s.packed(org, lines, now)
	return s.j.ChangeIn(ctx, nowhere, func(tx engine.Tx) error {
		if !s.j.db.Distributed() {
			if fresh, err := tx.Exec(noteSegment, name, now); err != nil || fresh == 0 {
				return err
			}
			if _, err := tx.Exec(`DELETE FROM spool_segment WHERE segment = $1`, name); err != nil {
				return err
			}
		}
		noted, err := tx.Exec(noteSegment, name+"/"+strconv.FormatInt(int64(org), 10), now)
		if err != nil || noted == 0 {
			return err
		}
		if !fresh {
			if stored, err := s.hasLines(tx, org, lines); err != nil || stored {
				return err
			}
		}
		tx.Last(entries...)
		return nil
	})
}

// packed returns the statements that append the lines of an organisation to its
// journal.
func (s System) packed(org access.OrgNo, lines [][]byte, now int64) (entries []engine.Stmt) {
	for chunk := range slices.Chunk(lines, packLines) {
		entries = append(entries, s.j.Rows(org, Row{now, nil, nil, nil, nil, pack(chunk), int64(len(chunk))})...)
	}
	return entries
}

const (
	// On a distributed database, lines are shipped for one organisation at a time.
	// Between two rounds, a node rests for shipRest times as long as the last one
	// took, but at most for longestShipRest, so that reads of many organisations do
	// not keep the cluster busy with their audit lines.
	shipRest        = 10
	longestShipRest = 5 * time.Second
)

// shipPace decides in which rounds to ship.
type shipPace struct {
	apart bool
	next  time.Time
}

func (p *shipPace) due() bool { return !p.apart || !time.Now().Before(p.next) }

// measure ships, and notes how long that took.
func (p *shipPace) measure(ship func() error) error {
	began := time.Now()
	err := ship()
	p.next = time.Now().Add(min(shipRest*time.Since(began), longestShipRest))
	return err
}
