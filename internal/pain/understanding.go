package pain

import (
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// understanding is the identified medicine and the basis of its
// identification.
type understanding struct {
	dictionary.Medicine
	class drug.Class
	basis drug.Basis
}

// understand identifies a medicine. It uses the codes, the name, the
// organisation's alias if the name is not sufficient, and last the class
// stated by the caller. No other code identifies medicines.
func (v *Medication) understand(aliases *Aliases) understanding {
	return v.understandBy(aliases.Code(v.Name))
}

// understandBy is understand with the code of the alias for the name.
func (v *Medication) understandBy(alias string) understanding {
	u := understanding{Medicine: dictionary.Find(dictionary.Query{Name: v.Name, RxNorm: v.RxNormCode, NDC: v.NDC, Alias: alias})}
	// For a medicine outside our classes, the class stated by the caller is
	// used, unless it is opioid: all opioids are known.
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

// found returns the ingredients for package drug. It is empty for a name that
// was only partly understood.
func (u *understanding) found() drug.Found {
	if !u.Understood {
		return drug.Found{}
	}
	return u.Found()
}

// ingredients lists the names of the ingredients.
func (u *understanding) ingredients() (names []string) {
	if u.Understood {
		for _, in := range u.Ingredients {
			names = append(names, in.Name)
		}
	}
	return names
}

// opioid returns the only opioid in the medicine, with its strength if known
// from the product or the name. It is nil if there is none or more than one.
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

// strength returns the strength of the only ingredient that determines the
// class, per unit of the product. It is 0 if unknown or if there are several.
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

// strength returns the strength of the opioid per unit: as stated, or else
// that of the product.
func (v *Medication) strength() (_ float64, unit string) {
	if stated, ok := v.Strength.Get(); ok {
		return stated, v.StrengthUnit
	}
	return v.understood.strength()
}

// route returns the route of administration: as stated, or else implied by the
// form.
func (v *Medication) route() string {
	if v.Route != "" {
		return v.Route
	}
	return v.understood.Medicine.Route
}
