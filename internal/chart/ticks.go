package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/decimal"
)

// tick is a labelled position on an axis.
type tick struct {
	at    float64
	label string
}

// numberTicks returns about this many round numbers from 0 to at least top.
// The axis ends at the last one.
func numberTicks(top float64, about int) []tick {
	if !finite(top) || top <= 0 {
		top = 1
	}
	step := niceStep(top / float64(max(about, 1)))
	var ticks []tick
	for i := 0; ; i++ {
		at := step * float64(i)
		ticks = append(ticks, tick{at, formatNumber(at)})
		if at >= top-step*1e-9 {
			return ticks
		}
	}
}

// niceStep returns the smallest of 1, 2, 5, 10, ... that is at least least.
func niceStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= least*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// formatNumber formats a rounded number with as many decimals as it has, at
// most four, and with thousands separators.
func formatNumber(f float64) string {
	s := strconv.FormatFloat(decimal.Round(f, 4), 'f', -1, 64)
	whole, sign := s, ""
	if s[0] == '-' {
		sign, whole = "−", s[1:]
	}
	end := len(whole)
	for i := range whole {
		if whole[i] == '.' {
			end = i
			break
		}
	}
	fraction := whole[end:]
	whole = whole[:end]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + fraction
}

// Decimals formats a number with a fixed number of decimals and a real minus
// sign. Halves are rounded away from zero, regardless of binary fractions.
func Decimals(f float64, decimals int) string {
	return strings.Replace(strconv.FormatFloat(decimal.Round(f, decimals), 'f', decimals, 64), "-", "−", 1)
}

// dateStep is the distance between labelled days.
type dateStep struct{ years, months, days int }

var dateSteps = []dateStep{
	{days: 1}, {days: 2}, {days: 7}, {days: 14},
	{months: 1}, {months: 2}, {months: 3}, {months: 6},
	{years: 1}, {years: 2}, {years: 5}, {years: 10}, {years: 20}, {years: 50}, {years: 100},
}

// dateTicks labels the days from from to to, inclusive, as densely as their
// labels fit. scale returns the position of a day.
func dateTicks(from, to time.Time, size float64, scale func(time.Time) float64) []tick {
	for _, step := range dateSteps {
		if to.Sub(from).Hours()/24/step.length() > 400 {
			continue // certainly too dense
		}
		if ticks, fits := ticksBy(step, from, to, size, scale); fits && len(ticks) > 0 {
			return ticks
		}
	}
	return []tick{{scale(from), dayLabel(from, true)}}
}

// length returns the approximate number of days of a step.
func (s dateStep) length() float64 {
	return float64(s.days) + 30*float64(s.months) + 365*float64(s.years)
}

func ticksBy(step dateStep, from, to time.Time, size float64, scale func(time.Time) float64) (ticks []tick, fits bool) {
	day := firstTick(step, from)
	end := math.Inf(-1)
	year := 0
	for ; !day.After(to); day = day.AddDate(step.years, step.months, step.days) {
		var text string
		switch {
		case step.years > 0:
			text = strconv.Itoa(day.Year())
		case step.months > 0:
			text = day.Format("Jan")
			if day.Year() != year {
				text = day.Format("Jan 2006")
			}
		default:
			text = dayLabel(day, day.Year() != year)
		}
		year = day.Year()
		at, half := scale(day), Regular.Width(text, size)/2
		if at-half < end+size*0.8 {
			return nil, false
		}
		end = at + half
		ticks = append(ticks, tick{at, text})
	}
	return ticks, true
}

// firstTick returns the first day on or after from that a step may label: the
// first day of a month or year, or a Monday.
func firstTick(step dateStep, from time.Time) time.Time {
	year, month, _ := from.Date()
	var day time.Time
	switch {
	case step.years > 0:
		day = time.Date(year-year%step.years, time.January, 1, 0, 0, 0, 0, time.UTC)
	case step.months > 0:
		day = time.Date(year, month-(month-1)%time.Month(step.months), 1, 0, 0, 0, 0, time.UTC)
	case step.days >= 7:
		day = from.AddDate(0, 0, -(int(from.Weekday())+6)%7)
	default:
		return from
	}
	for day.Before(from) {
		day = day.AddDate(step.years, step.months, step.days)
	}
	return day
}

func dayLabel(t time.Time, year bool) string {
	if year {
		return t.Format("2 Jan 2006")
	}
	return t.Format("2 Jan")
}
