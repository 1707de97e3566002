package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"anodyne.example/anodyne/client"
)

// demoReceiver is a webhook receiver in the demo's own process. It verifies
// the signatures of incoming events and prints them.
type demoReceiver struct {
	server *http.Server
	url    string
	mu     sync.Mutex
	secret string
}

// receive starts the receiver. It rejects all events until its secret is set.
func receive(out io.Writer) (*demoReceiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &demoReceiver{url: "http://" + listener.Addr().String() + "/webhook"}
	d.server = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		secret := d.secret
		d.mu.Unlock()
		event, err := client.ReadWebhook(r, secret)
		if secret == "" || err != nil {
			http.Error(w, "the signature does not match", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(out, "webhook  %s  %-22s %s  (signature verified)\n", event.Timestamp.Format(time.TimeOnly), event.Type, event.Data)
		fmt.Fprintln(w, "thank you")
	})}
	go func() { _ = d.server.Serve(listener) }() // ends with Close
	return d, nil
}

func (d *demoReceiver) close() { _ = d.server.Close() }

// subscribe registers the receiver as a webhook, or updates the URL of the
// webhook from an earlier start.
func (d *demoReceiver) subscribe(ctx context.Context, c *client.Client, state *demoState) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if state.WebhookID != "" {
		_, err := c.UpdateWebhook(ctx, state.WebhookID, client.WebhookPatch{URL: client.Set(d.url), Status: client.Set("enabled")})
		if err == nil {
			d.secret = state.WebhookSecret
			return nil
		}
		if gone, ok := errors.AsType[*client.Error](err); !ok || gone.Status != http.StatusNotFound {
			return err
		}
	}
	made, err := c.CreateWebhook(ctx, client.NewWebhook{URL: d.url, Events: []client.EventType{"*"}, Description: "The receiver of the demo"})
	if err != nil {
		return err
	}
	d.secret = made.Secret
	state.WebhookID, state.WebhookSecret = made.ID, made.Secret
	return state.save()
}
