package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// maxFeedLimit is the maximum number of records on a page of the feed.
const maxFeedLimit = 1000

// FeedQuery selects a part of the feed of all records.
type FeedQuery struct {
	// After is the NextCursor of an earlier page; "" is the start of the feed.
	After string
	// Limit is the maximum number of records on a page, up to 1,000. 0 uses the
	// service's default.
	Limit     int
	DataTypes []string
}

// FeedPage is one page of the feed.
type FeedPage struct {
	// Data has records in the order in which they changed, whatever their
	// status. It can have fewer than the limit, or none, even if HasMore is
	// true.
	Data []Record `json:"data"`
	// RemovedPatients were erased or merged into another patient. Their records
	// must be deleted from a copy; those of a merged patient are listed again
	// with the other one.
	RemovedPatients []string `json:"removed_patients"`
	// HasMore is false at the end of the feed.
	HasMore bool `json:"has_more"`
	// NextCursor is the position after this page. Store it to continue from
	// there at any time.
	NextCursor string `json:"next_cursor"`
}

// RecordFeed returns a page of the records of all patients, in the order in
// which they changed. It needs the scope clinical_data:read.
func (c *Client) RecordFeed(ctx context.Context, query FeedQuery) (*FeedPage, error) {
	q := url.Values{}
	setText(q, "after", query.After)
	setNumber(q, "limit", query.Limit)
	setText(q, "data_type", strings.Join(query.DataTypes, ","))
	return answered[FeedPage](ctx, c, &call{op: "read record feed", method: http.MethodGet, path: []string{"v1", "clinical-data"}, query: q}, nil)
}

// AllRecordChanges yields the pages of the feed after query.After, up to its
// end. It yields at least one page, and stops after the first error. A reader
// that stores NextCursor once it has applied a page can resume there at any
// time without missing a change.
func (c *Client) AllRecordChanges(ctx context.Context, query FeedQuery) iter.Seq2[*FeedPage, error] {
	if query.Limit == 0 {
		query.Limit = maxFeedLimit
	}
	return func(yield func(*FeedPage, error) bool) {
		for {
			page, err := c.RecordFeed(ctx, query)
			if err == nil && page.HasMore && (page.NextCursor == "" || page.NextCursor == query.After) {
				err = errors.New("anodyne: read record feed: the cursor does not move on")
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || !page.HasMore {
				return
			}
			query.After = page.NextCursor
		}
	}
}
