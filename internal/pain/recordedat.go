package pain

import (
	"strings"
	"time"

	"anodyne.example/anodyne/internal/strictjson"
)

// maxAhead is the accepted clock difference of a caller that is ahead.
const maxAhead = 5 * time.Minute

// readRecordedAt reads the clinical time: an RFC 3339 time with any offset, or
// a date, which means midnight UTC.
func readRecordedAt(r *strictjson.Reader, in Intake, otherwise time.Time) time.Time {
	v, ok := r.Value("recorded_at")
	if !ok {
		return otherwise
	}
	text, isText := v.AsString() // a value of another type is not a time either
	if isText && text == "" {
		return otherwise
	}
	at, ok := ReadMoment(r, "recorded_at", text, in.Now.Add(maxAhead))
	switch {
	case !ok:
	case localDate(at).Before(in.Birth):
		r.Fault("recorded_at", "must not be before the date of birth (YYYY-MM-DD).")
	case localDate(at).Before(earliestBirth):
		r.Fault("recorded_at", "must not be before 1900-01-01 (YYYY-MM-DD).")
	}
	return truncate(at)
}

// ReadMoment parses a field with a time, or reports what is wrong with it. The
// time must not be after latest, which is about now.
func ReadMoment(r *strictjson.Reader, name, text string, latest time.Time) (at time.Time, ok bool) {
	switch at, ok = ParseMoment(text); {
	case !ok:
		r.Fault(name, "must be a time such as 2026-01-15T10:30:00Z, or a real date in the form YYYY-MM-DD.")
	case at.After(latest):
		r.Fault(name, "must not be in the future (a time, or YYYY-MM-DD in UTC).")
		ok = false
	}
	return at, ok
}

// ParseMoment parses an RFC 3339 time or a date.
func ParseMoment(text string) (time.Time, bool) {
	if d, err := ParseDate(text); err == nil {
		return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC), true
	}
	at, err := time.Parse(time.RFC3339, text)
	// time.Parse also accepts a one-digit hour, and a comma as the decimal
	// point.
	return at, err == nil && text[len("YYYY-MM-DDThh")] == ':' && !strings.Contains(text, ",")
}

// localDate returns the date in the time zone of at.
func localDate(at time.Time) Date {
	year, month, day := at.Date()
	return Date{year, month, day}
}

// truncate returns a clinical time in the form in which it is stored.
func truncate(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

// Moment formats a clinical time.
func Moment(at time.Time) string {
	b := appendMoment(make([]byte, 0, 32), at)
	return string(b[1 : len(b)-1])
}

// appendMoment appends a clinical time, with milliseconds only if they are not
// zero.
func appendMoment(b []byte, at time.Time) []byte {
	layout := time.RFC3339
	if at.Nanosecond() != 0 {
		layout = "2006-01-02T15:04:05.000Z07:00"
	}
	b = append(b, '"')
	b = at.UTC().AppendFormat(b, layout)
	return append(b, '"')
}
