package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhir/search"
)

// The CapabilityStatement is made of the tables that route requests and parse
// searches, so that it cannot promise anything else.

type capabilityStatement struct {
	ResourceType   string           `json:"resourceType"`
	Status         string           `json:"status"`
	Date           string           `json:"date"`
	Kind           string           `json:"kind"`
	Software       capabilityName   `json:"software"`
	Implementation capabilityServer `json:"implementation"`
	FHIRVersion    string           `json:"fhirVersion"`
	Format         []string         `json:"format"`
	Rest           []capabilityRest `json:"rest"`
}

type capabilityName struct {
	Name string `json:"name"`
}

type capabilityServer struct {
	Description string `json:"description"`
	URL         string `json:"url"`
}

type capabilityRest struct {
	Mode        string                  `json:"mode"`
	Security    capabilitySecurity      `json:"security"`
	Resource    []capabilityResource    `json:"resource"`
	Interaction []capabilityInteraction `json:"interaction,omitempty"`
}

type capabilitySecurity struct {
	Extension   []capabilityExtension  `json:"extension"`
	Service     []fhir.CodeableConcept `json:"service"`
	Description string                 `json:"description"`
}

type capabilityExtension struct {
	URL       string                `json:"url"`
	Extension []capabilityExtension `json:"extension,omitempty"`
	ValueURI  string                `json:"valueUri,omitempty"`
}

type capabilityResource struct {
	Type              string                  `json:"type"`
	Documentation     string                  `json:"documentation,omitempty"`
	Interaction       []capabilityInteraction `json:"interaction"`
	Versioning        string                  `json:"versioning,omitempty"`
	ReadHistory       bool                    `json:"readHistory"`
	UpdateCreate      bool                    `json:"updateCreate"`
	ConditionalCreate bool                    `json:"conditionalCreate"`
	ConditionalRead   string                  `json:"conditionalRead,omitempty"`
	ConditionalUpdate bool                    `json:"conditionalUpdate"`
	SearchInclude     []string                `json:"searchInclude,omitempty"`
	SearchParam       []capabilityParameter   `json:"searchParam,omitempty"`
	Operation         []capabilityOperation   `json:"operation,omitempty"`
}

type capabilityInteraction struct {
	Code          string `json:"code"`
	Documentation string `json:"documentation,omitempty"`
}

type capabilityParameter struct {
	Name          string `json:"name"`
	Type          string `json:"type"`
	Documentation string `json:"documentation,omitempty"`
}

type capabilityOperation struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
}

// interactionRoutes has the route of each interaction with a type.
var interactionRoutes = []struct{ code, route string }{
	{"read", "GET /fhir/R4/{type}/{id}"},
	{"vread", "GET /fhir/R4/{type}/{id}/_history/{version}"},
	{"history-instance", "GET /fhir/R4/{type}/{id}/_history"},
	{"search-type", "GET /fhir/R4/{type}"},
	{"create", "POST /fhir/R4/{type}"},
	{"update", "PUT /fhir/R4/{type}/{id}"},
}

func (a *API) fhirMetadata(x *exchange) (answer, error) {
	if err := x.acceptsFHIR(); err != nil {
		return answer{}, err
	}
	body, err := json.Marshal(a.capabilities(a.base(x.r)))
	if err != nil {
		return answer{}, err
	}
	return x.asFHIR(answer{status: http.StatusOK, body: body}), nil
}

// oauthURIs is the extension in which a CapabilityStatement of SMART App Launch
// 1 names the OAuth addresses. Some clients read it instead of
// smart-configuration, or whichever of the two arrives first.
const oauthURIs = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"

// fhirCapabilitiesDate is when the interface last changed.
var fhirCapabilitiesDate = time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)

func (a *API) capabilities(base string) capabilityStatement {
	doc := capabilityStatement{
		ResourceType: "CapabilityStatement", Status: "active", Date: fhirCapabilitiesDate.Format("2006-01-02"), Kind: "instance",
		Software:       capabilityName{"Anodyne"},
		Implementation: capabilityServer{"Patients and their pain management data", base + fhirBase},
		FHIRVersion:    "4.0.1", Format: []string{"application/fhir+json", "json"},
	}
	rest := capabilityRest{Mode: "server", Security: capabilitySecurity{
		Extension: []capabilityExtension{{URL: oauthURIs, Extension: []capabilityExtension{{URL: "token", ValueURI: base + tokenPath}}}},
		Service:   []fhir.CodeableConcept{{Coding: []fhir.Coding{{System: "http://terminology.hl7.org/CodeSystem/restful-security-service", Code: "SMART-on-FHIR"}}}},
		Description: "OAuth 2.0 client credentials; see .well-known/smart-configuration. " +
			"A record has an id of this service: an update of an unknown id is refused.",
	}}
	routes := a.Routes()
	for _, t := range search.Types() {
		rest.Resource = append(rest.Resource, a.capabilitiesOf(t, routes))
	}
	rest.Resource = append(rest.Resource, questionnaireCapabilities())
	if slices.Contains(routes, "POST /fhir/R4") {
		rest.Interaction = []capabilityInteraction{{Code: "transaction"}, {Code: "batch"}}
	}
	doc.Rest = []capabilityRest{rest}
	return doc
}

func (a *API) capabilitiesOf(t string, routes []string) capabilityResource {
	r := capabilityResource{Type: t, Versioning: "versioned", ReadHistory: fhirRecords[t] != nil, ConditionalRead: "full-support"}
	for _, one := range interactionRoutes {
		if slices.Contains(routes, one.route) {
			r.Interaction = append(r.Interaction, capabilityInteraction{Code: one.code})
		}
	}
	r.ConditionalCreate, r.ConditionalUpdate = conditional(t), conditional(t)
	for _, p := range search.Parameters(t) {
		r.SearchParam = append(r.SearchParam, capabilityParameter{p.Name, string(p.Kind), p.Documentation})
		if p.Kind == search.Reference {
			r.SearchInclude = append(r.SearchInclude, t+":"+p.Name)
		}
	}
	if t == "Patient" {
		r.Operation = []capabilityOperation{{"everything", "http://hl7.org/fhir/OperationDefinition/Patient-everything"}}
	}
	return r
}

// conditional reports whether resources of a type can be created and updated by
// identifier.
func conditional(t string) bool { return t == "Patient" || fhirRecords[t] != nil }
