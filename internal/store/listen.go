package store

import (
	"context"
	"time"

	"anodyne/internal/access"
)

const journalChannel = "anodyne_journal"

// notify tells the other nodes whose journals have grown. It is no part of
// a transaction: inside one, NOTIFY makes all commits wait for each other.
func (e *postgresEngine) notify(ctx context.Context, orgs []access.OrgNo) error {
	_, err := e.pool.Exec(ctx, "SELECT pg_notify($1, $2)", journalChannel, printOrgs(orgs))
	return err
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
			s.log.Warn("not told of other nodes' journal entries; looking for them instead", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

func (s System) listen(ctx context.Context, pg *postgresEngine) error {
	pooled, err := pg.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // LISTEN must not go back into the pool
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+journalChannel); err != nil {
		return err
	}
	for {
		said, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		s.grew(parseOrgs(said.Payload))
	}
}
