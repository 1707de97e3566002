package store

import (
	"context"
	"time"
)

const journalChannel = "anodyne_journal"

// notify tells the other nodes that the journal has grown. It is no part of
// a transaction: inside one, NOTIFY makes all commits wait for each other.
func (e *postgresEngine) notify(ctx context.Context) error {
	_, err := e.pool.Exec(ctx, "NOTIFY "+journalChannel)
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
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
		s.positioned.broadcast()
	}
}
