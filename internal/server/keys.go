package server

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/webhook"
)

// keysTime limits how long reading a client's keys may take, which a token
// request waits for.
const keysTime = 5 * time.Second

// keysFrom reads the keys that clients publish, under the rules for webhooks.
func keysFrom(sender *webhook.Sender) oauth.FetchKeys {
	return func(ctx context.Context, uri string) ([]byte, string, error) {
		d, err := sender.Fetch(ctx, uri, oauth.KeysLimit, keysTime)
		return d.Body, d.CacheControl, err
	}
}

// checkKeys returns how many usable keys are published at an address, so that
// a wrong one is noticed when it is registered.
func checkKeys(fetch oauth.FetchKeys) func(context.Context, string) (int, error) {
	return func(ctx context.Context, uri string) (int, error) {
		body, _, err := fetch(ctx, uri)
		if err != nil {
			return 0, err
		}
		return oauth.CheckPublished(body)
	}
}
