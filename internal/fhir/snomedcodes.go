package fhir

import "slices"

// snomedCodes are the SNOMED CT codes of the words of a field that have one.
type snomedCodes []struct{ ours, code, display string }

// concept returns a word of the field as a concept.
func (codes snomedCodes) concept(m *Mapping, owner, field, word string) *CodeableConcept {
	c := concept(m.fieldSystem(owner, field), word)
	c.Text = codeTexts[owner+"-"+field][word]
	for _, known := range codes {
		if known.ours == word {
			c.Coding = append(c.Coding, Coding{System: snomed, Code: known.code, Display: known.display})
		}
	}
	return c
}

// word returns the word for a concept. For a concept without one it is other,
// and the codes of the concept are kept as received.
func (codes snomedCodes) word(m *Mapping, owner, field string, c *CodeableConcept) string {
	if ours := c.code(m.fieldSystem(owner, field)); ours != "" {
		return ours
	}
	for _, known := range codes {
		if slices.ContainsFunc(c.Coding, func(has Coding) bool { return has.System == snomed && has.Code == known.code }) {
			return known.ours
		}
	}
	return "other"
}
