package store

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
)

const journalChannel = "anodyne_journal"

// notify tells the other nodes whose journals have grown. It is no part of
// a transaction: inside one, NOTIFY makes all commits wait for each other.
func (e *postgresEngine) notify(ctx context.Context, orgs []access.OrgNo) error {
	return e.read(ctx, func(tx Tx) error {
		return tx.Query("SELECT pg_notify($1, $2)", nil, journalChannel, printOrgs(orgs))
	})
}

// Listen wakes those who wait for the journal when another node says that it
// has grown, until the context ends. It is only the speed: whoever waits also
// looks for himself. On SQLite it returns at once.
func (s System) Listen(ctx context.Context) error {
	pg, ok := s.engine.(*postgresEngine)
	if !ok {
		return nil
	}
	for ctx.Err() == nil {
		if err := s.listen(ctx, pg); err != nil && ctx.Err() == nil {
			s.log.Warn("not notified of other nodes' journal entries; polling instead", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

func (s System) listen(ctx context.Context, pg *postgresEngine) error {
	pooled, err := pg.acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // LISTEN must not go back into the pool
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
		defer cancel()
		_ = conn.Close(last) // it says goodbye to nobody, if need be
	}()
	if _, err := pg.tx(ctx, conn).Exec("LISTEN " + journalChannel); err != nil {
		return err
	}
	for { // which has no end; whether the other side is still there, keep-alive tells
		said, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		s.grew(parseOrgs(said.Payload))
	}
}
