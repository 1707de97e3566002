package fault

// Field is one error in a request: the parameter, the value received, and a
// message.
type Field struct {
	Parameter string `json:"parameter"`
	Value     any    `json:"value"`
	Message   string `json:"message"`
}

// Fields collects the errors of a request in order. The zero value is ready
// for use.
type Fields struct{ list []Field }

// maxFields limits the number of errors returned, so that a response cannot be
// many times larger than its request. A clinical batch may have an error in
// each of its 1,000 records.
const maxFields = 1000

// Add adds an error. value is echoed as received: nil if it is missing, and
// otherwise a value that can be marshalled to JSON.
func (f *Fields) Add(parameter string, value any, message string) {
	if len(f.list) == maxFields {
		return
	}
	f.list = append(f.list, Field{parameter, value, message})
}

// All returns the errors added.
func (f *Fields) All() []Field { return f.list }

// OK reports whether there are no errors.
func (f *Fields) OK() bool { return len(f.list) == 0 }

// Err returns nil if there are no errors, and otherwise one INVALID_PARAMETER
// fault. Its details are the first error and, if there are several, all of
// them in "errors".
func (f *Fields) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	first := f.list[0]
	e := New(InvalidParameter, first.Message, "parameter", first.Parameter, "value", first.Value)
	if len(f.list) > 1 {
		e.Details["errors"] = f.list
	}
	return e
}

// Parameter returns the fault of a single parameter.
func Parameter(parameter string, value any, message string) *Error {
	return New(InvalidParameter, message, "parameter", parameter, "value", value)
}
