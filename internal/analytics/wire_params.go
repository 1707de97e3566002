package analytics

import (
	"encoding/json"
	"errors"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// packedParams is how valid parameters are sent to another node: their JSON
// form, and what it leaves out and does not follow from it.
type packedParams struct {
	Params           *Params
	Start, End, AsOf drug.Day
	Earlier          drug.Span
}

// Pack returns valid parameters in a form that [UnpackParams] reads.
func (p *Params) Pack() ([]byte, error) {
	return json.Marshal(packedParams{p, p.Start, p.End, p.AsOf, p.earlier})
}

// UnpackParams returns the parameters that Pack wrote.
func UnpackParams(b []byte) (*Params, error) {
	var packed packedParams
	if err := json.Unmarshal(b, &packed); err != nil {
		return nil, err
	}
	p := packed.Params
	if p == nil {
		return nil, errors.New("no parameters")
	}
	p.Start, p.End, p.AsOf, p.earlier = packed.Start, packed.End, packed.AsOf, packed.Earlier
	if p.MedicationClass != nil {
		p.class = series.ClassOf(drug.Class(*p.MedicationClass))
	}
	if p.StandardAsked == nil {
		return p, nil
	}
	var fields fault.Fields
	p.standard = checker{Fields: &fields}.standard(*p.StandardAsked)
	return p, fields.Err()
}
