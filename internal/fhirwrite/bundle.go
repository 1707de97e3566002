package fhirwrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/fhir"
)

// Bundle is a Bundle with requests.
type Bundle struct {
	Type  string // batch or transaction
	Entry []BundleEntry
}

// BundleEntry is one request of a Bundle.
type BundleEntry struct {
	FullURL  string          `json:"fullUrl"`
	Resource json.RawMessage `json:"resource"`
	Request  *BundleRequest  `json:"request"`
}

// BundleRequest says what is to be done with the resource of an entry.
type BundleRequest struct {
	Method          string `json:"method"`
	URL             string `json:"url"`
	IfNoneMatch     string `json:"ifNoneMatch"`
	IfModifiedSince string `json:"ifModifiedSince"`
	IfMatch         string `json:"ifMatch"`
	IfNoneExist     string `json:"ifNoneExist"`
}

// MostEntries is the maximum number of entries of a Bundle.
const MostEntries = 5000

// ParseBundle parses a Bundle with requests. The issues say what is wrong with
// the Bundle itself; the resources are not read.
func ParseBundle(body []byte) (*Bundle, []fhir.Issue) {
	var b struct {
		ResourceType string        `json:"resourceType"`
		Type         string        `json:"type"`
		Entry        []BundleEntry `json:"entry"`
		Rules        any           `json:"implicitRules"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&b); err != nil {
		return nil, issue(fhir.Structure, "Bundle", "The body must be a Bundle in JSON.")
	}
	switch {
	case d.More():
		return nil, issue(fhir.Structure, "Bundle", "There is more after the Bundle.")
	case b.ResourceType != "Bundle":
		return nil, issue(fhir.Structure, "Bundle", "The body must be a Bundle; send other resources to the address of their type.")
	case b.Rules != nil:
		return nil, issue(fhir.NotSupported, "Bundle.implicitRules", "Implicit rules are not supported.")
	case b.Type != "batch" && b.Type != "transaction":
		return nil, issue(fhir.CodeInvalid, "Bundle.type", "The type must be batch or transaction.")
	case len(b.Entry) > MostEntries:
		return nil, issue(fhir.TooLong, "Bundle.entry", fmt.Sprintf("A Bundle must have at most %d entries.", MostEntries))
	}
	var issues []fhir.Issue
	addressed := map[string]bool{}
	for i := range b.Entry {
		e := &b.Entry[i]
		at := EntryPath(i)
		switch {
		case e.Request == nil:
			issues = append(issues, issue(fhir.Required, at+".request", "Each entry needs a request.")...)
		case e.Request.Method == "":
			issues = append(issues, issue(fhir.Required, at+".request.method", "The method is required.")...)
		case e.Request.URL == "":
			issues = append(issues, issue(fhir.Required, at+".request.url", "The address is required.")...)
		}
		if e.FullURL != "" && addressed[e.FullURL] {
			issues = append(issues, issue(fhir.Invalid, at+".fullUrl", "Another entry has the same address.")...)
		}
		addressed[e.FullURL] = true
	}
	return &Bundle{b.Type, b.Entry}, issues
}

func issue(code, expression, text string) []fhir.Issue {
	return []fhir.Issue{{Severity: "error", Code: code, Expression: expression, Text: text}}
}

// EntryPath returns the expression of an entry of a Bundle.
func EntryPath(i int) string { return fmt.Sprintf("Bundle.entry[%d]", i) }

// Within returns issues of a resource as issues of the Bundle that has it in an
// entry.
func Within(entry int, issues []fhir.Issue) []fhir.Issue {
	list := make([]fhir.Issue, len(issues))
	for i, one := range issues {
		switch {
		case strings.HasPrefix(one.Expression, "Bundle."):
		case strings.HasPrefix(one.Expression, "http."):
			one.Expression = EntryPath(entry) + ".request"
		default:
			_, element, ok := strings.Cut(one.Expression, ".")
			if one.Expression = EntryPath(entry) + ".resource"; ok {
				one.Expression += "." + element
			}
		}
		list[i] = one
	}
	return list
}
