package fhir

import (
	"sync"

	"anodyne.example/anodyne/internal/pain"
)

// vocabulary has the URLs of one base, made once, because every resource has
// several.
type vocabulary struct {
	base       string
	record     string                       // system of the identifiers of records
	extensions map[string]map[string]string // by owner and field
	systems    map[string]map[string]string // by data type and field
	// concepts has the concepts of fields and their words. They are shared and
	// must not be changed.
	concepts map[Coding]*CodeableConcept
}

// vocabularies has a vocabulary for each base. A process has one or two.
var vocabularies sync.Map

func vocabularyOf(base string) *vocabulary {
	if v, ok := vocabularies.Load(base); ok {
		return v.(*vocabulary)
	}
	v := &vocabulary{base: base, record: base + "/record", extensions: map[string]map[string]string{}, systems: map[string]map[string]string{}, concepts: map[Coding]*CodeableConcept{}}
	code := func(name, code string) {
		c := concept(base+systemPath+name, code)
		c.Text = codeTexts[name][code]
		v.concepts[c.Coding[0]] = c
	}
	add := func(owner, field string) {
		if v.extensions[owner] == nil {
			v.extensions[owner], v.systems[owner] = map[string]string{}, map[string]string{"": base + systemPath + owner}
		}
		v.extensions[owner][field] = base + extensionPath + owner + "-" + field
		v.systems[owner][field] = base + systemPath + owner + "-" + field
	}
	for _, info := range pain.DataTypes() {
		for _, field := range declaredFields(info.Type) {
			add(info.Name, field.name)
			code(info.Name, field.name)
			for _, word := range field.words {
				code(info.Name+"-"+field.name, word)
			}
		}
		code(dataTypeSystem, info.Name)
	}
	for _, field := range [...]string{"source", "notes", "author", "encounter_id", "laterality"} {
		add("record", field)
	}
	kept, _ := vocabularies.LoadOrStore(base, v)
	return kept.(*vocabulary)
}

// concept returns the concept with one code, which is shared and must not be
// changed.
func (m *Mapping) concept(system, code string) *CodeableConcept {
	if c := m.words().concepts[Coding{System: system, Code: code}]; c != nil {
		return c
	}
	return concept(system, code)
}

// concept returns a concept with one code.
func concept(system, code string) *CodeableConcept {
	c := &struct {
		CodeableConcept
		coding [1]Coding
	}{coding: [1]Coding{{System: system, Code: code}}}
	c.Coding = c.coding[:]
	return &c.CodeableConcept
}

// dataTypeSystem is the code system of the data types.
const dataTypeSystem = "data-type"

const (
	extensionPath = "/StructureDefinition/"
	systemPath    = "/CodeSystem/"
)

// extensionURL returns the URL of one of our extensions: owner is a data type,
// "record", "patient" or "medical_history".
func (m *Mapping) extensionURL(owner, field string) string {
	if url, ok := m.words().extensions[owner][field]; ok {
		return url
	}
	return m.base() + extensionPath + owner + "-" + field
}

// system returns the URL of one of our code systems.
func (m *Mapping) system(name string) string { return m.base() + systemPath + name }

// fieldSystem returns the code system of the fields of a data type, or with a
// field that of its words.
func (m *Mapping) fieldSystem(dataType, field string) string {
	if url, ok := m.words().systems[dataType][field]; ok {
		return url
	}
	if field == "" {
		return m.system(dataType)
	}
	return m.system(dataType + "-" + field)
}

func (m *Mapping) words() *vocabulary {
	if m.vocabulary == nil {
		m.vocabulary = vocabularyOf(m.base())
	}
	return m.vocabulary
}
