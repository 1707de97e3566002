package portal

import (
	"slices"

	"anodyne.example/anodyne/internal/analytics"
)

// filter is a field of the analytics form, derived from the declaration of its
// parameter.
type filter struct {
	*analytics.Parameter
	Value   string
	Options []option // for a list of choices
}

// option is one choice. Value is submitted, Text is shown.
type option struct {
	Value, Text string
	Selected    bool
}

// Filters returns the fields of the form. The period shows the effective dates.
func (a analyticsPage) Filters() (list []filter) {
	for i := range analytics.Parameters {
		f := filter{Parameter: &analytics.Parameters[i]}
		f.Value = f.Asked(&a.Request)
		if f.Type == analytics.Day && f.Repeated && a.Outcomes != nil {
			f.Value, _ = f.Parameter.Value(&a.Outcomes.Parameters).(string)
		}
		if len(f.Words) > 0 {
			f.Options = f.options()
		}
		list = append(list, f)
	}
	return list
}

// options returns the choices, the default first.
func (f *filter) options() (list []option) {
	words := f.Words
	if f.Default == "" {
		list = append(list, option{Text: f.None})
	} else {
		words = append([]string{f.Default}, slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == f.Default })...)
	}
	if f.Type == analytics.Text && f.Value != "" && !slices.Contains(words, f.Value) {
		words = append(slices.Clone(words), f.Value)
	}
	for _, word := range words {
		list = append(list, option{word, plain(word), word == f.Value})
	}
	return list
}

// Input returns the input type of a field without choices.
func (f filter) Input() string {
	switch f.Type {
	case analytics.Day:
		return "date"
	case analytics.Whole:
		return "number"
	}
	return "text"
}
