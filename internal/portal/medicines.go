package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// medicinesPage lists the organisation's names for medicines, and shows how
// one is understood.
type medicinesPage struct {
	Rows []aliasRow
	Form aliasForm
	// May is set if the member may change aliases.
	May bool
	// Look is the name or code that was looked up, and Why how it was
	// understood.
	Look string
	Why  []string
	pager
}

type aliasRow struct {
	patients.Alias
	Is, Class string
}

type aliasForm struct {
	Name, Code string
	Wrong      []string
}

func (p *Portal) medicines(v *visit) error { return v.showMedicines(aliasForm{}) }

func (v *visit) showMedicines(form aliasForm) (err error) {
	page := medicinesPage{Form: form, May: v.has(access.ClinicalDataWrite)}
	if page.pager, err = v.pager(nil); err != nil {
		return err
	}
	var list []patients.Alias
	if list, page.Total, err = v.org.AliasPage(v.r.Context(), page.Page, pageSize); err != nil {
		return err
	}
	for _, a := range list {
		page.Rows = append(page.Rows, rowOfAlias(a))
	}
	if page.Look = strings.TrimSpace(v.r.URL.Query().Get("look")); page.Look != "" {
		if page.Why, err = v.lookUp(page.Look); err != nil {
			return err
		}
	}
	return v.show("medicines", "Medicines", page)
}

func rowOfAlias(a patients.Alias) aliasRow {
	row := aliasRow{Alias: a, Class: "no longer in the dictionary"}
	if m := a.Medicine(); m.Understood {
		row.Class = figure.Words(string(m.Class))
		if row.Is = m.Product.Name; row.Is == "" {
			names := make([]string, len(m.Ingredients))
			for i, in := range m.Ingredients {
				names[i] = in.Name
			}
			row.Is = strings.Join(names, " and ")
		}
	}
	return row
}

var rxNormCode = regexp.MustCompile(`^[0-9]{1,8}$`)

// lookUp explains how a name or an RxNorm code is understood.
func (v *visit) lookUp(look string) ([]string, error) {
	if utf8.RuneCountInString(look) > 200 || !utf8.ValidString(look) {
		return nil, fault.New(fault.InvalidParameter, "A name must have at most 200 characters.")
	}
	aliases, err := v.org.Aliases(v.r.Context())
	if err != nil {
		return nil, err
	}
	q := dictionary.Query{Name: look}
	if rxNormCode.MatchString(look) {
		q = dictionary.Query{RxNorm: look}
	}
	m := aliases.Find(q)
	return m.Why(), nil
}

// addAlias adds an alias under the rules of the API.
func (p *Portal) addAlias(v *visit) error {
	form := aliasForm{Name: v.form("name"), Code: v.form("rxnorm_code")}
	body, err := json.Marshal(map[string]string{"name": form.Name, "rxnorm_code": form.Code})
	if err != nil {
		return err
	}
	object, err := strictjson.Parse(body)
	if err != nil {
		return fault.New(fault.InvalidBody, "The form could not be read.")
	}
	wanted, err := pain.NewAlias(object)
	if err == nil {
		made := patients.Alias{ID: id.New[id.AliasKind](v.now), Alias: wanted, CreatedBy: v.member.ID.String(), CreatedAt: v.now.UTC().Truncate(time.Second)}
		change := v.change(audit.AliasCreate, made.ID.String())
		change.Audit.Details = audit.Changes(patients.AliasChanges(pain.Alias{}, wanted))
		_, err = v.org.CreateAlias(v.r.Context(), &made, change, nil, idempotency.Outcome{})
	}
	f, refused := errors.AsType[*fault.Error](err)
	switch {
	case refused && f.Code == fault.InvalidParameter:
		v.status = http.StatusUnprocessableEntity
	case refused && f.Code == fault.Conflict:
		v.status = http.StatusConflict
	case err != nil:
		return err
	default:
		v.redirect("/portal/medicines")
		return nil
	}
	form.Wrong = wordsOfAlias(f)
	return v.showMedicines(form)
}

// wordsOfAlias returns the errors of a form in the terms used on the page.
func wordsOfAlias(f *fault.Error) (list []string) {
	messages := []string{f.Message}
	if several, ok := f.Details["errors"].([]fault.Field); ok {
		messages = messages[:0]
		for _, field := range several {
			messages = append(messages, field.Message)
		}
	}
	for _, m := range messages {
		if rest, ok := strings.CutPrefix(m, "name "); ok {
			m = "the name " + rest
		}
		list = append(list, figure.Capital(strings.ReplaceAll(m, "rxnorm_code", "the RxNorm code")))
	}
	return list
}

func (p *Portal) removeAlias(v *visit) error {
	aliasID, err := pathID[id.AliasKind](v, "id", "alias")
	if err != nil {
		return err
	}
	if err := v.org.DeleteAlias(v.r.Context(), aliasID, func(old pain.Alias) journal.Change {
		change := v.change(audit.AliasDelete, aliasID.String())
		change.Audit.Details = audit.Changes(patients.AliasChanges(old, pain.Alias{}))
		return change
	}); err != nil {
		return err
	}
	v.redirect("/portal/medicines")
	return nil
}
