package api

import (
	"net/http"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// Aliases are the organisation's own names for medicines. After a change,
// stored medications are re-derived in the background.

const aliasesPath = "/v1/reference/medications/aliases"

func (a *API) createAlias(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	wanted, err := pain.NewAlias(object)
	if err != nil {
		return answer{}, err
	}
	made := patients.Alias{ID: id.New[id.AliasKind](x.now), Alias: wanted, CreatedAt: x.now.UTC().Truncate(time.Second)}
	line := x.line(audit.AliasCreate, made.ID.String())
	line.Details = audit.Changes(patients.AliasChanges(pain.Alias{}, wanted))
	made.CreatedBy = line.Actor
	x.buf = appendAlias(x.buf, &made)
	out, err := x.org.CreateAlias(x.ctx(), &made, journal.Change{Audit: line}, key, idempotency.Outcome{
		Status: http.StatusCreated, Location: aliasesPath + "/" + made.ID.String(), Body: x.buf,
	})
	if err != nil {
		return answer{}, err
	}
	return x.outcome(out), nil
}

func (a *API) listAliases(x *exchange) (answer, error) {
	done, _, err := listPage(x, aliasesPath, x.org.AliasPage, appendAlias)
	return done, err
}

func (a *API) getAlias(x *exchange) (answer, error) {
	return getItem(x, "alias", x.org.Alias, appendAlias)
}

func (a *API) patchAlias(x *exchange) (answer, error) {
	object, err := x.readPatch()
	if err != nil {
		return answer{}, err
	}
	// A body that is invalid for any alias is rejected before the alias is
	// looked up.
	if _, err := (&pain.Alias{}).Patch(object); err != nil {
		return answer{}, err
	}
	aliasID, err := x.aliasID()
	if err != nil {
		return answer{}, err
	}
	updated, err := x.org.UpdateAlias(x.ctx(), aliasID, func(old pain.Alias) (pain.Alias, *journal.Change, error) {
		wanted, err := old.Patch(object)
		if err != nil || wanted == old {
			return old, nil, err
		}
		line := x.line(audit.AliasUpdate, aliasID.String())
		line.Details = audit.Changes(patients.AliasChanges(old, wanted))
		return wanted, &journal.Change{Audit: line}, nil
	})
	if err != nil {
		return answer{}, err
	}
	x.buf = appendAlias(x.buf, &updated)
	return answer{status: http.StatusOK, body: x.buf}, nil
}

func (a *API) deleteAlias(x *exchange) (answer, error) {
	aliasID, err := x.onAlias()
	if err != nil {
		return answer{}, err
	}
	if err := x.org.DeleteAlias(x.ctx(), aliasID, func(old pain.Alias) journal.Change {
		line := x.line(audit.AliasDelete, aliasID.String())
		line.Details = audit.Changes(patients.AliasChanges(old, pain.Alias{}))
		return journal.Change{Audit: line}
	}); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

// appendAlias appends the JSON form of an alias, with the medicine its code
// stands for.
func appendAlias(b []byte, a *patients.Alias) []byte {
	b = append(b, `{"id":"`...)
	b = a.ID.Append(b)
	b = strictjson.AppendString(append(b, `","name":`...), a.Name)
	b = strictjson.AppendString(append(b, `,"rxnorm_code":`...), a.RxNormCode)
	medicine := a.Medicine()
	class := medicine.Class
	if !medicine.Understood { // the code was dropped by a later RxNorm release
		class = drug.Unclassified
	}
	b = append(append(b, `,"drug_class":"`...), class...)
	b = append(b, `","ingredients":[`...)
	for i, in := range medicine.Ingredients {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, in.Name)
	}
	b = append(b, ']')
	if medicine.Product.Name != "" {
		b = strictjson.AppendString(append(b, `,"product":`...), medicine.Product.Name)
	}
	b = strictjson.AppendString(append(b, `,"created_by":`...), a.CreatedBy)
	b = append(b, `,"created_at":"`...)
	b = a.CreatedAt.AppendFormat(b, time.RFC3339)
	return append(b, `"}`...)
}
