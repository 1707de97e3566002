package journal

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

const (
	// shippedPage is the number of entries to read at a time in search of lines.
	shippedPage = 1000
	// shippedSlack is how much earlier than its lines an entry may seem to be,
	// because it was added by a node with another clock, or by a transaction that
	// took long.
	shippedSlack = 10 * time.Minute
)

// hasLines reports whether the lines of an organisation, which are shipped
// together, are in its journal. It searches backwards until the entries are older
// than the first line.
func (s System) hasLines(tx engine.Tx, org access.OrgNo, lines [][]byte) (found bool, err error) {
	first := lines[:min(len(lines), packLines)]
	var line struct{ At time.Time }
	_ = json.Unmarshal(first[0], &line) // of a damaged line, the whole journal is searched
	since := engine.Millis(line.At.Add(-shippedSlack))
	compare := func(r engine.Row, column int) error {
		body, packed := r.Raw(column), r.Int(column+1)
		if packed != int64(len(first)) {
			return nil
		}
		entry, err := unpack(body, packed)
		for i := range min(len(entry), len(first)) { // an erasure may have changed some of them since
			found = found || bytes.Equal(entry[i], bytes.TrimSuffix(first[i], []byte{'\n'}))
		}
		return err
	}
	if s.j.db.Dialect().Sequenced {
		if err := tx.Query(`SELECT audit, packed FROM journal_pending WHERE org_no = $1 AND packed = $2`,
			func(r engine.Row) error { return compare(r, 0) }, int64(org), int64(len(first))); err != nil {
			return false, err
		}
	}
	for before, more := int64(math.MaxInt64), true; more && !found; {
		read, recent := 0, false
		if err := tx.Query(`SELECT pos, at, audit, packed FROM journal WHERE org_no = $1 AND pos < $2 ORDER BY pos DESC LIMIT $3`, func(r engine.Row) error {
			read++
			before, recent = r.Int(0), recent || r.Int(1) >= since
			return compare(r, 2)
		}, int64(org), before, shippedPage); err != nil {
			return false, err
		}
		more = read == shippedPage && recent
	}
	return found, nil
}
