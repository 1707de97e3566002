package cohort

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
)

// term is a search term for names and identifiers. A patient matches if the
// name contains the term, or if every word of the term is the beginning of a
// word of the name, in any order; or if the value of an identifier is the term
// or, for a term of fewest characters or more, starts with it.
type term struct {
	whole []byte
	words [][]byte
	name  needle // of all words, which a name has in both cases
	value needle // of the term after the mark of a value
	exact bool   // only the whole value matches
}

// fewest is the number of characters from which a term matches the start of an
// identifier.
const fewest = 3

// newTerm returns the term for a folded text. nothing is true if no patient can
// match, because the text has characters that no name and no identifier has.
// A text without words matches all patients.
func newTerm(folded string) (t *term, nothing bool) {
	if strings.ContainsFunc(folded, func(r rune) bool { return r == separator || r == mark }) {
		return nil, true
	}
	folded = strings.TrimSpace(folded)
	if folded == "" {
		return nil, false
	}
	t = &term{whole: []byte(folded), value: newNeedle(append([]byte{mark}, folded...)), exact: utf8.RuneCountInString(folded) < fewest}
	for word := range strings.FieldsSeq(folded) {
		t.words = append(t.words, []byte(word))
	}
	t.name = newNeedle(t.words...)
	return t, false
}

// find adds the matching slots to found.
func (t *term) find(c *chunk, found *slots) {
	if c.identified {
		t.value.candidates(c, func(slot int) {
			if t.isValue(c.entry(slot)) {
				found.add(slot)
			}
		})
	}
	t.name.candidates(c, func(slot int) {
		if !found.has(uint16(slot)) && t.inName(c.name(slot)) {
			found.add(slot)
		}
	})
}

func (t *term) inName(name []byte) bool {
	if bytes.Contains(name, t.whole) {
		return true
	}
	for _, word := range t.words {
		if !beginsWord(name, word) {
			return false
		}
	}
	return true
}

// beginsWord reports whether a word of a name begins with text. Words are
// separated by spaces, hyphens, apostrophes and the like.
func beginsWord(name, text []byte) bool {
	for at := 0; ; at++ {
		next := bytes.Index(name[at:], text)
		if next < 0 {
			return false
		}
		if at += next; at == 0 || !inWord(name[at-1]) {
			return true
		}
	}
}

// inWord reports whether a byte of a folded name belongs to a word.
func inWord(b byte) bool {
	return b >= utf8.RuneSelf || 'a' <= b && b <= 'z' || '0' <= b && b <= '9'
}

func (t *term) isValue(entry []byte) bool {
	for {
		at := bytes.IndexByte(entry, mark)
		if at < 0 {
			return false
		}
		entry = entry[at:]
		if bytes.HasPrefix(entry, t.value.text) && (!t.exact || len(entry) == len(t.value.text) || entry[len(t.value.text)] == mark) {
			return true
		}
		entry = entry[1:]
	}
}

// entryOf returns what a chunk holds of a patient's texts: the folded name, and
// after a mark each the folded values of the identifiers.
func entryOf(name, identifiers []byte) (string, error) {
	folded := pain.Fold(string(name))
	if len(identifiers) == 0 {
		return folded, nil
	}
	list, err := pain.StoredIdentifiers(string(identifiers)).List()
	if err != nil {
		return "", err
	}
	var entry strings.Builder
	entry.WriteString(folded)
	for _, one := range list {
		entry.WriteByte(mark)
		entry.WriteString(pain.Fold(one.Value))
	}
	return entry.String(), nil
}
