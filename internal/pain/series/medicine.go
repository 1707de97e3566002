package series

import (
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// leading is the ingredient that gives a medicine its class.
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

// identity gives what prescriptions of the same ingredient and route share, and
// what those of the same strength do; that is 0 when the strength is not known.
// One without a known ingredient is told by its name.
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

// routeOf is how a medicine is taken, by the rule of conversion where nobody
// says it: by mouth, or through the skin when it has micrograms an hour.
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

// nameOf stands for a name; 0 is none.
func nameOf(name string) uint32 {
	if name == "" {
		return 0
	}
	return hash(name)
}

// hash is never 0. Within one patient's records it tells names apart.
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
