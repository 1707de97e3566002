package engine

import "context"

func (e *postgresEngine) tell(ctx context.Context, channel, text string) error {
	return e.read(ctx, func(tx Tx) error {
		return tx.Query("SELECT pg_notify($1, $2)", nil, channel, text)
	})
}

func (e *postgresEngine) listen(ctx context.Context, channel string, heard func(text string)) error {
	pooled, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // LISTEN must not go back into the pool
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
		defer cancel()
		_ = conn.Close(last) // it says goodbye to nobody, if need be
	}()
	if _, err := e.tx(ctx, conn).Exec("LISTEN " + channel); err != nil {
		return err
	}
	for { // which has no end; whether the other side is still there, keep-alive tells
		said, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		heard(said.Payload)
	}
}
