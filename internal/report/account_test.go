package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"anodyne.example/anodyne/internal/chart"
)

// account is the text of a PDF, in order, from which a test removes what it
// can explain. Any number left over is unexplained.
type account struct {
	t    *testing.T
	text string
	at   int // where the next thing is looked for
	// ticks are the numbers at the axes of charts, by the chart.
	ticks map[string][]float64
}

const taken = "¦"

// accountOf takes the feet and the running heads off the pages.
func accountOf(t *testing.T, pdf []byte, h *Head, running string) *account {
	t.Helper()
	raw := string(poppler(t, "pdftotext", pdf, "-raw", "-enc", "UTF-8", "FILE", "-"))
	pages := strings.Split(strings.TrimSuffix(raw, "\f"), "\f")
	var body []string
	for i, page := range pages {
		page = strings.Join(strings.Fields(page), " ")
		page = strings.TrimSuffix(page, " Some characters are not in the font of this document: they are printed without their accents, or as □.")
		foot := fmt.Sprintf(" Confidential. Data as of %s UTC · %s Page %d of %d", h.AsOf.Format("2006-01-02 15:04"), h.Organisation, i+1, len(pages))
		page, ok := strings.CutSuffix(page, foot)
		if !ok {
			t.Errorf("page %d does not end with %q: %q", i+1, foot, page[max(0, len(page)-150):])
		}
		if i > 0 {
			page = withoutHead(t, page, running)
		}
		body = append(body, page)
	}
	return &account{t: t, text: " " + strings.Join(body, " ") + " ", ticks: map[string][]float64{}}
}

// withoutHead takes the running head off, which may be shortened.
func withoutHead(t *testing.T, page, running string) string {
	t.Helper()
	if rest, ok := strings.CutPrefix(page, running); ok {
		return rest
	}
	head, rest, ok := strings.Cut(page, "…")
	if !ok || !strings.HasPrefix(running, head) {
		t.Errorf("a page begins with %q, not with %q", page[:min(len(page), 100)], running)
	}
	return rest
}

// static takes every occurrence of texts that say the same on every page from
// here on.
func (a *account) static(phrases ...string) {
	for _, p := range phrases {
		a.text = a.text[:a.at] + strings.ReplaceAll(a.text[a.at:], " "+p+" ", " "+taken+" ")
	}
}

// take takes a text, which must come after what was taken before. Its words are
// whole ones.
func (a *account) take(phrase string) {
	a.t.Helper()
	phrase = " " + strings.Join(strings.Fields(printable(phrase)), " ") + " "
	i := strings.Index(a.text[a.at:], phrase)
	if i < 0 {
		a.t.Errorf("there is no %q in %q", phrase, a.text[a.at:min(len(a.text), a.at+400)])
		return
	}
	a.replace(a.at+i, a.at+i+len(phrase))
}

func (a *account) takef(format string, args ...any) {
	a.t.Helper()
	a.take(fmt.Sprintf(format, args...))
}

func (a *account) replace(from, to int) {
	a.text = a.text[:from] + " " + taken + " " + a.text[to:]
	a.at = from + len(taken) + 1 // at the space behind
}

// match removes what follows if it matches an expression, and returns the
// groups.
func (a *account) match(expression string) []string {
	a.t.Helper()
	found := regexp.MustCompile(` ` + expression + ` `).FindStringSubmatchIndex(a.text[a.at:])
	if found == nil {
		a.t.Fatalf("nothing looks like %s in %q", expression, a.text[a.at:min(len(a.text), a.at+600)])
	}
	var groups []string
	for i := 2; i < len(found); i += 2 {
		if found[i] < 0 {
			groups = append(groups, "")
		} else {
			groups = append(groups, a.text[a.at+found[i]:a.at+found[i+1]])
		}
	}
	a.replace(a.at+found[0], a.at+found[1])
	return groups
}

// done checks that no number is left.
func (a *account) done() {
	a.t.Helper()
	for word := range strings.FieldsSeq(a.text) {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			i := strings.Index(a.text, " "+word+" ")
			a.t.Errorf("nobody answers for %s in %q", word, a.text[max(0, i-80):min(len(a.text), i+len(word)+80)])
		}
	}
}

// Numbers as they are printed, from the text that the answer has of them and
// without a float between: so many decimals, halves away from zero.

func exact(n json.Number, scale int64) *big.Rat {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("not a number: " + n.String())
	}
	return r.Mul(r, big.NewRat(scale, 1))
}

