package journal

import (
	"bytes"
	"context"
	"math"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/engine"
)

// AuditCursor is a position in the audit log: an entry and a line within it.
type AuditCursor struct {
	Pos  Pos
	Line int
}

// AuditFilter selects lines by action or resource.
type AuditFilter struct {
	Action   audit.Action
	Resource string
}

func (f AuditFilter) takes(line []byte) bool {
	return (f.Action == "" || bytes.Contains(line, []byte(`,"action":"`+string(f.Action)+`"`))) &&
		(f.Resource == "" || bytes.Contains(line, []byte(`"resource":"`+f.Resource+`"`)))
}

// auditScan bounds the number of entries that one call reads, whatever its
// filter.
const auditScan = 2000

// Audit returns up to limit lines after a cursor, oldest first, each a JSON
// object, and the cursor to continue from. With a filter it may return few
// lines or none before the end of the log is reached; the cursor advances
// nevertheless.
func (o Org) Audit(ctx context.Context, after AuditCursor, limit int, filter AuditFilter) (lines [][]byte, next AuditCursor, err error) {
	err = o.j.db.Read(ctx, func(tx engine.Tx) error {
		lines, next = nil, after
		first := after.Pos
		if after.Line > 0 {
			first-- // the entry has more lines
		}
		scan := auditScan
		if filter == (AuditFilter{}) {
			scan = min(scan, limit) // every entry has at least one line
		}
		return tx.Query(`SELECT pos, audit, packed FROM journal WHERE org_no = $1 AND pos > $2 ORDER BY pos LIMIT $3`, func(r engine.Row) error {
			if len(lines) == limit {
				return nil
			}
			pos := Pos(r.Int(0))
			entry, err := unpack(r.Raw(1), r.Int(2))
			if err != nil {
				return err
			}
			from := 0
			if pos == after.Pos {
				from = after.Line
			}
			for i := from; i < len(entry); i++ {
				if len(lines) == limit {
					next = AuditCursor{pos, i}
					return nil
				}
				if filter.takes(entry[i]) {
					lines = append(lines, entry[i])
				}
			}
			next = AuditCursor{Pos: pos}
			return nil
		}, int64(o.org), int64(first), scan)
	})
	return lines, next, err
}

// AuditNewest is Audit in reverse: it returns up to limit lines before a
// cursor, newest first. The zero cursor is the end of the log. more is false
// once the beginning was reached.
func (o Org) AuditNewest(ctx context.Context, before AuditCursor, limit int, filter AuditFilter) (lines [][]byte, next AuditCursor, more bool, err error) {
	err = o.j.db.Read(ctx, func(tx engine.Tx) error {
		lines, next, more = nil, before, false
		last := int64(before.Pos)
		if before == (AuditCursor{}) {
			last = math.MaxInt64
		}
		scan, seen := auditScan, 0
		if filter == (AuditFilter{}) {
			scan = min(scan, limit) // every entry has at least one line
		}
		return tx.Query(`SELECT pos, audit, packed FROM journal WHERE org_no = $1 AND pos <= $2 ORDER BY pos DESC LIMIT $3`, func(r engine.Row) error {
			if seen++; seen > scan {
				more = true
			}
			if more {
				return nil
			}
			pos := Pos(r.Int(0))
			entry, err := unpack(r.Raw(1), r.Int(2))
			if err != nil {
				return err
			}
			from := len(entry)
			if pos == before.Pos {
				from = min(from, before.Line)
			}
			for i := from - 1; i >= 0; i-- {
				if len(lines) == limit {
					more = true
					return nil
				}
				if filter.takes(entry[i]) {
					lines = append(lines, entry[i])
				}
				next = AuditCursor{pos, i}
			}
			return nil
		}, int64(o.org), last, scan+1)
	})
	return lines, next, more, err
}
