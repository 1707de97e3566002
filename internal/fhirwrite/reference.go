package fhirwrite

import (
	"net/url"
	"strings"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// target is what a reference to a patient names: a patient of the same request,
// one by identifier, or by its id.
type target struct {
	patient    id.Patient
	identifier pain.Identifier
}

// parsePatient returns the patient of a resource id.
func parsePatient(resourceID string) (id.Patient, bool) {
	patientID, err := id.Parse[id.PatientKind]("pat_" + strings.ToLower(resourceID))
	return patientID, err == nil
}

// parseRecord splits the id of a record's resource into the first record of the
// chain and the part.
func parseRecord(resourceID string) (root id.Record, part string, ok bool) {
	ulid, part, _ := strings.Cut(resourceID, "-")
	root, err := id.Parse[id.RecordKind]("rec_" + strings.ToLower(ulid))
	return root, part, err == nil
}

// resourceID returns the id of a resource without its prefix.
func resourceID[K id.Kind](i id.ID[K]) string {
	_, ulid, _ := strings.Cut(i.String(), "_")
	return ulid
}

// targetOf interprets a reference to a patient that is not an address within
// the request. ok is false if it cannot be one of ours.
func (w *Writer) targetOf(r *fhir.Reference) (t target, ok bool) {
	if r.Reference == "" {
		if r.Identifier == nil {
			return t, false
		}
		return w.identified(r.Identifier.System, r.Identifier.Value)
	}
	if query, conditional := strings.CutPrefix(r.Reference, "Patient?"); conditional {
		one, ok := ParseCondition(query)
		if !ok {
			return t, false
		}
		return w.identified(one.System, one.Value)
	}
	reference, _, _ := strings.Cut(r.Reference, "/_history/")
	segments := strings.Split(reference, "/")
	if n := len(segments); n < 2 || segments[n-2] != "Patient" {
		return t, false
	}
	t.patient, ok = parsePatient(segments[len(segments)-1])
	return t, ok
}

// identified returns the target of an identifier, with a system of FHIR.
func (w *Writer) identified(system, value string) (t target, ok bool) {
	if system == w.Mapping.PatientSystem() {
		patientID, err := id.Parse[id.PatientKind](value)
		return target{patient: patientID}, err == nil
	}
	t.identifier = pain.Identifier{System: w.Mapping.IdentifierSystem(system), Value: value}
	return t, system != "" && value != ""
}

// ParseCondition parses the query of a conditional create, update or reference,
// which must be one identifier with a system, such as identifier=mrn|1001.
func ParseCondition(query string) (one pain.Identifier, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 || len(values["identifier"]) != 1 {
		return one, false
	}
	one, problem := pain.ParseIdentifier(values.Get("identifier"))
	return one, problem == ""
}

// addresses maps the addresses of items to the references of what they become.
type addresses map[string]string

// add notes an item. References to it may be absolute, or relative to the same
// server.
func (a addresses) add(fullURL, reference string) {
	if fullURL == "" {
		return
	}
	a[fullURL] = reference
	if segments := strings.Split(fullURL, "/"); len(segments) > 2 {
		a[strings.Join(segments[len(segments)-2:], "/")] = reference
	}
}

// replace returns what a text of a resource is replaced with, if it is one that
// names an item: in references and URIs, and in the links of the narrative.
func (a addresses) replace(field []byte, text strictjson.Value) (replacement string, ok bool) {
	switch string(field) {
	case "div":
		div, _ := text.AsString()
		linked := a.links(div)
		return linked, linked != div
	case "reference", "uri", "url", "valueUri", "valueUrl", "valueUuid", "valueOid":
		// Identifiers stay the same wherever a resource goes.
		address, _ := text.AsString()
		replacement, ok = a[address]
	}
	return replacement, ok
}

// links replaces the addresses in the links of a narrative.
func (a addresses) links(div string) string {
	var out strings.Builder
	for {
		at := strings.Index(div, `="`)
		if at < 0 {
			break
		}
		at += len(`="`)
		length := strings.IndexByte(div[at:], '"')
		if length < 0 {
			break
		}
		out.WriteString(div[:at])
		address := div[at : at+length]
		if reference, ok := a[address]; ok && (strings.HasSuffix(div[:at], `href="`) || strings.HasSuffix(div[:at], `src="`)) {
			address = reference
		}
		out.WriteString(address)
		div = div[at+length:]
	}
	out.WriteString(div)
	return out.String()
}
