package lists

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// inObject is a text field of a patient, or an object with several of them.
type inObject struct {
	name   string
	fields []pain.TextField
	object bool
}

// patientTexts returns the optional text fields of a patient, grouped as in
// JSON.
func patientTexts() (list []inObject) {
	for _, f := range pain.TextFields() {
		object, name := f.In()
		switch last := len(list) - 1; {
		case object == "":
			list = append(list, inObject{name, []pain.TextField{f}, false})
		case last >= 0 && list[last].name == object:
			list[last].fields = append(list[last].fields, f)
		default:
			list = append(list, inObject{object, []pain.TextField{f}, true})
		}
	}
	return list
}

func alwaysInPatient() []string {
	names := []any{"id", "name", "date_of_birth", "created_at"}
	for _, in := range patientTexts() {
		names = append(names, in.name)
	}
	return []string{flow(append(names, "medical_history")...)}
}

// textsOfPatient returns the text fields of a patient in responses.
func textsOfPatient() (lines []string) {
	for _, in := range patientTexts() {
		if !in.object {
			lines = append(lines, in.name+": {type: string}")
			continue
		}
		var names []any
		var properties []string
		for _, f := range in.fields {
			_, name := f.In()
			names, properties = append(names, name), append(properties, "    "+name+": {type: string}")
		}
		lines = append(lines, in.name+":", "  type: object", "  required: "+flow(names...), "  additionalProperties: false", "  properties:")
		lines = append(lines, properties...)
	}
	return lines
}

// textsSent returns the text fields of a patient in requests.
func textsSent() (lines []string) {
	for _, in := range patientTexts() {
		lines = append(lines, in.name+": {$ref: '#/components/schemas/"+camel(in.name)+"Input'}")
	}
	return lines
}

func textInputs() (lines []string) {
	for _, in := range patientTexts() {
		lines = append(lines, camel(in.name)+"Input:")
		if !in.object {
			lines = append(lines, textInput(&in.fields[0], "  ")...)
			continue
		}
		lines = append(lines, "  type: [object, 'null']", "  additionalProperties: false", "  properties:")
		for _, f := range in.fields {
			_, name := f.In()
			lines = append(lines, "    "+name+":")
			lines = append(lines, textInput(&f, "      ")...)
		}
	}
	return lines
}

func textInput(f *pain.TextField, indent string) []string {
	lines := append(member("description", f.Doc), "type: [string, 'null']", fmt.Sprintf("maxLength: %d", f.Max))
	if f.Pattern != "" {
		lines = append(lines, "pattern: "+quoted(f.Pattern))
	}
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// patientColumns returns the table of columns that an import file of patients
// can have.
func patientColumns() []string {
	lines := []string{
		"| field | also accepted |", "|---|---|",
		"| `external_id` | MRN, medical record number, patient number, external key. It becomes an identifier with the system `external_id` |",
		"| `identifier:SYSTEM` | an identifier in any other system, such as `identifier:mrn` or `identifier:https://example.org/mrn`; any number of these columns |",
		"| `name` (required) | full name, patient name; or `given_name` (first name, forename) and `family_name` (last name, surname) |",
		"| `date_of_birth` (required, `YYYY-MM-DD`) | DOB, birth date, birthday, born |",
	}
	for _, f := range pain.TextFields() {
		lines = append(lines, fmt.Sprintf("| `%s` | %s |", f.Name, f.AlsoDoc))
	}
	return append(lines,
		"| `condition`, `icd10_code`, `snomed_code`, `onset_date`, `resolved_date`, `status`, `severity`, `category`, `history_notes` | diagnosis; ICD10, ICD, diagnosis code; SNOMED; onset. "+
			"One entry of the medical history; for several, add numbers: `condition_1`, `icd10_1`, `condition_2`, ... |",
		"| `medical_history` | conditions separated by <code>&#124;</code>, or a JSON array |")
}

// patientTypes writes the patient types of the Go client.
func patientTypes(b *bytes.Buffer) {
	list := patientTexts()
	b.WriteString("\n// Patient is a patient with all details.\ntype Patient struct {\nPatientItem\n")
	for _, in := range list {
		field(b, camel(in.name), goType(&in, ""), in.name, "")
	}
	b.WriteString("MedicalHistory []HistoryEntry `json:\"medical_history\"`\nIdentifiers []Identifier `json:\"identifiers,omitempty\"`\n\n// ETag identifies this version of the record, for [WithIfMatch].\nETag string `json:\"-\"`\n}\n")

	b.WriteString("\n// NewPatient is the input of [Client.CreatePatient] and [Client.PutPatient].\n// Name and DateOfBirth are required.\ntype NewPatient struct {\n")
	field(b, "Name", "string", "name", "")
	field(b, "DateOfBirth", "string", "date_of_birth", "YYYY-MM-DD")
	for _, in := range list {
		omit := ",omitempty"
		if in.object {
			omit = ",omitzero"
		}
		field(b, camel(in.name), goType(&in, ""), in.name+omit, "")
	}
	b.WriteString("MedicalHistory []HistoryEntry `json:\"medical_history,omitempty\"`\nIdentifiers []Identifier `json:\"identifiers,omitempty\"`\n}\n")

	b.WriteString("\n// PatientPatch is the input of [Client.UpdatePatient]. Absent fields are left\n// unchanged, [Null] clears a field and [Set] replaces it. MedicalHistory\n// and Identifiers are replaced as a whole.\ntype PatientPatch struct {\n")
	for _, name := range []string{"name", "date_of_birth"} {
		field(b, camel(name), "Optional[string]", name+",omitzero", "")
	}
	for _, in := range list {
		field(b, camel(in.name), "Optional["+goType(&in, "Patch")+"]", in.name+",omitzero", "")
	}
	b.WriteString("MedicalHistory Optional[[]HistoryEntry] `json:\"medical_history,omitzero\"`\nIdentifiers Optional[[]Identifier] `json:\"identifiers,omitzero\"`\n}\n")

	for _, in := range slices.DeleteFunc(list, func(in inObject) bool { return !in.object }) {
		name := camel(in.name)
		fmt.Fprintf(b, "\n// %s holds the %s details of a patient.\ntype %s struct {\n", name, in.name, name)
		for _, f := range in.fields {
			_, of := f.In()
			field(b, camel(of), "string", of+",omitempty", "")
		}
		fmt.Fprintf(b, "}\n\n// %sPatch changes the %s details in a PatientPatch.\ntype %sPatch struct {\n", name, strings.ReplaceAll(in.name, "_", " "), name)
		for _, f := range in.fields {
			_, of := f.In()
			field(b, camel(of), "Optional[string]", of+",omitzero", "")
		}
		b.WriteString("}\n")
	}
}

// goType returns the Go type of a text field, or of an object with text fields.
func goType(in *inObject, suffix string) string {
	if in.object {
		return camel(in.name) + suffix
	}
	return "string"
}

// dataTypes returns the names of the data types.
func dataTypes() []string {
	var names []any
	for _, t := range pain.DataTypes() {
		names = append(names, t.Name)
	}
	return []string{flow(names...)}
}
