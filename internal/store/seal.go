package store

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"anodyne/internal/access"
	"anodyne/internal/audit"
)

// SealedHead is how far an organisation's journal is sealed.
type SealedHead struct {
	Org  access.OrgNo
	Name string
	Pos  Pos
	Head audit.Head
}

// Seal seals what came into the journals since the last time, and returns
// the heads that moved.
func (s System) Seal(ctx context.Context) (moved []SealedHead, err error) {
	var behind []SealedHead
	err = s.read(ctx, func(tx Tx) error {
		behind = nil
		return tx.Query(`SELECT h.org_no, o.name, coalesce(s.pos, 0), s.head FROM journal_head h
			JOIN org o ON o.org_no = h.org_no LEFT JOIN journal_seal s ON s.org_no = h.org_no
			WHERE h.pos > coalesce(s.pos, 0)`, func(r Row) error {
			sealed := SealedHead{Org: access.OrgNo(r.Int(0)), Name: r.Text(1), Pos: Pos(r.Int(2))}
			copy(sealed.Head[:], r.Raw(3))
			behind = append(behind, sealed)
			return nil
		})
	})
	for _, from := range behind {
		head, sealErr := s.sealOrg(ctx, from)
		if sealErr != nil {
			err = errors.Join(err, sealErr)
		} else if head.Pos > from.Pos {
			moved = append(moved, head)
		}
	}
	return moved, err
}

// sealOrg goes on from a seal in slices. Another node may be doing the same:
// the row changes only from the seal that was read.
func (s System) sealOrg(ctx context.Context, from SealedHead) (SealedHead, error) {
	for {
		sealer := audit.NewSealer(s.auditKey, from.Head)
		to, err := s.chain(ctx, sealer, from.Org, from.Pos, from.Pos+2000)
		if err != nil || to == from.Pos {
			return from, err
		}
		next := SealedHead{from.Org, from.Name, to, sealer.Head()}
		var changed int64
		err = s.write(ctx, func(tx Tx) (err error) {
			now := millis(s.now())
			if from.Pos == 0 {
				changed, err = tx.Exec(`INSERT INTO journal_seal (org_no, pos, head, sealed_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
					int64(from.Org), int64(to), next.Head[:], now)
			} else {
				changed, err = tx.Exec(`UPDATE journal_seal SET pos = $2, head = $3, sealed_at = $4 WHERE org_no = $1 AND pos = $5`,
					int64(from.Org), int64(to), next.Head[:], now, int64(from.Pos))
			}
			return err
		})
		if err != nil || changed == 0 {
			return from, err
		}
		from = next
	}
}

var errHole = errors.New("the journal entry is missing")

// chain adds the entries after one position up to another to a sealer, and
// says how far it came. A hole in the positions is an error.
func (s System) chain(ctx context.Context, sealer *audit.Sealer, org access.OrgNo, after, upTo Pos) (Pos, error) {
	at := after
	var numbers []byte
	err := s.read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT pos, at, subject, event_id, event_type, event_data, audit, packed FROM journal
			WHERE org_no = $1 AND pos > $2 AND pos <= $3 ORDER BY pos`, func(r Row) error {
			if pos := Pos(r.Int(0)); pos != at+1 {
				return fmt.Errorf("organisation number %d: entry %d: %w", org, at+1, errHole)
			}
			at++
			numbers = binary.BigEndian.AppendUint64(numbers[:0], uint64(r.Int(1)))
			numbers = binary.BigEndian.AppendUint64(numbers, uint64(r.Int(7)))
			sealer.Add(int64(at), numbers, r.Raw(2), r.Raw(3), r.Raw(4), r.Raw(5), r.Raw(6))
			return nil
		}, int64(org), int64(after), int64(upTo))
	})
	return at, err
}

// sealEvery is how often reads are shipped and journals sealed.
const sealEvery = time.Second

// KeepSealed ships reads and seals until the context ends, and once more
// then. Heads are logged now and then: a log kept elsewhere shows a cut tail.
func (s System) KeepSealed(ctx context.Context) error {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	logged := map[access.OrgNo]time.Time{}
	for {
		ending := ctx.Err() != nil
		round, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		err := s.FlushReads(round)
		moved, sealErr := s.Seal(round)
		cancel()
		s.metrics.shipped.Done(err)
		s.metrics.sealed.Done(sealErr)
		if err = errors.Join(err, sealErr); err != nil {
			s.log.Warn("audit log", "error", err)
		}
		for _, h := range moved {
			if ending || s.now().Sub(logged[h.Org]) > time.Hour {
				logged[h.Org] = s.now()
				s.log.Info("audit seal", "organization", h.Name, "pos", h.Pos, "head", hex.EncodeToString(h.Head[:]))
			}
		}
		if ending {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
