package portal

import (
	"slices"

	"anodyne.example/anodyne/internal/analytics"
)

// filter is a field of the form of the analytics, made from the declaration of
// its parameter.
type filter struct {
	*analytics.Parameter
	Value   string
	Options []option // of a list to choose from
}

// option is one choice. Value is what is sent, Text what is shown.
type option struct {
	Value, Text string
	Selected    bool
}

// Filters are the fields of the form. The period shows the dates in force.
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

// options lists the choices, the default first.
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

// Input is the type of the field where nothing is chosen from a list.
func (f filter) Input() string {
	switch f.Type {
	case analytics.Day:
		return "date"
	case analytics.Whole:
		return "number"
	}
	return "text"
}
