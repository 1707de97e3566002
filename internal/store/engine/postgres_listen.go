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
	conn := pooled.Hijack() // a listening connection must not return to the pool
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
		defer cancel()
		_ = conn.Close(last) // the server may be unreachable
	}()
	if _, err := e.tx(ctx, conn).Exec("LISTEN " + channel); err != nil {
		return err
	}
	for { // without a deadline; TCP keep-alive detects a lost connection
		said, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		heard(said.Payload)
	}
}
