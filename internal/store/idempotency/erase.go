package idempotency

import (
	"bytes"
	"strings"

	"anodyne.example/anodyne/internal/store/engine"
)

// Forget deletes the outcomes of all clients of the organisation that contain
// one of some identifiers, with or without its prefix: FHIR resources have none.
// Sealed outcomes are those of webhooks, which contain no patients.
func (o Org) Forget(tx engine.Tx, identifiers ...string) error {
	type place struct {
		client int64
		key    []byte
	}
	var found []place
	texts := make([][]byte, len(identifiers))
	for i, identifier := range identifiers {
		texts[i] = []byte(identifier[strings.LastIndexByte(identifier, '_')+1:])
	}
	if err := tx.Query(`SELECT client_no, key_hash, location, body FROM idempotency WHERE org_no = $1`, func(r engine.Row) error {
		for _, text := range texts {
			if bytes.Contains(r.Raw(2), text) || bytes.Contains(r.Raw(3), text) {
				found = append(found, place{r.Int(0), bytes.Clone(r.Raw(1))})
				break
			}
		}
		return nil
	}, int64(o.org)); err != nil {
		return err
	}
	for _, at := range found {
		if _, err := tx.Exec(`DELETE FROM idempotency WHERE org_no = $1 AND client_no = $2 AND key_hash = $3`, int64(o.org), at.client, at.key); err != nil {
			return err
		}
	}
	return nil
}
