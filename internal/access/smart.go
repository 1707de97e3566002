package access

import (
	"fmt"
	"slices"
	"strings"
)

// SMART is what the SMART scopes of a token permit, for each of [FHIRTypes].
// The zero value permits nothing.
type SMART [len(fhirTypes)]FHIRVerbs

// smartWord is a parsed SMART scope such as system/Patient.rs.
type smartWord struct {
	permits SMART
	// needs are the scopes that the client must have been granted.
	needs Scopes
}

// smartPrefix is the only context of SMART scopes that a client without a
// user can have.
const smartPrefix = "system/"

// parseSMART parses a SMART scope of version 2 (system/Patient.rs) or 1
// (system/Patient.read). ok is false for everything else, including scopes
// limited by a query and types that are not in [FHIRTypes].
func parseSMART(word string) (w smartWord, ok bool) {
	rest, system := strings.CutPrefix(word, smartPrefix)
	name, letters, dot := strings.Cut(rest, ".")
	if !system || !dot {
		return w, false
	}
	verbs, explicit, ok := smartVerbs(letters)
	if !ok {
		return w, false
	}
	one := fhirTypeIndex(name)
	if one < 0 && name != "*" {
		return w, false
	}
	for i := range fhirTypes {
		t := &fhirTypes[i]
		if one >= 0 && i != one {
			continue
		}
		// What cannot be permitted for a type is left out of a wildcard, and
		// makes a scope that names the type unknown.
		possible := verbs & t.verbs(AllScopes)
		if one >= 0 && possible != verbs && explicit {
			return w, false
		}
		w.permits[i] = possible
		needed := possible
		if !explicit && t.remove != t.write {
			needed &^= FHIRDelete
		}
		w.needs |= t.needs(needed)
	}
	return w, w.permits != SMART{}
}

// smartVerbs parses the part of a SMART scope after the dot. explicit is false
// for the forms of version 1, which cannot ask for updates without deletion.
func smartVerbs(letters string) (v FHIRVerbs, explicit, ok bool) {
	switch letters {
	case "read":
		return fhirReads, false, true
	case "write":
		return fhirWrites, false, true
	case "*":
		return fhirAll, false, true
	}
	const cruds = "cruds"
	at := 0
	for _, letter := range []byte(letters) {
		i := strings.IndexByte(cruds[at:], letter)
		if i < 0 {
			return 0, true, false // unknown, repeated or out of order
		}
		v |= 1 << (at + i)
		at += i + 1
	}
	return v, true, v != 0
}

// within returns what is left of s for a client with these scopes.
func (s SMART) within(client Scopes) SMART {
	for i := range s {
		s[i] &= fhirTypes[i].verbs(client)
	}
	return s
}

// scopes returns the scopes that s amounts to: those whose every resource type
// it permits in every way that the scope does.
func (s SMART) scopes() (held Scopes) {
	for scope := Scopes(1); scope < pastScopes; scope <<= 1 {
		used := false
		all := true
		for i := range fhirTypes {
			t := &fhirTypes[i]
			var needed FHIRVerbs
			if t.read == scope {
				needed |= fhirReads
			}
			if t.write == scope {
				needed |= FHIRCreate | FHIRUpdate
			}
			if t.remove == scope {
				needed |= FHIRDelete
			}
			used = used || needed != 0
			all = all && needed&^s[i] == 0
		}
		if used && all {
			held |= scope
		}
	}
	return held
}

// Asked is what a token is for: scopes by name, and SMART scopes.
type Asked struct {
	Scopes Scopes
	// SMART lists SMART scopes as they were asked for, without repetitions,
	// separated by spaces.
	SMART string
}

// ParseAsked parses the scope parameter of a token request. The error is an
// [UnknownScopeError].
func ParseAsked(s string) (a Asked, err error) {
	var smart []string
	for word := range strings.FieldsSeq(s) {
		if _, ok := parseSMART(word); ok {
			if !slices.Contains(smart, word) {
				smart = append(smart, word)
			}
			continue
		}
		one, err := ParseScopes(word)
		if err != nil {
			return Asked{}, err
		}
		a.Scopes |= one
	}
	a.SMART = strings.Join(smart, " ")
	return a, nil
}

// Missing returns what a client with these scopes lacks to be granted a.
func (a Asked) Missing(client Scopes) (missing Scopes) {
	missing = a.Scopes
	for word := range strings.FieldsSeq(a.SMART) {
		w, _ := parseSMART(word)
		missing |= w.needs
	}
	return missing &^ client
}

// Within returns what is left of a once its client has these scopes: a client
// may lose scopes after a token was issued. SMART scopes that are not covered
// any more are left out.
func (a Asked) Within(client Scopes) Asked {
	var smart []string
	for word := range strings.FieldsSeq(a.SMART) {
		if w, ok := parseSMART(word); ok && client.Has(w.needs) {
			smart = append(smart, word)
		}
	}
	return Asked{Scopes: a.Scopes & client, SMART: strings.Join(smart, " ")}
}

// Permits returns what a permits a client with these scopes. SMART scopes
// never permit more than the scopes do, and permit what a scope does outside
// of FHIR only if they cover all of its resource types.
func (a Asked) Permits(client Scopes) (Scopes, SMART) {
	var all SMART
	for word := range strings.FieldsSeq(a.Within(client).SMART) {
		w, _ := parseSMART(word)
		for i := range all {
			all[i] |= w.permits[i]
		}
	}
	all = all.within(client)
	return (a.Scopes | all.scopes()) & client, all
}

// String returns the scopes separated by spaces, the SMART scopes last.
func (a Asked) String() string {
	return strings.TrimSpace(a.Scopes.String() + " " + a.SMART)
}

// SMARTScopes lists the SMART scopes that a client can ask for, for the
// metadata of the service: reading and everything, for all types and for each.
func SMARTScopes() []string {
	list := []string{"system/*.rs", "system/*.cruds"}
	for _, t := range fhirTypes {
		list = append(list, fmt.Sprintf("system/%s.%s", t.name, t.verbs(AllScopes)))
	}
	return list
}

// String returns the letters of SMART scopes, such as "rs".
func (v FHIRVerbs) String() string {
	var b strings.Builder
	for i, letter := range "cruds" {
		if v&(1<<i) != 0 {
			b.WriteRune(letter)
		}
	}
	return b.String()
}
