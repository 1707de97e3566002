package fhir

import (
	"encoding/json"

	"anodyne.example/anodyne/internal/strictjson"
)

// components returns the components of the fields with these names: one for
// each value, coded by the name of the field.
func (o *outgoing) components(names ...string) (list []ObservationComponent) {
	for _, name := range names {
		v, ok := o.value.Value(name)
		if !ok {
			continue
		}
		if array, isArray := v.AsArray(); isArray {
			for _, element := range array.All() {
				list = append(list, o.component(name, element))
			}
		} else {
			list = append(list, o.component(name, v))
		}
	}
	return list
}

func (o *outgoing) component(name string, v strictjson.Value) ObservationComponent {
	dataType := o.rec.Type.String()
	c := ObservationComponent{Code: o.m.concept(o.m.fieldSystem(dataType, ""), name)}
	if s, isText := v.AsString(); isText {
		c.ValueCodeableConcept = o.m.concept(o.m.fieldSystem(dataType, name), s)
	} else {
		c.ValueQuantity = &Quantity{Value: json.Number(v.Raw())}
	}
	return c
}

// readComponents takes the components that are coded by the name of a field.
// Others are kept as received.
func (in *incoming) readComponents(list []ObservationComponent) {
	dataType := in.draft.DataType.String()
	fields := declaredFields(in.draft.DataType)
	for i := range list {
		name := list[i].Code.code(in.m.fieldSystem(dataType, ""))
		d := find(fields, name)
		if d == nil || d.computed || d.form == formObject || in.draft.value.has(name) {
			continue
		}
		at := "component" + index(i)
		if d.list {
			in.readComponentList(list, i, d)
			continue
		}
		if value, path := in.componentJSON(&list[i], d, at); value != nil {
			in.setJSON(name, value, path)
		}
	}
}

// readComponentList takes all components of a field that is a list.
func (in *incoming) readComponentList(list []ObservationComponent, first int, d *declared) {
	system := in.m.fieldSystem(in.draft.DataType.String(), "")
	b, n := []byte{'['}, 0
	for i := first; i < len(list); i++ {
		if list[i].Code.code(system) != d.name {
			continue
		}
		value, path := in.componentJSON(&list[i], d, "component"+index(i))
		if value == nil {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, value...)
		in.draft.from("value."+d.name+index(n), in.at(path))
		n++
	}
	in.setJSON(d.name, append(b, ']'), "component"+index(first))
}

// componentJSON returns the value of a component as JSON and its path, or nil
// with an issue if it has none that the field can have.
func (in *incoming) componentJSON(c *ObservationComponent, d *declared, at string) ([]byte, string) {
	switch {
	case d.form == formDecimal && c.ValueQuantity != nil && c.ValueQuantity.Value != "":
		if c.ValueQuantity.Comparator != "" {
			in.refuse(NotSupported, at+".valueQuantity.comparator", "A value with a comparator is not supported.")
			return nil, ""
		}
		return []byte(c.ValueQuantity.Value), at + ".valueQuantity.value"
	case d.form == formDecimal && c.ValueInteger != "":
		return []byte(c.ValueInteger), at + ".valueInteger"
	case d.form == formCode:
		if code := c.ValueCodeableConcept.code(in.m.fieldSystem(in.draft.DataType.String(), d.name)); code != "" {
			return strictjson.AppendString(nil, code), at + ".valueCodeableConcept"
		}
	case c.ValueString != "":
		return strictjson.AppendString(nil, c.ValueString), at + ".valueString"
	}
	in.refuse(Value, at, "The component's value is missing, or its type does not match the code.")
	return nil, ""
}
