package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Document is what [Sender.Fetch] read.
type Document struct {
	Body []byte
	// CacheControl is the header of that name.
	CacheControl string
}

// Fetch reads a small document from an address that a member chose, under the
// rules for webhooks: https, public addresses or those that the operator
// allowed, no redirects, nothing decompressed. It reads at most limit bytes
// and takes at most timeout. Errors are written for the owner of the address
// and do not contain it.
func (s *Sender) Fetch(ctx context.Context, address string, limit int64, timeout time.Duration) (Document, error) {
	d, err := s.fetch(ctx, address, limit, timeout)
	if err != nil {
		return Document{}, errors.New(plainWords(err, timeout))
	}
	return d, nil
}

func (s *Sender) fetch(parent context.Context, address string, limit int64, timeout time.Duration) (d Document, err error) {
	if err := judgeURL(address, s.dev, s.guard); err != nil {
		return d, &addressError{err}
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return d, err
	}
	request.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {s.userAgent}, "Accept-Encoding": {"identity"}}
	response, err := s.transport.RoundTrip(request)
	if err != nil {
		return d, lateOr(ctx, err, false)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return d, &statusError{response.StatusCode}
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return d, errEncodedAnswer
	}
	d.CacheControl = response.Header.Get("Cache-Control")
	if d.Body, err = io.ReadAll(io.LimitReader(response.Body, limit+1)); err != nil {
		return d, lateOr(ctx, err, true)
	}
	if int64(len(d.Body)) > limit {
		return d, answerError(fmt.Sprintf("the document has more than %d bytes", limit))
	}
	return d, nil
}

// lateOr returns a timeout if the context ended, and err otherwise.
func lateOr(ctx context.Context, err error, answered bool) error {
	if ctx.Err() != nil {
		return &timeoutError{connected: answered, answered: answered}
	}
	return err
}
