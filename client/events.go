package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"time"
)

const (
	// followWait is how long one request of FollowEvents waits for an event.
	followWait = 25 * time.Second

	// followPause is the minimum time between two requests that returned no
	// events, in case the service, or a proxy in front of it, responds without
	// waiting.
	followPause = time.Second
)

// Event is something that happened in the organisation's data.
type Event struct {
	ID        string    `json:"id"`
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// Data is a JSON object with the identifiers of the records concerned.
	Data json.RawMessage `json:"data"`
}

// EventPage is one page of the event log.
type EventPage = CursorPage[Event]

// Events returns the events after the cursor after, oldest first; "" is the
// start of the log. If there are none yet, the service waits for one for up to
// wait, in whole seconds up to 30. A limit of 0 uses the service's default. It
// needs the scope events:read.
func (c *Client) Events(ctx context.Context, after string, limit int, wait time.Duration) (*EventPage, error) {
	q := url.Values{}
	if after != "" {
		q.Set("after", after)
	}
	setNumber(q, "limit", limit)
	setNumber(q, "wait", int((wait+time.Second-1)/time.Second))
	return answered[EventPage](ctx, c, &call{op: "read events", method: http.MethodGet, path: []string{"v1", "events"}, query: q}, nil)
}

// AllEvents yields the events after the cursor after, up to the end of the
// log. It stops after the first error.
func (c *Client) AllEvents(ctx context.Context, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for page, err := range c.eventPages(ctx, after, 0) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Data {
				if !yield(event, nil) {
					return
				}
			}
			if len(page.Data) == 0 {
				return
			}
		}
	}
}

// FollowEvents yields the events after the cursor after and then waits for
// more, until the context ends or another error occurs; that error is the last
// value it yields. It yields whole, non-empty pages: a reader that stores
// NextCursor once it has processed a page can resume there later without
// missing an event.
func (c *Client) FollowEvents(ctx context.Context, after string) iter.Seq2[*EventPage, error] {
	return func(yield func(*EventPage, error) bool) {
		asked := time.Now()
		for page, err := range c.eventPages(ctx, after, followWait) {
			if err != nil || len(page.Data) > 0 {
				if !yield(page, err) {
					return
				}
			} else if early := followPause - time.Since(asked); early > 0 {
				// If the context ends here, the next request returns its error.
				_ = sleep(ctx, early)
			}
			asked = time.Now()
		}
	}
}

// eventPages yields page after page, including empty ones, until the first
// error.
func (c *Client) eventPages(ctx context.Context, after string, wait time.Duration) iter.Seq2[*EventPage, error] {
	return func(yield func(*EventPage, error) bool) {
		for {
			page, err := c.Events(ctx, after, maxLimit, wait)
			if err == nil && len(page.Data) > 0 && (page.NextCursor == "" || page.NextCursor == after) {
				err = errors.New("anodyne: read events: the cursor does not move on")
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) {
				return
			}
			if page.NextCursor != "" {
				after = page.NextCursor
			}
		}
	}
}
