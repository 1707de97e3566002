package fault

// Field is one thing that is wrong with a request: where, what was received,
// and what to do about it.
type Field struct {
	Parameter string `json:"parameter"`
	Value     any    `json:"value"`
	Message   string `json:"message"`
}

// Fields collects what is wrong with a request, in order. The zero value is
// ready.
type Fields struct{ list []Field }

// maxFields bounds the faults that are told: an answer must not grow many
// times larger than the body it answers. A clinical batch may have a fault in
// each of its 1,000 records.
const maxFields = 1000

// Add notes a fault. The value is echoed as it was received: nil when it is
// missing, a json-marshalable value otherwise.
func (f *Fields) Add(parameter string, value any, message string) {
	if len(f.list) == maxFields {
		return
	}
	f.list = append(f.list, Field{parameter, value, message})
}

// All lists what was noted.
func (f *Fields) All() []Field { return f.list }

// OK reports whether nothing was noted.
func (f *Fields) OK() bool { return len(f.list) == 0 }

// Err returns nil when nothing was noted, else one INVALID_PARAMETER whose
// details are the first fault and, when there are several, all of them in
// "errors".
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

// Parameter is the fault of a single parameter.
func Parameter(parameter string, value any, message string) *Error {
	return New(InvalidParameter, message, "parameter", parameter, "value", value)
}
