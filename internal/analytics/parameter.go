package analytics

// Parameter is the one declaration of a parameter of the analytics. The
// endpoints, the OpenAPI document, the Go client, the form in the portal and
// the reports follow it; internal/lists writes what is checked in of that.
type Parameter struct {
	Name string
	Type ParameterType
	For  Use
	// Words are all that a Word can be, and what the portal offers for a Text.
	Words []string
	// AnyCase: a Word may be sent in any case. Open: the list may grow, so
	// that documents of reports do not repeat it.
	AnyCase, Open bool
	// Number: the value is a number in JSON.
	Number bool
	// Max is the greatest Whole.
	Max int
	// Pattern and MaxLength bound a Text.
	Pattern   string
	MaxLength int
	// Default is the value when none is given; "" for none, or for one that
	// depends on other parameters.
	Default string
	// Repeated: an answer has it also when it was not given.
	Repeated bool

	// Label, None and Unit are for people: what the form calls it and its
	// absence, and what follows the value in a document.
	Label, None, Unit string
	// Doc, Example, InForce and InReport are texts of the OpenAPI document:
	// of the query parameter, and of the members of answers and of reports.
	Doc, Example, InForce, InReport string
	// Client is the comment in the Go client.
	Client string

	in    func(*Request) *string
	check func(checker, *Parameter, *Params) // nil for dates
	value func(*Params) any
}

// ParameterType is how a parameter is written.
type ParameterType uint8

// The types: a date, one of some words, a whole number from 0, a text.
const (
	Day ParameterType = iota
	Word
	Whole
	Text
)

// Use is who takes a parameter.
type Use uint8

// The measures and documents that take parameters.
const (
	ForOutcomes   Use = 1 << iota
	ForPopulation     // population health
	ForLists          // lists of an organisation's own patients
	ForSummaries      // summaries of one patient
)

// OutcomesNames and PopulationNames are the names of the parameters of either
// measure.
var (
	OutcomesNames   = NamesFor(ForOutcomes)
	PopulationNames = NamesFor(ForPopulation)
)

// NamesFor are the names of the parameters that a use takes.
func NamesFor(use Use) (names []string) {
	for of := range ParametersFor(use) {
		names = append(names, of.Name)
	}
	return names
}

// ParametersFor yields the parameters that a use takes.
func ParametersFor(use Use) func(yield func(*Parameter) bool) {
	return func(yield func(*Parameter) bool) {
		for i := range Parameters {
			if of := &Parameters[i]; of.For&use != 0 && !yield(of) {
				return
			}
		}
	}
}

// Asked is the parameter as it was written in a request, or "".
func (of *Parameter) Asked(r *Request) string { return *of.in(r) }

// Value is the parameter in force: a string, an int, or nil for none.
func (of *Parameter) Value(p *Params) any { return of.value(p) }

// given is a text, or nil for none.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// orNil is what a pointer points to, or nil without a type.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
