package api

import (
	"net/http"
	"regexp"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// lookup is what the service understands of a medicine as written.
type lookup struct {
	Understood  bool               `json:"understood"`
	Class       drug.Class         `json:"class"`
	Basis       drug.Basis         `json:"basis"`
	Ingredients []lookupIngredient `json:"ingredients"`
	Product     *lookupProduct     `json:"product"`
	Brand       *string            `json:"brand"`
	DoseForm    *string            `json:"dose_form"`
	Route       *string            `json:"route"`
	DoseUnit    *string            `json:"dose_unit"`
	AliasCode   *string            `json:"alias_code"`
	Unknown     []string           `json:"unknown_words"`
	Suggestions []string           `json:"suggestions"`
	// Contradiction is set if name and code refer to different medicines.
	Contradiction   bool     `json:"contradiction"`
	StrengthDiffers bool     `json:"strength_differs"`
	Why             []string `json:"why"`
	Release         string   `json:"release"`
}

type lookupIngredient struct {
	Name         string     `json:"name"`
	RxNorm       *string    `json:"rxnorm_code"`
	Class        drug.Class `json:"class"`
	Strength     *float64   `json:"strength"`
	StrengthUnit *string    `json:"strength_unit"`
}

type lookupProduct struct {
	RxNorm  string `json:"rxnorm_code"`
	Name    string `json:"name"`
	Current bool   `json:"current"`
}

// maxMedicineName is the maximum length of a medicine's name in a record.
const maxMedicineName = 200

var (
	rxNormPattern = regexp.MustCompile(`^[0-9]{1,8}$`)
	ndcPattern    = regexp.MustCompile(`^[0-9-]{1,14}$`)
)

// lookUpMedication returns how a medication with this name or code would be
// understood in a record of the organisation.
func (a *API) lookUpMedication(x *exchange) (answer, error) {
	q := x.readQuery("name", "rxnorm", "ndc")
	var asked dictionary.Query
	for _, p := range []struct {
		name  string
		into  *string
		valid func(string) bool
		rule  string
	}{
		{"name", &asked.Name, func(s string) bool { return s != "" && utf8.RuneCountInString(s) <= maxMedicineName }, "must have 1 to 200 characters."},
		{"rxnorm", &asked.RxNorm, rxNormPattern.MatchString, "must be an RxNorm code of 1 to 8 digits."},
		{"ndc", &asked.NDC, ndcPattern.MatchString, "must be an NDC of 10 or 11 digits, with or without hyphens."},
	} {
		text, given := q.text(p.name)
		if !given {
			continue
		}
		if !p.valid(text) {
			q.fields.Add(p.name, clip(text), p.name+" "+p.rule)
		}
		*p.into = text
	}
	if err := q.err(); err != nil {
		return answer{}, err
	}
	if asked == (dictionary.Query{}) {
		q.fields.Add("name", "", "Give at least one of name, rxnorm and ndc.")
		return answer{}, q.err()
	}
	aliases, err := x.org.Aliases(x.ctx())
	if err != nil {
		return answer{}, err
	}
	return x.json(http.StatusOK, map[string]any{"data": lookupOf(aliases.Find(asked))}), nil
}

func lookupOf(m dictionary.Medicine) lookup {
	l := lookup{
		Understood: m.Understood, Class: m.Class, Basis: m.Basis, Ingredients: make([]lookupIngredient, len(m.Ingredients)),
		Brand: known(m.Brand), DoseForm: known(m.Form), Route: known(m.Route), DoseUnit: known(m.Unit), AliasCode: known(m.Alias),
		Unknown: list(m.Unknown), Suggestions: list(m.Suggestions), Contradiction: m.Contradiction, StrengthDiffers: m.StrengthDiffers,
		Why: list(m.Why()), Release: dictionary.Release,
	}
	if !m.Understood {
		l.Class = drug.Unclassified
	}
	for i, in := range m.Ingredients {
		l.Ingredients[i] = lookupIngredient{Name: in.Name, RxNorm: known(in.RxNorm), Class: in.Class}
		if in.Strength.Unit != "" {
			l.Ingredients[i].Strength, l.Ingredients[i].StrengthUnit = &in.Strength.Value, &in.Strength.Unit
		}
	}
	if m.Product.RxNorm != "" {
		l.Product = &lookupProduct{m.Product.RxNorm, m.Product.Name, m.Product.Current}
	}
	return l
}

// known returns text, or nil if it is empty.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// list returns texts as a slice that is not nil.
func list(texts []string) []string { return append([]string{}, texts...) }
