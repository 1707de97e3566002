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
	"anodyne.example/anodyne/internal/pain/series"
)

// Request holds the parameters as sent; empty ones were not given. [Names]
// lists the names of the parameters.
type Request struct {
	StartDate, EndDate, Interval, FollowUp, Gender, AgeMin, AgeMax, Condition, MedicationClass, MinCellSize string
	Standard, Adjust, CompareStart, CompareEnd                                                              string
}

// Names are the names of all parameters.
var Names = []string{"start_date", "end_date", "interval", "follow_up", "gender", "age_min", "age_max", "condition", "medication_class", "min_cell_size",
	"standard", "adjust", "compare_start_date", "compare_end_date"}

// OutcomesNames and PopulationNames are the parameters that apply to each
// measure: a standard population, for example, does not apply to outcomes.
var (
	OutcomesNames   = without(Names, "standard")
	PopulationNames = without(Names, "interval", "follow_up", "adjust")
)

func without(names []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(some, name) })
}

// Set sets a parameter by name. It is not ok for an unknown name.
func (r *Request) Set(name, value string) (ok bool) {
	fields := []*string{&r.StartDate, &r.EndDate, &r.Interval, &r.FollowUp, &r.Gender, &r.AgeMin, &r.AgeMax, &r.Condition, &r.MedicationClass, &r.MinCellSize,
		&r.Standard, &r.Adjust, &r.CompareStart, &r.CompareEnd}
	i := slices.Index(Names, name)
	if i < 0 {
		return false
	}
	*fields[i] = value
	return true
}

// Interval is the width of a bucket of the trend.
type Interval string

// The intervals. Weeks are ISO weeks, Monday to Sunday.
const (
	ByDay   Interval = "day"
	ByWeek  Interval = "week"
	ByMonth Interval = "month"
)

// Params are the checked parameters. Their JSON form is part of the response.
type Params struct {
	// Start and End are the first and last day of the period.
	Start drug.Day `json:"-"`
	End   drug.Day `json:"-"`
	// AsOf is the last day of data included: End, or today if End is later.
	AsOf            drug.Day     `json:"-"`
	StartDate       string       `json:"start_date"`
	EndDate         string       `json:"end_date"`
	AsOfDate        string       `json:"as_of"`
	Interval        Interval     `json:"interval,omitempty"`  // outcomes only
	FollowUp        int          `json:"follow_up,omitempty"` // outcomes only
	Gender          *string      `json:"gender"`
	AgeMin          *int         `json:"age_min"`
	AgeMax          *int         `json:"age_max"`
	Condition       *string      `json:"condition"`
	MedicationClass *string      `json:"medication_class"`
	MinCellSize     int          `json:"min_cell_size"`
	class           series.Class // code of MedicationClass
	// StandardAsked is the requested standard population.
	StandardAsked *string `json:"standard,omitempty"`
	// Adjust requests outcomes adjusted for case mix.
	Adjust *string `json:"adjust,omitempty"`
	// CompareStartDate and CompareEndDate are the first and last day of the
	// earlier period.
	CompareStartDate *string `json:"compare_start_date,omitempty"`
	CompareEndDate   *string `json:"compare_end_date,omitempty"`

	standard standard
	earlier  drug.Span
}

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

// Params checks a request and adds errors to fields. today is the last day
// with data.
func (r Request) Params(today pain.Date, fields *fault.Fields) Params {
	c := checker{fields}
	p := Params{Interval: Interval(c.word("interval", r.Interval, string(ByMonth), []string{"day", "week", "month"}))}
	p.FollowUp, _ = strconv.Atoi(c.word("follow_up", r.FollowUp, strconv.Itoa(DefaultFollowUp), []string{"30", "90", "180", "365"}))
	gender := r.Gender
	if folded := strings.ToLower(gender); slices.Contains(genderNames[:], folded) {
		gender = folded // as in grouping
	}
	if g := c.word("gender", gender, "", genderNames[:]); g != "" {
		p.Gender = &g
	}
	p.AgeMin, p.AgeMax = c.number("age_min", r.AgeMin, maxAge), c.number("age_max", r.AgeMax, maxAge)
	if p.AgeMin != nil && p.AgeMax != nil && *p.AgeMin > *p.AgeMax {
		fields.Add("age_min", r.AgeMin, "age_min must not be above age_max.")
	}
	if condition := strings.ToUpper(r.Condition); condition != "" {
		p.Condition = &condition
		if !conditionPrefix.MatchString(condition) {
			fields.Add("condition", clip(r.Condition), "condition must be the start of an ICD-10 code, such as M54 or M54.5.")
		}
	}
	if class := c.word("medication_class", r.MedicationClass, "", classNames()); class != "" {
		p.MedicationClass, p.class = &class, series.ClassOf(drug.Class(class))
	}
	if size := c.number("min_cell_size", r.MinCellSize, maxCellSize); size != nil {
		p.MinCellSize = *size
	}
	if r.Standard != "" {
		p.StandardAsked = &r.Standard
		p.standard = c.standard(r.Standard)
	}
	if adjust := c.word("adjust", r.Adjust, "", []string{adjustCaseMix}); adjust != "" {
		p.Adjust = &adjust
	}
	if c.period(&p, r, today.DayNumber()) {
		c.earlier(&p, r)
	}
	return p
}

// period reads the dates. The start defaults to 365 days up to the end, and
// the end to today.
func (c checker) period(p *Params, r Request, today drug.Day) (ok bool) {
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

// checker parses parameters and records errors.
type checker struct{ *fault.Fields }

// word parses one of some words.
func (c checker) word(name, value, otherwise string, words []string) string {
	if value == "" {
		return otherwise
	}
	if slices.Contains(words, value) {
		return value
	}
	c.Add(name, clip(value), name+" must be one of "+strings.Join(words, ", ")+".")
	return otherwise
}

func (c checker) number(name, value string, most int) *int {
	if value == "" {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > most || value[0] == '+' || value[0] == '-' {
		c.Add(name, clip(value), name+" must be a whole number from 0 to "+strconv.Itoa(most)+".")
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
