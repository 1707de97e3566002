package pain

import (
	"errors"
	"time"
)

// Date is a calendar day without a time zone. The zero value means no date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ErrDate is returned for an invalid date. Appended to a parameter's name, its
// text forms a sentence.
var ErrDate = errors.New("must be a real date in the form YYYY-MM-DD")

// ParseDate parses a date as YYYY-MM-DD, which must exist, in the years 0001
// to 9999.
func ParseDate(s string) (Date, error) {
	if len(s) != len("YYYY-MM-DD") || s[4] != '-' || s[7] != '-' {
		return Date{}, ErrDate
	}
	year, okYear := digits(s[:4])
	month, okMonth := digits(s[5:7])
	day, okDay := digits(s[8:])
	d := Date{year, time.Month(month), day}
	if !okYear || !okMonth || !okDay || year < 1 || month < 1 || month > 12 || day < 1 || day > d.monthDays() {
		return Date{}, ErrDate
	}
	return d, nil
}

// DateOf returns the date of a time in UTC.
func DateOf(t time.Time) Date {
	year, month, day := t.UTC().Date()
	return Date{year, month, day}
}

// Before reports whether d is an earlier day than other.
func (d Date) Before(other Date) bool {
	if d.Year != other.Year {
		return d.Year < other.Year
	}
	if d.Month != other.Month {
		return d.Month < other.Month
	}
	return d.Day < other.Day
}

// Age returns the age, in years, on a day of a person born on d. Someone born
// on 29 February turns a year older on 1 March in non-leap years.
func (d Date) Age(on Date) int {
	years := on.Year - d.Year
	if on.Month < d.Month || on.Month == d.Month && on.Day < d.Day {
		years--
	}
	return years
}

// Append appends the date as YYYY-MM-DD.
func (d Date) Append(b []byte) []byte {
	return append(b,
		digit(d.Year/1000), digit(d.Year/100), digit(d.Year/10), digit(d.Year), '-',
		digit(int(d.Month)/10), digit(int(d.Month)), '-',
		digit(d.Day/10), digit(d.Day))
}

// String returns the date as YYYY-MM-DD.
func (d Date) String() string { return string(d.Append(make([]byte, 0, 10))) }

func (d Date) monthDays() int {
	switch d.Month {
	case time.February:
		if d.Year%4 == 0 && (d.Year%100 != 0 || d.Year%400 == 0) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	}
	return 31
}

func digit(n int) byte { return byte('0' + n%10) }

func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// IsPartialDate reports whether s is an existing YYYY, YYYY-MM or YYYY-MM-DD.
func IsPartialDate(s string) bool {
	_, err := firstDay(s)
	return err == nil
}

// firstDay returns the first day of a YYYY, YYYY-MM or YYYY-MM-DD.
func firstDay(s string) (Date, error) {
	switch len(s) {
	case len("YYYY"):
		s += "-01-01"
	case len("YYYY-MM"):
		s += "-01"
	}
	return ParseDate(s)
}

// partialBefore reports whether a is certainly before b. They are compared as
// far as both are known.
func partialBefore(a, b string) bool {
	n := min(len(a), len(b))
	return a[:n] < b[:n]
}
