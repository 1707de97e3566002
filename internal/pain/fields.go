package pain

import (
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// Patient is a patient. Text fields without a value are "".
type Patient struct {
	ID             id.Patient
	Name           string
	DateOfBirth    Date
	Gender         string // as sent; folded for grouping only
	Contact        Contact
	MedicalHistory History
	Identifiers    Identifiers
	CreatedAt      time.Time
	Version        int64 // 1 when created, incremented by each change
}

// Contact holds a patient's contact details.
type Contact struct {
	Email string
	Phone string
}

// TextField is the one declaration of an optional text of a patient. Reading,
// printing, storage, the OpenAPI document, the Go client, imports, reports and
// the portal follow it.
type TextField struct {
	// Name is the path in JSON: "gender", or "contact.email" for a member of
	// an object. Members of one object stand side by side.
	Name string
	// Column is its place in the store.
	Column string
	// Listed: reports and the portal show it. Label is what they call it; ""
	// for one that explains itself beside the date of birth.
	Listed bool
	Label  string
	// Doc and Pattern are the OpenAPI document's, beside the length.
	Max          int
	Doc, Pattern string
	// Also are other names of a column of an imported file, without case,
	// spaces and signs, and AlsoDoc the same for people.
	Also    []string
	AlsoDoc string
	// Privacy is what happens to it when data is de-identified.
	Privacy Privacy

	at      func(*Patient) *string
	problem func(string) string // nil when only the length is bounded
}

// textFields declares the optional texts of a patient. To add one: a field in
// Patient, an entry here, a migration for each engine, then make generate.
var textFields = [...]TextField{
	{
		Name: "gender", Column: "gender", Listed: true, Max: maxGender, Doc: "Free text, stored as sent.",
		Also: []string{"sex"}, AlsoDoc: "sex", Privacy: Removed,
		at: func(p *Patient) *string { return &p.Gender },
	}, {
		Name: "contact.email", Column: "email", Max: maxEmail, Doc: "Exactly one `@` with text on both sides, and no spaces.", Pattern: `^([^@\s]+@[^@\s]+)?$`,
		Also: []string{"email", "mail", "emailaddress"}, AlsoDoc: "e-mail, mail, email address", Privacy: Removed,
		at: func(p *Patient) *string { return &p.Contact.Email }, problem: emailProblem,
	}, {
		Name: "contact.phone", Column: "phone", Max: maxPhone, Doc: "Printable characters only.",
		Also: []string{"phone", "telephone", "tel", "mobile", "phonenumber"}, AlsoDoc: "telephone, tel, mobile, phone number", Privacy: Removed,
		at: func(p *Patient) *string { return &p.Contact.Phone }, problem: phoneProblem,
	},
}

// TextFields lists the optional texts of a patient.
func TextFields() []TextField { return slices.Clone(textFields[:]) }

// In is the object that has the field, and the field's name in it; the object
// is "" for the patient itself.
func (f *TextField) In() (object, name string) {
	if object, name, inside := strings.Cut(f.Name, "."); inside {
		return object, name
	}
	return "", f.Name
}

// Of is the text of a patient.
func (f *TextField) Of(p *Patient) string { return *f.at(p) }

// AppendTexts appends the texts, in the order of the list.
func (p *Patient) AppendTexts(values []any) []any {
	for i := range textFields {
		values = append(values, *textFields[i].at(p))
	}
	return values
}

// SetTexts takes the texts in the same order.
func (p *Patient) SetTexts(text func(i int) string) {
	for i := range textFields {
		*textFields[i].at(p) = text(i)
	}
}

// mergeTexts sets the texts that a body has.
func (p *Patient) mergeTexts(r *strictjson.Reader, fields *fault.Fields) {
	for i := 0; i < len(textFields); {
		object, _ := textFields[i].In()
		group := textFields[i : i+1]
		for end := i + 1; object != "" && end < len(textFields) && strings.HasPrefix(textFields[end].Name, object+"."); end++ {
			group = textFields[i : end+1]
		}
		i += len(group)
		if object == "" {
			p.mergeText(r, &group[0])
			continue
		}
		if _, null := r.Has(object); null {
			for j := range group {
				*group[j].at(p) = ""
			}
		} else if body, ok := r.Object(object); ok {
			inner := strictjson.Read(body, fields)
			for j := range group {
				p.mergeText(&inner, &group[j])
			}
			inner.Done()
		}
	}
}

func (p *Patient) mergeText(r *strictjson.Reader, f *TextField) {
	_, name := f.In()
	if present, _ := r.Has(name); !present {
		return
	}
	if f.problem != nil {
		*f.at(p) = readText(r, name, f.problem)
	} else {
		*f.at(p) = readLine(r, name, f.Max)
	}
}

// beforeText is what JSON has before each text, and at last before the medical
// history.
var beforeText = func() (list [len(textFields) + 1]string) {
	within := ""
	for i := range list {
		object, name := "", "medical_history"
		if i < len(textFields) {
			object, name = textFields[i].In()
		}
		if within != "" && object != within {
			list[i] = "}"
		}
		list[i] += ","
		if object != "" && object != within {
			list[i] += `"` + object + `":{`
		}
		list[i] += `"` + name + `":`
		within = object
	}
	return list
}()
