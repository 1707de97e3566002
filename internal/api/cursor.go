package api

import (
	"encoding/base64"
	"encoding/binary"
)

// A cursor is opaque to callers: the kind of log and some numbers, in
// base64url.
const (
	eventCursor = 'e'
	auditCursor = 'a'
	feedCursor  = 'f'
)

func makeCursor(kind byte, numbers ...int64) string {
	b := []byte{kind}
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// cursor parses a cursor parameter with at least least and at most count numbers.
// Missing ones are zero. An absent cursor is the start of the log.
func (q *query) cursor(name string, kind byte, least, count int) []int64 {
	numbers := make([]int64, count)
	text, given := q.text(name)
	if !given {
		return numbers
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	ok := err == nil && len(b) > 0 && b[0] == kind
	if ok {
		b = b[1:]
	}
	for i := 0; ok && i < count && (i < least || len(b) > 0); i++ {
		n, size := binary.Uvarint(b)
		ok = size > 0 && n < 1<<62
		if ok {
			numbers[i], b = int64(n), b[size:]
		}
	}
	if !ok || len(b) > 0 {
		q.fields.Add(name, clip(text), name+" must be a next_cursor returned by this log.")
		return make([]int64, count)
	}
	return numbers
}

// appendCursor ends a page of a log: ],"next_cursor":"..."}.
func appendCursor(b []byte, cursor string) []byte {
	b = append(b, `],"next_cursor":"`...)
	b = append(b, cursor...)
	return append(b, `"}`...)
}
