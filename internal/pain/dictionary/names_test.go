package dictionary

import (
	"anodyne.example/anodyne/internal/pain/drug"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/names.tsv
var typedNames string

// typed are the names of the fixture, with what must come out.
func typed() (list []typedName) {
	for c := range rows(typedNames + "\n") {
		list = append(list, typedName{c[0], c[1], c[2]})
	}
	return list
}

type typedName struct{ name, class, ingredients string }

// written formats what was understood like the fixture.
func written(m Medicine) string {
	var list []string
	for _, in := range m.Ingredients {
		text := in.Name
		if in.Strength.Unit != "" {
			text += fmt.Sprintf(" %v %s", in.Strength.Value, in.Strength.Unit)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return strings.Join(list, " + ")
}

func sorted(ingredients string) string {
	list := strings.Split(ingredients, " + ")
	slices.Sort(list)
	return strings.Join(list, " + ")
}

func TestNamesAsPeopleTypeThem(t *testing.T) {
	n := 0
	for _, c := range typed() {
		name, class, ingredients := c.name, c.class, c.ingredients
		n++
		m := Find(Query{Name: name})
		switch {
		case class == "-":
			if m.Understood || m.Class != "" || m.Basis != drug.ByNone {
				t.Errorf("%q was understood as %s: %s", name, m.Class, written(m))
			}
		case string(m.Class) != class || written(m) != sorted(ingredients):
			t.Errorf("%q is %s: %s, want %s: %s; %q", name, m.Class, written(m), class, sorted(ingredients), m.Why())
		}
		if len(m.Why()) == 0 {
			t.Errorf("%q says nothing", name)
		}
	}
	if n < 250 {
		t.Errorf("%d names", n)
	}
}
