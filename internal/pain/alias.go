package pain

import (
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/strictjson"
)

// Aliases are an organisation's names for medicines, each standing for an
// RxNorm code, at one point in time. A nil *Aliases is empty.
type Aliases struct {
	version int64
	codes   map[string]string // by folded name
}

// NewAliases returns the aliases of a version, given as codes by folded name.
// codes must not be changed afterwards.
func NewAliases(version int64, codes map[string]string) *Aliases {
	return &Aliases{version: version, codes: codes}
}

// Code returns the RxNorm code for a name, in any spelling that folds to the
// same, or "" without an alias.
func (a *Aliases) Code(name string) string {
	if a == nil || len(a.codes) == 0 {
		return ""
	}
	return a.codes[dictionary.Fold(name)]
}

// Version returns the version, which increases with every change; 0 is before
// the first.
func (a *Aliases) Version() int64 {
	if a == nil {
		return 0
	}
	return a.version
}

// Find looks up a medicine in the same way as for a record of the
// organisation.
func (a *Aliases) Find(q dictionary.Query) dictionary.Medicine {
	q.Alias = a.Code(q.Name)
	return dictionary.Find(q)
}

// Alias is a name for an RxNorm code.
type Alias struct {
	Name       string
	RxNormCode string
}

// Folded returns the form in which an alias is looked up, which is unique
// within an organisation.
func (a *Alias) Folded() string { return dictionary.Fold(a.Name) }

// Medicine returns the medicine with this code.
func (a *Alias) Medicine() dictionary.Medicine {
	return dictionary.Find(dictionary.Query{RxNorm: a.RxNormCode})
}

// NewAlias parses an alias. The error is an INVALID_PARAMETER fault that lists
// everything that is wrong.
func NewAlias(body *strictjson.Object) (a Alias, err error) {
	return a.merge(body, true)
}

// Patch returns the alias with the name and code in body, if present. The
// error is like that of [NewAlias].
func (a *Alias) Patch(body *strictjson.Object) (Alias, error) { return a.merge(body, false) }

func (a *Alias) merge(body *strictjson.Object, creating bool) (Alias, error) {
	var fields fault.Fields
	r := read(body, &fields, false)
	merged := *a
	for i := range aliasMembers {
		m := &aliasMembers[i]
		switch has, _ := r.Has(m.name); {
		case isThere(r, m.name):
			m.read(r, &merged)
		case has || creating:
			r.Fault(m.name, "is required.")
		}
	}
	for _, name := range []string{"id", "created_by", "created_at", "medicine"} {
		r.Refuse(name, "is read-only: the service sets it.")
	}
	if fields.OK() && merged.Name != "" && merged.RxNormCode != "" {
		if field, problem := dictionary.AliasProblem(merged.Name, merged.RxNormCode); field != "" {
			r.Fault(field, problem)
		}
	}
	r.Done()
	if err := fields.Err(); err != nil {
		return *a, err
	}
	return merged, nil
}

var aliasMembers = []member[Alias]{
	line("name", func(a *Alias) *string { return &a.Name }, maxShort),
	pattern("rxnorm_code", func(a *Alias) *string { return &a.RxNormCode }, rxNormCode, "7804"),
}
