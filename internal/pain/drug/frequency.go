package drug

import (
	"regexp"
	"strconv"
	"strings"
)

// frequencies maps common abbreviations and words to doses per day. Those with
// a number are handled by numbered.
var frequencies = map[string]float64{
	"qd": 1, "daily": 1, "once daily": 1, "once a day": 1, "every day": 1,
	"qam": 1, "mane": 1, "every morning": 1, "in the morning": 1, "qpm": 1, "every evening": 1, "in the evening": 1,
	"qhs": 1, "hs": 1, "nocte": 1, "nightly": 1, "every night": 1, "at night": 1, "at bedtime": 1, "bedtime": 1,
	"bid": 2, "bd": 2, "twice daily": 2, "twice a day": 2, "two times daily": 2, "two times a day": 2,
	"tid": 3, "tds": 3, "three times daily": 3, "three times a day": 3,
	"qid": 4, "qds": 4, "four times daily": 4, "four times a day": 4,
	"five times daily": 5, "five times a day": 5, "six times daily": 6, "six times a day": 6,
	"qod": 0.5, "every other day": 0.5, "every second day": 0.5,
	"weekly": 1.0 / 7, "once weekly": 1.0 / 7, "once a week": 1.0 / 7, "every week": 1.0 / 7, "qweek": 1.0 / 7,
	"twice weekly": 2.0 / 7, "twice a week": 2.0 / 7,
}

// numbered are the forms with a number or a range. The function converts the
// number to doses per day.
var numbered = []struct {
	form   *regexp.Regexp
	perDay func(n float64) float64
	most   float64 // largest plausible number
}{
	{regexp.MustCompile(`^(?:q ?|every )([0-9]{1,3})(?: ?(?:-|to) ?([0-9]{1,3}))? ?(?:h|hr|hrs|hour|hours)$`), func(n float64) float64 { return 24 / n }, 168},
	{regexp.MustCompile(`^(?:q ?|every )([0-9]{1,2})(?: ?(?:-|to) ?([0-9]{1,2}))? ?(?:d|day|days)$`), func(n float64) float64 { return 1 / n }, 31},
	{regexp.MustCompile(`^([0-9]{1,2})(?: ?(?:-|to) ?([0-9]{1,2}))? ?(?:x|times) ?(?:daily|a day|per day|/ ?day|each day)$`), func(n float64) float64 { return n }, 24},
}

// asNeeded is removed before parsing: the record has a separate field for it,
// and the rest gives the maximum frequency.
var asNeeded = regexp.MustCompile(`[ ,(]+(?:prn|as needed|if needed|as required)\)?$`)

// hyphens replaces the dashes of a range.
var hyphens = strings.NewReplacer("–", "-", "—", "-")

// PerDay returns the doses per day of a frequency, ignoring case. A range such
// as q4-6h has a lower and an upper end. Other texts are allowed but cannot be
// converted.
func PerDay(frequency string) (fewest, most float64, ok bool) {
	text := strings.ReplaceAll(strings.ToLower(frequency), ".", "") // b.i.d.
	text = hyphens.Replace(strings.Join(strings.Fields(text), " "))
	if perDay, ok := frequencies[text]; ok {
		return perDay, perDay, true
	}
	text = asNeeded.ReplaceAllString(text, "")
	if perDay, ok := frequencies[text]; ok {
		return perDay, perDay, true
	}
	for _, f := range numbered {
		found := f.form.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		one, _ := strconv.ParseFloat(found[1], 64) // digits
		other := one
		if found[2] != "" {
			other, _ = strconv.ParseFloat(found[2], 64)
		}
		if min(one, other) < 1 || max(one, other) > f.most {
			return 0, 0, false
		}
		a, b := f.perDay(one), f.perDay(other)
		return min(a, b), max(a, b), true
	}
	return 0, 0, false
}
