package api

import (
	"encoding/json"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// always are the elements that a part of a resource has in any case: those that
// are required, and those without which the others may be misread.
var always = []string{
	"resourceType", "id", "meta", "status", "intent", "code", "event", "type", "actuality", "content", "medicationCodeableConcept", "subject", "identifier",
	"clinicalStatus", "verificationStatus", "category", "name", "gender", "dataAbsentReason",
}

// elementsOf parses _elements; nil means all elements.
func elementsOf(text string) []string {
	if text == "" {
		return nil
	}
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if at := strings.LastIndexByte(name, '.'); at >= 0 { // such as Observation.status
			name = name[at+1:]
		}
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// subset returns a resource with some of its elements, marked as such. A choice
// is selected without its type: effective is effectiveDateTime.
func subset(resource []byte, names []string) []byte {
	root, err := strictjson.Parse(resource)
	if err != nil {
		return resource
	}
	b := []byte{'{'}
	for name, value := range root.All() {
		wanted := slices.Contains(always, name) || slices.ContainsFunc(names, func(n string) bool {
			rest, ok := strings.CutPrefix(name, n)
			return ok && n != "" && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
		})
		if !wanted {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, name), ':')
		raw := value.Raw()
		if name == "meta" {
			raw = subsetted(raw)
		}
		b = append(b, raw...)
	}
	return append(b, '}')
}

// subsetted returns a meta element with the tag of a part.
func subsetted(meta []byte) []byte {
	var fields map[string]json.RawMessage
	var tags []json.RawMessage
	if json.Unmarshal(meta, &fields) != nil || fields["tag"] != nil && json.Unmarshal(fields["tag"], &tags) != nil {
		return meta
	}
	tags = append(tags, json.RawMessage(`{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED"}`))
	list, err := json.Marshal(tags)
	if err != nil {
		return meta
	}
	fields["tag"] = list
	tagged, err := json.Marshal(fields)
	if err != nil {
		return meta
	}
	return tagged
}
