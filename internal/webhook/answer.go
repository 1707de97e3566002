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
	// maxAnswer is how much of a response is read. It is more than is kept,
	// because a connection can only be reused after the response was read
	// completely.
	maxAnswer = 16 << 10
	// keptAnswer is how much of a response is shown to the owner of the
	// webhook.
	keptAnswer = 1 << 10
)

// answerError is a response that cannot be accepted, regardless of its status.
type answerError string

func (e answerError) Error() string { return string(e) }

const (
	errLongAnswer    answerError = "the receiver returned more than 16 KiB; return a status with no body, or a short one"
	errEncodedAnswer answerError = "the receiver used a Content-Encoding that was not requested; respond without one"
)

// readAnswer reads a response and returns the part that is kept. It does not
// read beyond maxAnswer or decompress, because either may be endless.
func readAnswer(response *http.Response) (string, error) {
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return "", errEncodedAnswer
	}
	body := io.LimitReader(response.Body, maxAnswer+1)
	var kept [keptAnswer]byte
	n, err := 0, error(nil)
	for n < len(kept) && err == nil {
		var more int
		more, err = body.Read(kept[n:])
		n += more
	}
	if err == nil {
		var rest int64
		if rest, err = io.Copy(io.Discard, body); err == nil && rest > maxAnswer-keptAnswer {
			err = errLongAnswer
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return printable(kept[:n]), err
}

// printable converts a response to text: white space becomes spaces, and
// invalid or invisible characters are removed.
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

// retryAfter parses a Retry-After header, which is in seconds or a date. It
// returns 0 if the header is invalid or in the past.
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
