package access

import "slices"

// FHIRVerbs is a set of interactions with FHIR resources of one type.
type FHIRVerbs uint8

// The interactions, in the order of the letters of SMART scopes: cruds.
const (
	FHIRCreate FHIRVerbs = 1 << iota
	FHIRRead
	FHIRUpdate
	FHIRDelete
	FHIRSearch

	fhirReads  = FHIRRead | FHIRSearch
	fhirWrites = FHIRCreate | FHIRUpdate | FHIRDelete
	fhirAll    = fhirReads | fhirWrites
)

// fhirType is a FHIR resource type and the scopes that its interactions need.
type fhirType struct {
	name string
	// read permits read and search, write permits create and update, and
	// remove permits delete. A zero read needs only a token; a zero write or
	// remove cannot be permitted.
	read, write, remove Scopes
}

// fhirTypes is the one declaration of what the scopes permit at /fhir/R4.
// Deleting a patient erases it, so it needs the scope for that.
var fhirTypes = [...]fhirType{
	{"Patient", PatientsRead, PatientsWrite, PatientsErase},
	{"Condition", PatientsRead, PatientsWrite, PatientsWrite},
	{"Group", PatientsRead, PatientsWrite, PatientsWrite},
	{"Observation", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"MedicationRequest", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"MedicationStatement", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"Procedure", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"AdverseEvent", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"DocumentReference", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"QuestionnaireResponse", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"Provenance", ClinicalDataRead, ClinicalDataWrite, ClinicalDataWrite},
	{"Questionnaire", 0, 0, 0},
}

// FHIRTypes lists the resource types that a token can give access to.
func FHIRTypes() []string {
	names := make([]string, len(fhirTypes))
	for i, t := range fhirTypes {
		names[i] = t.name
	}
	return names
}

func fhirTypeIndex(name string) int {
	return slices.IndexFunc(fhirTypes[:], func(t fhirType) bool { return t.name == name })
}

// verbs returns what scopes permit with resources of the type.
func (t *fhirType) verbs(s Scopes) (v FHIRVerbs) {
	if s.Has(t.read) {
		v |= fhirReads
	}
	if t.write != 0 && s.Has(t.write) {
		v |= FHIRCreate | FHIRUpdate
	}
	if t.remove != 0 && s.Has(t.remove) {
		v |= FHIRDelete
	}
	return v
}

// needs returns the scopes that a client must have to be granted verbs.
func (t *fhirType) needs(v FHIRVerbs) (s Scopes) {
	if v&fhirReads != 0 {
		s |= t.read
	}
	if v&(FHIRCreate|FHIRUpdate) != 0 {
		s |= t.write
	}
	if v&FHIRDelete != 0 {
		s |= t.remove
	}
	return s
}

// MayFHIR reports whether the principal may do all of verbs with FHIR
// resources of a type. It is false for a type that is not one of [FHIRTypes].
func (p *Principal) MayFHIR(resourceType string, verbs FHIRVerbs) bool {
	i := fhirTypeIndex(resourceType)
	return i >= 0 && verbs&^(fhirTypes[i].verbs(p.Scopes)|p.SMART[i]) == 0
}
