// Package rxname parses the names of RxNorm products, such as
//
//	acetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]
//	72 HR fentanyl 0.025 MG/HR Transdermal System
//	{2 (fentanyl 0.6 MG/ACTUAT Mucosal Spray) } Pack
//
// It is used by package dictionary at load time, and by its generator.
package rxname

import (
	"strconv"
	"strings"
)

// Component is one substance of a product, as written in the name.
type Component struct {
	Item  int    // index of the medicine within a pack
	Name  string // often with its salt: oxycodone hydrochloride
	Value float64
	Unit  string // MG, MG/ML, MG/HR ...; "" if the name has no strength
}

// Drug is a parsed name.
type Drug struct {
	Components []Component
	Form       string // such as Oral Tablet; for a pack, the form that all its medicines share, if any
	Brand      string
	Pack       bool
}

// Parse parses a name into d, reusing its memory. It is not ok for a name
// without substances.
func (d *Drug) Parse(name string) (ok bool) {
	*d = Drug{Components: d.Components[:0]}
	name, d.Brand = cutBrand(name)
	if items, found := strings.CutPrefix(name, "{"); found {
		d.Pack = true
		return d.pack(items)
	}
	return d.item(0, name)
}

func cutBrand(name string) (rest, brand string) {
	name = strings.TrimSpace(name)
	if !strings.HasSuffix(name, "]") {
		return name, ""
	}
	i := strings.LastIndex(name, " [")
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+2 : len(name)-1]
}

// pack parses "24 (a 3 MG Oral Tablet) / 4 (b 1 MG Oral Tablet) } Pack".
func (d *Drug) pack(items string) bool {
	depth, begin, item := 0, 0, 0
	var form string
	for i := range len(items) {
		switch items[i] {
		case '(':
			if depth++; depth == 1 {
				begin = i + 1
			}
		case ')':
			if depth--; depth != 0 {
				continue
			}
			inner, _ := cutBrand(items[begin:i])
			if isAmount(inner) { // 1 (225 ML) (ammonium lactate 120 MG/ML Topical Lotion)
				continue
			}
			if !d.item(item, inner) {
				return false
			}
			if item > 0 && d.Form != form {
				d.Form = "Pack"
			}
			form = d.Form
			item++
		}
	}
	return item > 0
}

// item parses the components and form of one medicine.
func (d *Drug) item(item int, text string) bool {
	for more := true; more; {
		var part string
		part, text, more = strings.Cut(text, " / ")
		c, form := component(part)
		if c.Name == "" {
			return false
		}
		c.Item = item
		d.Components = append(d.Components, c)
		d.Form = form
	}
	return true
}

// component parses "12 HR morphine sulfate 15 MG Extended Release Oral
// Tablet".
func component(text string) (c Component, form string) {
	text = withoutQualifiers(strings.TrimSpace(text))
	for i := 0; i < len(text); i++ {
		if text[i] != ' ' || i+1 == len(text) || !isDigit(text[i+1]) {
			continue
		}
		number, rest, _ := cutWord(text[i+1:])
		unit, rest, _ := cutWord(rest)
		value, ok := parseNumber(number)
		if !ok || !isUnit(unit) {
			continue
		}
		if hasDigit(rest) { // Pediatric 1 ML leuprolide acetate 7.5 MG/ML
			if c, form := component(rest); c.Unit != "" {
				return c, form
			}
		}
		return Component{Name: text[:i], Value: value, Unit: unit}, rest
	}
	return Component{Name: text}, ""
}

// qualifiers precede a substance and are not part of its name.
var qualifiers = []string{"Abuse-Deterrent ", "Osmotic ", "Once-Daily ", "Twice-Daily ", "Microencapsulated ", "Augmented ",
	"Sensor ", "Atrial Fibrillation ", "Preservative-Free "}

func withoutQualifiers(text string) string {
	for {
		if text == "" || 'a' <= text[0] && text[0] <= 'z' { // the common case
			return text
		}
		before := text
		if !isDigit(text[0]) {
			for _, q := range qualifiers {
				text = strings.TrimPrefix(text, q)
			}
		}
		if strings.HasPrefix(text, "NDA") && len(text) > 3 && isDigit(text[3]) {
			_, text, _ = cutWord(text)
		}
		if text != "" && isDigit(text[0]) { // 12 HR, 0.5 ML
			number, rest, _ := cutWord(text)
			unit, rest, found := cutWord(rest)
			if _, ok := parseNumber(number); ok && found && isUnit(unit) {
				text = strings.TrimPrefix(rest, "Dose ")
			}
		}
		if text == before {
			return text
		}
	}
}

func isAmount(text string) bool {
	number, unit, _ := cutWord(text)
	_, ok := parseNumber(number)
	return ok && isUnit(unit) && !strings.Contains(unit, " ")
}

// cutWord is strings.Cut at a blank, which is slower for a single byte.
func cutWord(text string) (word, rest string, found bool) {
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

func hasDigit(text string) bool {
	for i := range len(text) {
		if isDigit(text[i]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func parseNumber(text string) (float64, bool) {
	whole := 0
	for i := range len(text) {
		if !isDigit(text[i]) && text[i] != '.' && text[i] != ',' {
			return 0, false
		}
		whole = 10*whole + int(text[i]-'0')
	}
	if 0 < len(text) && len(text) < 16 && strings.IndexByte(text, '.') < 0 && strings.IndexByte(text, ',') < 0 {
		return float64(whole), true // the common case
	}
	if strings.Contains(text, ",") {
		text = strings.ReplaceAll(text, ",", "")
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

// isUnit reports whether text is a unit such as MG, MG/ML, [arb'U] or %, and
// not a word such as Oral.
func isUnit(text string) bool {
	if text == "" {
		return false
	}
	if c := text[0]; c != '[' && c != '%' && (c < 'A' || c > 'Z') {
		return false
	}
	return len(text) == 1 || text[0] == '[' || text[1] < 'a' || text[1] > 'z'
}
