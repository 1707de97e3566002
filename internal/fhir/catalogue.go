package fhir

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/instrument"
)

// CodeSystem is one of our code systems.
type CodeSystem struct {
	URL   string
	Name  string // the last part of the URL
	Title string
	// Open code systems may have further codes, because callers choose them.
	Open     bool
	Concepts []Concept
}

// Concept is a code of a code system and, if the code is not sufficient, its
// meaning.
type Concept struct {
	Code  string
	About string
}

// historyCategories are the categories of a medical history.
var historyCategories = [...]string{"pain", "psychiatric", "substance_use", "medical", "surgical", "family"}

// codedFields are the fields whose words are codes in resources.
var codedFields = []struct {
	dataType pain.DataType
	fields   []string
}{
	{pain.TypePainScores, []string{"scale", "aspect", "recall", "context", "quality"}},
	{pain.TypeProcedures, []string{"procedure_type"}},
	{pain.TypeAdverseEvents, []string{"event"}},
	{pain.TypeLabs, []string{"method", "result"}},
	{pain.TypeAssessments, []string{"instrument"}},
}

// componentTypes are the data types whose fields are codes of components.
var componentTypes = []pain.DataType{pain.TypePainScores, pain.TypeSleep, pain.TypeActivity}

// CodeSystems lists our code systems, by name.
func (m Mapping) CodeSystems() []CodeSystem {
	list := []CodeSystem{
		m.codeSystem(dataTypeSystem, "Data types of clinical records", conceptsOf(pain.DataTypes(), func(t pain.DataTypeInfo) Concept { return Concept{t.Name, t.About} })),
		m.codeSystem(bodySiteSystem, "Body sites", conceptsOf(pain.BodySites(), func(s pain.BodySite) Concept { return Concept{Code: s.Name} })),
		m.codeSystem("medical_history-category", "Categories of a medical history", concepts(historyCategories[:])),
		m.codeSystem("pain_scores-severity", "Severity bands of pain", concepts(pain.Severities[:])),
		m.codeSystem("functional_status-measure", "Measures of function", conceptsOf(pain.FunctionalMeasures(), func(f pain.FunctionalMeasure) Concept { return Concept{Code: f.Name} })),
		m.codeSystem("assessments-band", "Bands of questionnaire scores", bandConcepts()),
	}
	list[4].Open, list[5].Open = true, true
	for _, t := range componentTypes {
		var fields []Concept
		for _, f := range declaredFields(t) {
			if !f.computed {
				fields = append(fields, Concept{f.name, f.about})
			}
		}
		list = append(list, m.codeSystem(t.String(), "Fields of "+spaced(t.String()), fields))
	}
	for _, coded := range codedFields {
		for _, name := range coded.fields {
			d := find(declaredFields(coded.dataType), name)
			list = append(list, m.codeSystem(coded.dataType.String()+"-"+name, upperFirst(spaced(name))+" of "+spaced(coded.dataType.String()), concepts(d.words)))
		}
	}
	slices.SortFunc(list, func(a, b CodeSystem) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (m *Mapping) codeSystem(name, title string, list []Concept) CodeSystem {
	return CodeSystem{URL: m.system(name), Name: name, Title: title, Concepts: list}
}

func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// concepts returns the concepts with some codes.
func concepts[T ~string](codes []T) []Concept {
	return conceptsOf(codes, func(code T) Concept { return Concept{Code: string(code)} })
}

// conceptsOf returns the concepts that items of a list stand for.
func conceptsOf[T any](items []T, concept func(T) Concept) (list []Concept) {
	for _, item := range items {
		list = append(list, concept(item))
	}
	return list
}

func bandConcepts() (list []Concept) {
	for _, info := range instrument.All() {
		for _, band := range info.Bands {
			if !slices.ContainsFunc(list, func(c Concept) bool { return c.Code == band.Name }) {
				list = append(list, Concept{Code: band.Name})
			}
		}
	}
	return list
}

// codeSystemResource is a CodeSystem resource.
type codeSystemResource struct {
	ResourceType  string              `json:"resourceType"`
	ID            string              `json:"id"`
	URL           string              `json:"url"`
	Name          string              `json:"name"`
	Title         string              `json:"title"`
	Status        string              `json:"status"`
	CaseSensitive bool                `json:"caseSensitive"`
	Content       string              `json:"content"`
	Concept       []codeSystemConcept `json:"concept,omitempty"`
}

type codeSystemConcept struct {
	Code       string `json:"code"`
	Definition string `json:"definition,omitempty"`
}

// Resource returns the code system as a CodeSystem.
func (s *CodeSystem) Resource() (Resource, error) {
	r := codeSystemResource{
		ResourceType: "CodeSystem", ID: strings.ReplaceAll(s.Name, "_", "-"), URL: s.URL, Title: s.Title, Status: "active", CaseSensitive: true, Content: "complete",
	}
	for _, word := range strings.FieldsFunc(s.Name, func(r rune) bool { return r == '-' || r == '_' }) {
		r.Name += upperFirst(word)
	}
	if s.Open {
		r.Content = "fragment"
	}
	for _, c := range s.Concepts {
		r.Concept = append(r.Concept, codeSystemConcept{c.Code, c.About})
	}
	return encode(r.ResourceType, r.ID, &r)
}

// ExtensionInfo describes one of our extensions.
type ExtensionInfo struct {
	URL   string
	Owner string // a data type, "record", "patient" or "medical_history"
	Field string
	About string
	// Derived values are shown, but never read.
	Derived bool
	// Modifier: it changes the meaning of the resource.
	Modifier bool
}

// Extensions lists the extensions in which fields without a place in FHIR
// travel. A field that has a place in its resource has none there, but is also
// read from its extension.
func (m Mapping) Extensions() (list []ExtensionInfo) {
	add := func(owner, field, about string) *ExtensionInfo {
		list = append(list, ExtensionInfo{URL: m.extensionURL(owner, field), Owner: owner, Field: field, About: about})
		return &list[len(list)-1]
	}
	add("patient", "gender", "the gender as written, if it is not a code of FHIR")
	add("patient", "phone", "a telephone number of white space only")
	add("patient", "email", "an e-mail address of white space only")
	add("record", "source", "who or what provided the record")
	add("record", "status", "the status of the record, where the resource has none for it; a modifier for entered-in-error").Modifier = true
	add("record", "laterality", "the side of a body site")
	for _, name := range [...]string{"notes", "author", "encounter_id"} {
		add("record", name, "a text that FHIR has no place for")
	}
	for _, name := range [...]string{"snomed_code", "severity", "notes"} {
		add("medical_history", name, "a text that FHIR does not allow in its element")
	}
	add("medical_history", "family", "the condition is a relative's, not the patient's").Modifier = true
	for _, info := range pain.DataTypes() {
		for _, f := range declaredFields(info.Type) {
			add(info.Name, f.name, f.about).Derived = f.computed
		}
	}
	return list
}
