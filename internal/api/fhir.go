package api

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir/search"
	"anodyne.example/anodyne/internal/pain"
)

// fhirBase is the path of the FHIR interface.
const fhirBase = "/fhir/R4"

// fhirType is the media type of FHIR resources.
const fhirType = "application/fhir+json; charset=utf-8"

// underFHIR reports whether errors at a path are OperationOutcomes.
func underFHIR(p string) bool { return p == "/fhir" || strings.HasPrefix(p, "/fhir/") }

// withoutToken lists the paths below /fhir that need no token.
var withoutToken = []string{fhirBase + "/metadata", fhirBase + "/.well-known/smart-configuration"}

// needsToken reports whether a missing token is reported before any other
// error.
func needsToken(p string) bool {
	return underV1(p) || underFHIR(p) && !slices.Contains(withoutToken, p)
}

// fhirRecords has the data types whose records become resources of a type.
// Patient and Condition are made of patients.
var fhirRecords = map[string][]pain.DataType{
	"Observation": {
		pain.TypePainScores, pain.TypeAssessments, pain.TypeFunctionalStatus, pain.TypeSleep, pain.TypeMood, pain.TypeActivity, pain.TypeVitals, pain.TypeLabs,
	},
	"MedicationRequest":     {pain.TypeMedications},
	"MedicationStatement":   {pain.TypeMedications},
	"Procedure":             {pain.TypeProcedures},
	"AdverseEvent":          {pain.TypeAdverseEvents},
	"DocumentReference":     {pain.TypeNotes},
	"QuestionnaireResponse": {pain.TypeAssessments},
}

// resourceType returns the type in the path of a request.
func (x *exchange) resourceType() string {
	if t := x.r.PathValue("type"); t != "" {
		return t
	}
	return "Patient"
}

// admitFHIR checks the media types, the type of the resource and the scopes,
// before a FHIR request is handled.
func (x *exchange) admitFHIR(verbs access.FHIRVerbs) error {
	t := x.resourceType()
	known := slices.Contains(search.Types(), t) || t == questionnaire && verbs&^(access.FHIRRead|access.FHIRSearch) == 0
	if !known {
		return refuse(http.StatusNotFound, "not-supported", "", "This service does not support this resource type, or this interaction with it.")
	}
	if !x.principal.MayFHIR(t, verbs) {
		need := "system/" + t + "." + verbs.String()
		return fault.New(fault.Forbidden, "The token lacks the scope "+need+", or the scope of this service that includes it.",
			"required_scope", need, "granted_scopes", x.principal.Scopes.Names())
	}
	return x.acceptsFHIR()
}

// acceptsFHIR checks that the caller takes JSON.
func (x *exchange) acceptsFHIR() error {
	wanted := x.r.Header["Accept"]
	if values, err := url.ParseQuery(x.r.URL.RawQuery); err == nil && values.Has("_format") {
		wanted = []string{strings.ReplaceAll(values.Get("_format"), " ", "+")} // a plus sign in a query
	}
	if len(wanted) == 0 {
		return nil
	}
	for one := range strings.SplitSeq(strings.Join(wanted, ","), ",") {
		one = strings.TrimSpace(one)
		if one == "json" || one == "" {
			return nil
		}
		media, params, err := mime.ParseMediaType(one)
		if err != nil || params["q"] == "0" || params["fhirversion"] != "" && params["fhirversion"] != "4.0" {
			continue
		}
		switch media {
		case "application/fhir+json", "application/json", "application/json+fhir", "text/json", "application/*", "*/*":
			return nil
		}
	}
	return refuse(http.StatusNotAcceptable, "not-supported", "", "This service sends application/fhir+json of FHIR R4 only.")
}

// preference is the Prefer header of a FHIR request.
type preference struct {
	returns string // minimal, representation or OperationOutcome
	strict  bool
}

func (x *exchange) preference() (p preference) {
	p.returns = "representation"
	for one := range strings.SplitSeq(strings.Join(x.r.Header["Prefer"], ","), ",") {
		for part := range strings.SplitSeq(one, ";") {
			switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); {
			case name == "handling":
				p.strict = value == "strict"
			case name == "return" && slices.Contains([]string{"minimal", "representation", "OperationOutcome"}, value):
				p.returns = value
			}
		}
	}
	return p
}

// fhirURL returns the address of the FHIR interface.
func (x *exchange) fhirURL() string { return x.api.base(x.r) + fhirBase }

// asFHIR completes the response to a FHIR request.
func (x *exchange) asFHIR(out answer) answer {
	if out.contentType == "" {
		out.contentType = fhirType
	}
	if strings.Contains(x.r.URL.RawQuery, "_pretty=true") {
		var pretty bytes.Buffer
		if json.Indent(&pretty, out.body, "", "  ") == nil {
			out.body = append(pretty.Bytes(), '\n')
		}
	}
	return out
}

// weakTag returns the entity tag of a version of a resource.
func weakTag(version int64) string { return `W/"` + strconv.FormatInt(version, 10) + `"` }

// modified sets the Last-Modified header.
func (x *exchange) modified(at time.Time) {
	x.h["Last-Modified"] = []string{at.UTC().Format(http.TimeFormat)}
}

// unchanged reports whether the caller has this version of a resource.
func (x *exchange) unchanged(version int64, at time.Time) bool {
	if _, given := x.r.Header["If-None-Match"]; given {
		return notModified(x.r.Header, `"`+strconv.FormatInt(version, 10)+`"`)
	}
	since, err := http.ParseTime(x.r.Header.Get("If-Modified-Since"))
	return err == nil && !at.Truncate(time.Second).After(since)
}

// fhirQuery checks the query of an interaction that has no parameters of its
// own.
func (x *exchange) fhirQuery(known ...string) (url.Values, error) {
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, fault.Parameter("query", "", "The query string is malformed; percent-encode special characters.")
	}
	for name := range values {
		if !slices.Contains(known, name) && !slices.Contains(ofFormat, name) && x.preference().strict {
			return nil, fault.Parameter(clip(name), "", "Unknown parameter.")
		}
	}
	return values, nil
}

// ofFormat are the parameters of all interactions.
var ofFormat = []string{"_format", "_pretty"}
