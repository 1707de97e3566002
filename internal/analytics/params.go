package analytics

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// Interval is the width of a bucket of the trend.
type Interval string

// The intervals. Weeks are ISO weeks, Monday to Sunday.
const (
	ByDay   Interval = "day"
	ByWeek  Interval = "week"
	ByMonth Interval = "month"
)

// Limits of the parameters.
const (
	DefaultDays     = 365
	DefaultFollowUp = 90
	maxPeriodDays   = 36525
	maxBuckets      = 3700
	maxAge          = 150
	maxCellSize     = 1000
)

// conditionPrefix matches a prefix of an ICD-10 code.
var conditionPrefix = regexp.MustCompile(`^[A-Z]([0-9]([0-9A-Z](\.[0-9A-Z]{0,4})?)?)?$`)

// period reads the dates. Without a start the period is the 365 days up to
// its end, without an end it goes on up to today.
func (c checker) period(p *Params, today drug.Day) (ok bool) {
	r := c.request
	end, okEnd := c.date("end_date", r.EndDate, today)
	start, okStart := c.date("start_date", r.StartDate, end-DefaultDays+1)
	p.Start, p.End = start, end
	p.AsOf = max(start, min(end, today))
	if !okStart || !okEnd {
		return false
	}
	ok = true
	switch days := int(end-start) + 1; {
	case days < 1:
		c.Add("start_date", valueOf(r.StartDate), "start_date must not be after end_date.")
		ok = false
	case days > maxPeriodDays:
		c.Add("start_date", valueOf(r.StartDate), "The period must not be longer than 100 years.")
	case p.Interval == ByDay && days > maxBuckets:
		c.Add("interval", r.Interval, "A period of over "+strconv.Itoa(maxBuckets)+" days cannot be shown by day; use week or month.")
	case p.Interval == ByWeek && days > 7*maxBuckets:
		c.Add("interval", r.Interval, "A period of over "+strconv.Itoa(maxBuckets)+" weeks cannot be shown by week; use month.")
	}
	p.StartDate, p.EndDate, p.AsOfDate = dateOf(p.Start), dateOf(p.End), dateOf(p.AsOf)
	return ok
}

// checker reads the parameters of a request and notes what is wrong with them.
type checker struct {
	*fault.Fields
	request *Request
}

// word reads one of the parameter's words.
func (c checker) word(of *Parameter) string {
	value := of.Asked(c.request)
	if value == "" {
		return of.Default
	}
	folded := value
	if of.AnyCase {
		folded = strings.ToLower(value)
	}
	if slices.Contains(of.Words, folded) {
		return folded
	}
	c.Add(of.Name, clip(value), of.Name+" must be one of "+strings.Join(of.Words, ", ")+".")
	return of.Default
}

// whole reads a whole number up to the parameter's greatest; nil when none is
// given.
func (c checker) whole(of *Parameter) *int {
	value := of.Asked(c.request)
	if value == "" {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > of.Max || value[0] == '+' || value[0] == '-' {
		c.Add(of.Name, clip(value), of.Name+" must be a whole number from 0 to "+strconv.Itoa(of.Max)+".")
		return nil
	}
	return &n
}

func (c checker) date(name, value string, otherwise drug.Day) (_ drug.Day, ok bool) {
	if value == "" {
		return otherwise, true
	}
	d, err := pain.ParseDate(value)
	if err != nil {
		c.Add(name, clip(value), name+" "+err.Error()+".")
		return otherwise, false
	}
	return d.DayNumber(), true
}

// clip limits the length of an echoed value.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if runes := []rune(s); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return s
}

// valueOf returns a parameter as echoed: null if it was not given.
func valueOf(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func classNames() (names []string) {
	for _, c := range drug.Classes() {
		names = append(names, string(c))
	}
	return names
}

func dateOf(d drug.Day) string { return pain.DateOfDay(d).String() }

// Period returns the days included.
func (p *Params) Period() drug.Span { return drug.Span{First: p.Start, Last: p.AsOf} }

// bornBy returns the latest birth date of a person who is at least this age on
// a day. A person born on 29 February turns a year older on 1 March of
// non-leap years.
func bornBy(on drug.Day, age int) drug.Day {
	d := pain.DateOfDay(on)
	d.Year -= age
	if d.Month == time.February && d.Day == 29 && time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Month() != time.February {
		d.Day = 28
	}
	return d.DayNumber()
}
