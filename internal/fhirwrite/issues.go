package fhirwrite

import (
	"errors"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/store/patients"
)

func asWriteError(err error) (*patients.WriteError, bool) {
	return errors.AsType[*patients.WriteError](err)
}

// issuesOf returns the issues of a fault about fields, with the paths of the
// fields translated. It is nil for any other error.
func issuesOf(err error, path func(string) string) (issues []fhir.Issue) {
	for _, f := range fieldsOf(err) {
		issues = append(issues, fhir.Issue{Severity: "error", Code: fhir.Invalid, Expression: path(f.Parameter), Text: f.Message})
	}
	return issues
}

// fieldsOf returns the fields that a fault is about.
func fieldsOf(err error) []fault.Field {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidParameter {
		return nil
	}
	if all, several := f.Details["errors"].([]fault.Field); several {
		return all
	}
	parameter, _ := f.Details["parameter"].(string)
	return []fault.Field{{Parameter: parameter, Message: f.Message}}
}

// within splits the path of an element of a list, such as
// medical_history[2].status, into the index and the rest.
func within(path, list string) (index int, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, list+"[")
	if !ok {
		return 0, "", false
	}
	digits, rest, ok := strings.Cut(path, "]")
	if !ok || digits == "" {
		return 0, "", false
	}
	for _, c := range digits {
		if c < '0' || c > '9' || index > 1e6 {
			return 0, "", false
		}
		index = index*10 + int(c-'0')
	}
	return index, strings.TrimPrefix(rest, "."), true
}
