package fhir

import (
	"encoding/json"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// maxIssues limits the issues of one resource, so that an answer cannot be many
// times larger than its request.
const maxIssues = 100

// validation checks a resource against the table of elements.
type validation struct {
	issues []Issue
	m      *Mapping
	// path is where the validation is. It becomes text for an issue only.
	path []step
}

// step is an element, or the index of one in a list.
type step struct {
	name  string
	index int // if the name is ""
}

func (v *validation) enter(name string) { v.path = append(v.path, step{name: name}) }
func (v *validation) enterIndex(i int)  { v.path = append(v.path, step{index: i}) }
func (v *validation) leave()            { v.path = v.path[:len(v.path)-1] }

// at returns the expression of the path, with an element below it if there is a
// name.
func (v *validation) at(below string) string {
	var b []byte
	for i, s := range v.path {
		if s.name == "" {
			b = append(b, index(s.index)...)
			continue
		}
		if i > 0 {
			b = append(b, '.')
		}
		b = append(b, s.name...)
	}
	if below != "" {
		b = append(append(b, '.'), below...)
	}
	return string(b)
}

// validate returns everything that is wrong with a resource by the definition
// of its type, and modifier extensions other than those of the mapping.
func validate(root *strictjson.Object, resourceType string, m *Mapping) []Issue {
	v := validation{m: m}
	v.enter(resourceType)
	v.object(root, resourceType, true)
	return v.issues
}

// fault adds an issue of the path, or of an element below it.
func (v *validation) fault(code, below, text string) {
	if len(v.issues) < maxIssues {
		v.issues = append(v.issues, Issue{"error", code, v.at(below), text})
	}
}

// object checks the elements of an object of a type.
func (v *validation) object(o *strictjson.Object, typeName string, top bool) {
	t := elementTypes()[typeName]
	if t == nil {
		v.fault(NotSupported, "", "This service does not know the type of this element.")
		return
	}
	if o.Len() == 0 {
		v.fault(Structure, "", "An object must not be empty.")
	}
	// seen has the elements that are present; for a choice, the name in JSON.
	var seen [16]present
	list := seen[:0]
	for name, value := range o.All() {
		if name == "resourceType" && top {
			continue
		}
		plain := strings.TrimPrefix(name, "_")
		e := t.elements[plain]
		if e == nil {
			v.fault(Structure, shownName(name), "Unknown element.")
			continue
		}
		if before := indexOf(list, e.name); before < 0 {
			list = append(list, present{e.name, plain})
		} else if list[before].inJSON != plain {
			v.fault(Structure, name, "Only one of the elements "+e.name+"[x] is allowed.")
		}
		v.enter(name)
		if name != plain {
			v.primitiveExtension(value, e)
		} else {
			v.element(value, e, o, name)
		}
		v.leave()
	}
	for _, e := range t.required {
		if indexOf(list, e.name) < 0 {
			v.fault(Required, e.name, "The element is required.")
		}
	}
	if typeName == "Extension" && (indexOf(list, "value") < 0) == (indexOf(list, "extension") < 0) {
		v.fault(Invalid, "", "An extension must have either a value or extensions.")
	}
}

// present is an element that an object has.
type present struct{ name, inJSON string }

func indexOf(list []present, name string) int {
	return slices.IndexFunc(list, func(p present) bool { return p.name == name })
}

// shownName returns the name of an unknown element if it can be one, because
// the caller controls it.
func shownName(name string) string {
	if isName(strings.TrimPrefix(name, "_")) {
		return name
	}
	return "?"
}

// refusedElements would change the meaning of what they are part of.
var refusedElements = map[string]string{
	"modifierExtension": "Modifier extensions change the meaning of a resource and are not supported.",
	"implicitRules":     "Implicit rules change the meaning of a resource and are not supported.",
}

// element checks the value of an element, or the elements of a list.
func (v *validation) element(value strictjson.Value, e *element, parent *strictjson.Object, name string) {
	if text := refusedElements[name]; text != "" && !v.known(value) {
		v.fault(NotSupported, "", text)
		return
	}
	array, isArray := value.AsArray()
	switch {
	case isArray != e.list && e.list:
		v.fault(Structure, "", "The element must be an array.")
	case isArray != e.list:
		v.fault(Structure, "", "The element must not be an array.")
	case !isArray:
		v.one(value, e)
	case array.Len() == 0:
		v.fault(Structure, "", "An array must not be empty.")
	default:
		for i, one := range array.All() {
			if one.Kind() == strictjson.KindNull && extended(parent, name) {
				continue
			}
			if len(v.issues) == maxIssues {
				return
			}
			v.enterIndex(i)
			v.one(one, e)
			v.leave()
		}
	}
}

// known reports whether a value is the modifier extension that we know here.
func (v *validation) known(value strictjson.Value) bool {
	if array, ok := value.AsArray(); !ok || array.Len() != 1 {
		return false
	}
	var modifier Extension
	switch v.at("") {
	case "Condition.modifierExtension":
		modifier = v.m.familyModifier()
	case "AdverseEvent.modifierExtension":
		modifier = v.m.inErrorModifier()
	default:
		return false
	}
	text, err := json.Marshal([]Extension{modifier})
	return err == nil && sameElement(&elementText{json: text}, &elementText{json: value.Raw(), tree: value})
}

// extended reports whether an object has the extensions of a primitive
// element, in which case the values in its array may be null.
func extended(parent *strictjson.Object, name string) bool {
	_, ok := parent.Get("_" + name)
	return ok
}

// one checks a single value.
func (v *validation) one(value strictjson.Value, e *element) {
	if value.Kind() == strictjson.KindNull {
		v.fault(Structure, "", "The element must not be null; leave it out.")
		return
	}
	if e.of == "Resource" {
		v.contained(value)
		return
	}
	if check, ok := primitives[e.of]; ok {
		if problem := check(value); problem != "" {
			v.fault(problemCode(value, e.of), "", problem)
		} else if e.codes != nil {
			if code, _ := value.AsString(); !slices.Contains(e.codes, code) {
				v.fault(CodeInvalid, "", "The code must be one of "+strings.Join(e.codes, ", ")+".")
			}
		}
		return
	}
	o, ok := value.AsObject()
	if !ok {
		v.fault(Structure, "", "The element must be an object.")
		return
	}
	v.object(o, e.of, false)
}

// contained checks that a contained resource is a resource. It is kept as
// received, so its elements are not checked.
func (v *validation) contained(value strictjson.Value) {
	o, ok := value.AsObject()
	if !ok {
		v.fault(Structure, "", "A contained resource must be an object.")
		return
	}
	if _, issue := typeOf(o); issue != nil {
		v.fault(issue.Code, issue.Expression, issue.Text)
	}
}

// primitiveExtension checks the object beside a primitive value, which has its
// extensions.
func (v *validation) primitiveExtension(value strictjson.Value, e *element) {
	if _, ok := primitives[e.of]; !ok {
		v.fault(Structure, "", "Only elements with a primitive type have an element with an underscore.")
		return
	}
	array, isArray := value.AsArray()
	if isArray != e.list {
		v.fault(Structure, "", "The element must be an array if and only if the one without an underscore is one.")
		return
	}
	if !isArray {
		v.extensionsOnly(value)
		return
	}
	for i, one := range array.All() {
		if one.Kind() != strictjson.KindNull {
			v.enterIndex(i)
			v.extensionsOnly(one)
			v.leave()
		}
	}
}

func (v *validation) extensionsOnly(value strictjson.Value) {
	o, ok := value.AsObject()
	if !ok {
		v.fault(Structure, "", "The element must be an object.")
		return
	}
	v.object(o, "Element", false)
}

// problemCode is structure for a wrong JSON type and value for a wrong form.
func problemCode(value strictjson.Value, typeName string) string {
	want := strictjson.KindString
	switch typeName {
	case "boolean":
		want = strictjson.KindBool
	case "decimal", "integer", "positiveInt", "unsignedInt":
		want = strictjson.KindNumber
	}
	if value.Kind() != want {
		return Structure
	}
	return Value
}
