package pain

import (
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/strictjson"
)

// Aliases are the names that an organisation has for medicines, each for an
// RxNorm code, at one moment. nil has none.
type Aliases struct {
	version int64
	codes   map[string]string // by folded name
}

// NewAliases makes the aliases of a version from codes by folded name, which
// must not change any more.
func NewAliases(version int64, codes map[string]string) *Aliases {
	return &Aliases{version: version, codes: codes}
}

// Code is the RxNorm code that a name stands for, in any spelling that folds
// to the same; "" without an alias.
func (a *Aliases) Code(name string) string {
	if a == nil || len(a.codes) == 0 {
		return ""
	}
	return a.codes[dictionary.Fold(name)]
}

// Version goes up with every change; 0 is before the first.
func (a *Aliases) Version() int64 {
	if a == nil {
		return 0
	}
	return a.version
}

// Find looks a medicine up as a record of the organisation is understood.
func (a *Aliases) Find(q dictionary.Query) dictionary.Medicine {
	q.Alias = a.Code(q.Name)
	return dictionary.Find(q)
}

// Alias is one name for one RxNorm code.
type Alias struct {
	Name       string
	RxNormCode string
}

// Folded is the form in which an alias is found; no two of an organisation
// have the same.
func (a *Alias) Folded() string { return dictionary.Fold(a.Name) }

// Medicine is what the code is.
func (a *Alias) Medicine() dictionary.Medicine {
	return dictionary.Find(dictionary.Query{RxNorm: a.RxNormCode})
}

// NewAlias reads an alias. The error is an INVALID_PARAMETER fault that names
// everything that is wrong.
func NewAlias(body *strictjson.Object) (a Alias, err error) {
	return a.merge(body, true)
}

// Patch sets those of name and code that a body has. The alias stays as it is
// when that leaves it wrong; the error is that of [NewAlias].
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
