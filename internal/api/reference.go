package api

import (
	"encoding/json"
	"net/http"

	"anodyne.example/anodyne/internal/pain"
)

// The reference endpoints return the tables used by the rules, with their
// sources, so that developers can see how values are accepted and derived.

func (a *API) referenceInstruments(x *exchange) (answer, error) {
	return x.reference(pain.Instruments())
}

func (a *API) referenceMedications(x *exchange) (answer, error) {
	return x.reference(pain.Medications())
}

func (a *API) referenceDataTypes(x *exchange) (answer, error) {
	type dataType struct {
		pain.DataTypeInfo
		Schema json.RawMessage `json:"schema"`
		Stored json.RawMessage `json:"stored_schema"`
	}
	var types []dataType
	for _, t := range pain.DataTypes() {
		types = append(types, dataType{t, pain.Schema(t.Type), pain.StoredSchema(t.Type)})
	}
	return x.reference(types)
}

func (x *exchange) reference(list any) (answer, error) {
	if err := x.noQuery(); err != nil {
		return answer{}, err
	}
	return x.json(http.StatusOK, map[string]any{"data": list}), nil
}
