package webhook

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// maxAnswer is how much of an answer is read. It is more than is kept,
	// because a connection can be used again only when the answer was read
	// to its end.
	maxAnswer = 16 << 10
	// keptAnswer is how much of it is shown to whoever registered the webhook.
	keptAnswer = 1 << 10
)

// readAnswer reads an answer and returns what is kept of it. An answer longer
// than maxAnswer is no failure; its rest is left unread.
func readAnswer(body io.Reader) (string, error) {
	var kept [keptAnswer]byte
	n, err := 0, error(nil)
	for n < len(kept) && err == nil {
		var more int
		more, err = body.Read(kept[n:])
		n += more
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, body, maxAnswer-keptAnswer)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return printable(kept[:n]), err
}

// printable makes text of whatever a receiver sent: white space becomes
// spaces, and what is no character or cannot be seen is left out.
func printable(raw []byte) string {
	var text strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && size <= 1:
		case unicode.IsSpace(r):
			text.WriteByte(' ')
		case unicode.IsPrint(r):
			text.WriteRune(r)
		}
		raw = raw[size:]
	}
	return strings.TrimSpace(text.String())
}

// retryAfter reads the Retry-After header: seconds, or a date. It returns 0
// for one that says nothing, or the past.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		if seconds > int64(longestPause/time.Second) {
			return longestPause
		}
		return max(0, time.Duration(seconds)*time.Second)
	}
	if date, err := http.ParseTime(header); err == nil {
		return min(max(0, date.Sub(now)), longestPause)
	}
	return 0
}