func fixed(r *big.Rat, decimals int) string {
	s := r.FloatString(decimals)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// short is a number with as many decimals as it has.
func short(n json.Number) string {
	s := exact(n, 1).FloatString(6)
	return strings.Replace(strings.TrimRight(strings.TrimRight(s, "0"), "."), "-", "−", 1)
}

func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const (
	none   = "–"
	hidden = "hidden"
)

// decimals is the number at a path times a scale; – for null.
func (a *answer) decimals(path string, scale int64, decimals int) string {
	a.t.Helper()
	n, ok := a.at(path).(json.Number)
	if !ok {
		return none
	}
	return fixed(exact(n, scale), decimals)
}

// plain is the number at a path as it is; – for null.
func (a *answer) plain(path string) string {
	a.t.Helper()
	n, ok := a.at(path).(json.Number)
	if !ok {
		return none
	}
	return short(n)
}

// signed is plain with a plus.
func (a *answer) signed(path string) string {
	a.t.Helper()
	if f, ok := a.float(path); ok && f > 0 {
		return "+" + a.plain(path)
	}
	return a.plain(path)
}

// counted is the count at a path; hidden for null.
func (a *answer) counted(path string) string {
	a.t.Helper()
	n, ok := a.count(path)
	if !ok {
		return hidden
	}
	return grouped(n)
}

// ofN is "18 of 40".
func (a *answer) ofN(path string) string {
	a.t.Helper()
	count, counted := a.count(path + ".count")
	n, known := a.count(path + ".n")
	switch {
	case a.truth(path+".suppressed") && !(counted && known):
		return hidden
	case !counted || !known || n == 0:
		return "no patients match"
	}
	return grouped(count) + " of " + grouped(n)
}

// rate returns a count as a percentage of n. The response's own percentage has
// two decimals and would be rounded twice, so it is only compared with this
// one.
func (a *answer) rate(place, n string) string {
	a.t.Helper()
	count, counted := a.count(place + ".count")
	all, known := a.count(n)
	percent, given := a.at(place + ".percent").(json.Number)
	if given != (counted && known && all > 0) {
		a.t.Fatalf("%s has %d of %d as %s %%", place, count, all, percent)
	}
	switch {
	case !counted || !known:
		return hidden
	case all == 0:
		return none
	}
	rate := big.NewRat(int64(100*count), int64(all))
	if rate.FloatString(2) != exact(percent, 1).FloatString(2) {
		a.t.Errorf("%s: %d of %d are not %s %%", place, count, all, percent)
	}
	return fixed(rate, 1) + " %"
}

// percent is that of a proportion.
func (a *answer) percent(path string) string {
	a.t.Helper()
	return a.rate(path, path+".n")
}

// near checks that a number of the response equals another to four decimals,
// and returns it in percent with one.
func (a *answer) near(path string, want float64) string {
	a.t.Helper()
	got, ok := a.float(path)
	if !ok || math.Abs(got-want) > 0.00005+1e-9 {
		a.t.Errorf("%s is %v, %v with its counts", path, got, want)
	}
	return fixed(exact(json.Number(strconv.FormatFloat(100*want, 'f', 9, 64)), 1), 1)
}

// wilson is the interval of a proportion, worked out here.
func wilson(count, n int) (low, high float64) {
	const z = 1.959964
	p, all := float64(count)/float64(n), float64(n)
	centre := (p + z*z/(2*all)) / (1 + z*z/all)
	half := z * math.Sqrt(p*(1-p)/all+z*z/(4*all*all)) / (1 + z*z/all)
	return max(0, centre-half), min(1, centre+half)
}

// limits are the ends of the interval of a proportion; not ok without one.
func (a *answer) limits(path string) (low, high string, ok bool) {
	a.t.Helper()
	if a.at(path+".ci95") == nil {
		return "", "", false
	}
	count, _ := a.count(path + ".count")
	n, _ := a.count(path + ".n")
	from, to := wilson(count, n)
	return a.near(path+".ci95.low", from), a.near(path+".ci95.high", to), true
}

// share is a percentage with its interval.
func (a *answer) share(path string) string {
	a.t.Helper()
	text := a.percent(path)
	if low, high, ok := a.limits(path); ok {
		text += fmt.Sprintf(" (%s to %s)", low, high)
	}
	return text
}

// bar returns the text beside the bar of a proportion.
func (a *answer) bar(path string) string {
	a.t.Helper()
	if a.at(path+".proportion") == nil {
		return a.ofN(path) + a.notKnown(path)
	}
	return a.share(path) + ", " + a.ofN(path) + a.notKnown(path)
}

// notKnown is of how many more it is not known.
func (a *answer) notKnown(path string) string {
	a.t.Helper()
	if n, ok := a.count(path + ".undetermined"); ok && n > 0 {
		return ", " + grouped(n) + " not known"
	}
	return ""
}

func (a *answer) percentInterval(path string) string {
	a.t.Helper()
	low, high, ok := a.limits(path)
	if !ok {
		return "no interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s %%", low, high)
}

func (a *answer) interval(path string) string {
	a.t.Helper()
	if a.at(path) == nil {
		return "no interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s", a.decimals(path+".low", 1, 1), a.decimals(path+".high", 1, 1))
}

// middle returns a mean alone, mean the mean with its interval.
func (a *answer) middle(path string) string {
	a.t.Helper()
	if a.at(path+".mean") == nil && a.truth(path+".suppressed") {
		return hidden
	}
	return a.decimals(path+".mean", 1, 1)
}

func (a *answer) mean(path string) string {
	a.t.Helper()
	text := a.middle(path)
	if a.at(path+".mean") == nil {
		return text
	}
	if a.at(path+".ci95") != nil {
		text += fmt.Sprintf(" (%s to %s)", a.decimals(path+".ci95.low", 1, 1), a.decimals(path+".ci95.high", 1, 1))
	}
	if a.truth(path + ".unstable") {
		text += " *"
	}
	return text
}

// printed is a text as the fonts can print it.
func printed(text string) string {
	text, _ = chart.Printable(text)
	return strings.Join(strings.Fields(text), " ")
}
