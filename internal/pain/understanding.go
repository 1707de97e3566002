package pain

import (
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// understanding is what a medicine is, and how that is known.
type understanding struct {
	dictionary.Medicine
	class drug.Class
	basis drug.Basis
}

// understand is the one place where a medicine becomes known: by its codes, by
// its name, by the organisation's alias for what the name leaves open, and only
// one that they do not say by what the caller states.
func (v *Medication) understand(aliases *Aliases) understanding {
	return v.understandBy(aliases.Code(v.Name))
}

// understandBy is understand with the code that the alias of the name is for.
func (v *Medication) understandBy(alias string) understanding {
	u := understanding{Medicine: dictionary.Find(dictionary.Query{Name: v.Name, RxNorm: v.RxNormCode, NDC: v.NDC, Alias: alias})}
	// Of a medicine that is none of our classes the caller may know better, but
	// not that it is an opioid: all of those are known.
	better := u.Class == drug.Other && v.DrugClass != "" && v.DrugClass != string(drug.Other) && v.DrugClass != string(drug.Opioid)
	switch {
	case u.Understood && !better:
		u.class, u.basis = u.Class, u.Basis
	case v.DrugClass != "" && !u.Several:
		u.class, u.basis = drug.Class(v.DrugClass), drug.ByStated
	default:
		u.class, u.basis = drug.Unclassified, drug.ByNone
	}
	return u
}

// found is what package drug reckons with. A name that was understood in part
// only stands for nothing.
func (u *understanding) found() drug.Found {
	if !u.Understood {
		return drug.Found{}
	}
	return u.Found()
}

// ingredients are the names of what is in the medicine.
func (u *understanding) ingredients() (names []string) {
	if u.Understood {
		for _, in := range u.Ingredients {
			names = append(names, in.Name)
		}
	}
	return names
}

// opioid is the one opioid in the medicine, with its strength if the product
// or the name says; nil when there is none, or several.
func (u *understanding) opioid() (opioid *dictionary.Ingredient) {
	if !u.Understood {
		return nil
	}
	for i := range u.Ingredients {
		switch in := &u.Ingredients[i]; {
		case in.Class != drug.Opioid:
		case opioid != nil:
			return nil
		default:
			opioid = in
		}
	}
	return opioid
}

// strength is that of the one ingredient that gives the medicine its class, in
// one unit of the product; 0 when it is not known, or there are several.
func (u *understanding) strength() (_ float64, unit string) {
	if !u.Understood {
		return 0, ""
	}
	var of *dictionary.Ingredient
	for i := range u.Ingredients {
		switch in := &u.Ingredients[i]; {
		case in.Class != u.class:
		case of != nil:
			return 0, ""
		default:
			of = in
		}
	}
	if of == nil {
		return 0, ""
	}
	return of.Strength.Value, of.Strength.Unit
}

// strength is the strength of the opioid in one unit: as stated, or else that
// of the product.
func (v *Medication) strength() (_ float64, unit string) {
	if stated, ok := v.Strength.Get(); ok {
		return stated, v.StrengthUnit
	}
	return v.understood.strength()
}

// route is how the medicine is taken: as stated, or else as its form implies.
func (v *Medication) route() string {
	if v.Route != "" {
		return v.Route
	}
	return v.understood.Medicine.Route
}
