package series

import (
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// leading returns the ingredient that determines a medicine's class.
func leading(m *pain.Medication) string {
	for _, name := range m.Derived.Ingredients {
		if classOf[name] == m.Derived.DrugClass {
			return name
		}
	}
	return ""
}

var classOf = func() map[string]string {
	byName := map[string]string{}
	for _, in := range drug.Medications() {
		byName[in.Name] = string(in.Class)
	}
	return byName
}()

// identity returns hashes shared by prescriptions of the same ingredient and
// route, and by those with the same strength as well. The latter is 0 if the
// strength is unknown. Medicines without a known ingredient are identified by
// name.
func identity(m *pain.Medication) (same, product uint32) {
	what := leading(m)
	if what == "" {
		what = strings.Join(m.Derived.Ingredients, "/")
	}
	if what == "" {
		what = strings.ToLower(m.Name)
	}
	strength, unit := m.Derived.Strength, m.Derived.StrengthUnit
	if _, stated := m.Strength.Get(); stated {
		strength, unit = m.Strength, m.StrengthUnit
	}
	route := routeOf(m, unit)
	if f, ok := strength.Get(); ok {
		product = hash(what, route, strconv.FormatFloat(f, 'g', -1, 64), unit)
	}
	return hash(what, route), product
}

// routeOf returns the route of administration. If it is not recorded, the rule
// for conversion applies: oral, or transdermal for micrograms per hour.
func routeOf(m *pain.Medication, unit string) string {
	switch {
	case m.Route != "":
		return m.Route
	case m.Derived.Route != "":
		return m.Derived.Route
	case unit == "mcg/h":
		return "transdermal"
	}
	return "oral"
}

// nameOf returns the hash of a name, or 0 for none.
func nameOf(name string) uint32 {
	if name == "" {
		return 0
	}
	return hash(name)
}

// hash is never 0. It is sufficient to distinguish names within one patient's
// records.
func hash(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = io.WriteString(h, p) // never fails
		_, _ = h.Write([]byte{0})
	}
	return max(1, h.Sum32())
}

func endOf(m *pain.Medication) drug.Day {
	if m.EndDate == (pain.Date{}) {
		return 0
	}
	return m.EndDate.DayNumber()
}
