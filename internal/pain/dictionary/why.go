package dictionary

import (
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Why explains in plain sentences what was understood and how, for display.
func (m *Medicine) Why() []string {
	var why []string
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if m.noCode {
		say("The RxNorm code %s is not in the dictionary (release of %s).", m.query.RxNorm, Release)
	}
	if m.noNDC {
		say("The NDC %s is not in the dictionary, which contains only opioids and benzodiazepines, or its ten digits are ambiguous.", m.query.NDC)
	}
	if m.Understood {
		say("%s: %s.", map[drug.Basis]string{drug.ByRxNorm: "By its RxNorm code", drug.ByNDC: "By its NDC", drug.ByName: "By its name", drug.ByBrand: "By its brand", drug.ByAlias: "By an alias of the organisation"}[m.Basis], m.contents())
		if m.Brand != "" {
			say("%s is the brand.", m.Brand)
		}
		if m.Product.RxNorm != "" {
			say("RxNorm %s: %s.", m.Product.RxNorm, m.Product.Name)
			if !m.Product.Current {
				say("RxNorm no longer lists it as prescribable.")
			}
		}
	}
	if m.Contradiction {
		say("The code and the name refer to different medicines; the ingredients of both are listed.")
	}
	if m.StrengthDiffers {
		say("The name states a different strength from the code.")
	}
	if m.Understood && m.Class == drug.Opioid && len(m.Unknown) > 0 {
		say("It is an opioid combined with something that was not recognised: %s.", strings.Join(m.Unknown, ", "))
	}
	if !m.Understood {
		say("%s", m.refusal())
	}
	if len(m.Suggestions) > 0 {
		say("Did you mean %s?", strings.Join(m.Suggestions, ", or "))
	}
	return why
}

func (m *Medicine) refusal() string {
	switch m.reason {
	case nothingWritten:
		return "There is no name and no known code."
	case tooLong:
		return fmt.Sprintf("The name is longer than %d bytes.", longestName)
	case denied:
		return fmt.Sprintf("The word %q means that the medicine is not taken, or that there is none.", m.word)
	case alternatives:
		return fmt.Sprintf("The word %q leaves open which medicine is meant.", m.word)
	case ambiguous:
		return fmt.Sprintf("%q stands for more than one medicine.", m.word)
	case commonWord:
		return fmt.Sprintf("%q is a brand and also an ordinary word; without a strength it is not treated as the brand.", m.word)
	case unknownWord:
		return fmt.Sprintf("The word %q was not recognised.", m.word)
	case noClass:
		return fmt.Sprintf("%s is new in RxNorm and has no class yet.", m.word)
	case several:
		return "The name contains more than one medicine; add a record for each."
	}
	return "No medicine was recognised in the name."
}
