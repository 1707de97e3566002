package analytics

// Parameter is the single declaration of an analytics parameter. The endpoints,
// the OpenAPI document, the Go client, the form in the portal and the reports
// are derived from it; internal/lists generates the parts that are checked in.
type Parameter struct {
	Name string
	Type ParameterType
	For  Use
	// Words lists the values of a Word, and the suggestions of the portal for a
	// Text.
	Words []string
	// AnyCase accepts a Word in any case. Open means that the list may grow, so
	// that the documentation of reports does not repeat it.
	AnyCase, Open bool
	// Number means that the value is a number in JSON.
	Number bool
	// Max is the maximum of a Whole.
	Max int
	// Pattern and MaxLength constrain a Text.
	Pattern   string
	MaxLength int
	// Default is the value if none is given. It is "" if there is none, or if
	// it depends on other parameters.
	Default string
	// Repeated means that responses contain it even if it was not given.
	Repeated bool

	// Label, None and Unit are shown to users: the label in the form, the text
	// for no value, and the unit after the value in a document.
	Label, None, Unit string
	// Doc, Example, InForce and InReport are texts of the OpenAPI document, for
	// the query parameter and for the fields of responses and reports.
	Doc, Example, InForce, InReport string
	// Client is the comment in the Go client.
	Client string

	in    func(*Request) *string
	check func(checker, *Parameter, *Params) // nil for dates
	value func(*Params) any
}

// ParameterType is the type of a parameter's value.
type ParameterType uint8

// The types: a date, one of a list of words, an integer from 0, a text.
const (
	Day ParameterType = iota
	Word
	Whole
	Text
)

// Use is the set of measures and documents that accept a parameter.
type Use uint8

// The measures and documents that accept parameters.
const (
	ForOutcomes   Use = 1 << iota
	ForPopulation     // population health
	ForLists          // lists of an organisation's own patients
	ForSummaries      // summaries of one patient
	ForExports        // exports: which patients are included
)

// OutcomesNames and PopulationNames are the names of the parameters of each
// measure.
var (
	OutcomesNames   = NamesFor(ForOutcomes)
	PopulationNames = NamesFor(ForPopulation)
)

// NamesFor returns the names of the parameters that a use accepts.
func NamesFor(use Use) (names []string) {
	for of := range ParametersFor(use) {
		names = append(names, of.Name)
	}
	return names
}

// ParametersFor yields the parameters that a use accepts.
func ParametersFor(use Use) func(yield func(*Parameter) bool) {
	return func(yield func(*Parameter) bool) {
		for i := range Parameters {
			if of := &Parameters[i]; of.For&use != 0 && !yield(of) {
				return
			}
		}
	}
}

// Asked returns the parameter as written in a request, or "".
func (of *Parameter) Asked(r *Request) string { return *of.in(r) }

// Value returns the effective value of the parameter: a string, an int, or nil
// for none.
func (of *Parameter) Value(p *Params) any { return of.value(p) }

// given returns a pointer to a text, or nil if it is empty.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// orNil returns the value that p points to, or an untyped nil.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
