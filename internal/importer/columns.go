package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// Kind is the kind of data in a file.
type Kind string

// The kinds.
const (
	Patients Kind = "patients"
	Clinical Kind = "clinical"
)

// Fields that are not part of the API: they identify the patient, or are parts
// of a field. An identifier's system follows its prefix, as in
// "identifier:mrn".
const (
	externalID = pain.ExternalSystem
	identifier = "identifier:"
	patientID  = "patient_id"
	givenName  = "given_name"
	familyName = "family_name"
	nothing    = "" // the column is ignored
)

// historyMembers are the fields of a medical history entry.
var historyMembers = []string{"condition", "icd10_code", "snomed_code", "onset_date", "resolved_date", "status", "severity", "category"}

// also lists other names of fields, without case, spaces and punctuation.
var also = map[Kind]map[string][]string{
	Patients: {
		externalID:      {"mrn", "externalkey", "externalpatientid", "medicalrecordnumber", "patientnumber"},
		"name":          {"fullname", "patientname"},
		givenName:       {"firstname", "forename"},
		familyName:      {"lastname", "surname"},
		"date_of_birth": {"dob", "birthdate", "birthday", "born"},
		"condition":     {"diagnosis"},
		"icd10_code":    {"icd10", "icd", "icdcode", "diagnosiscode"},
		"snomed_code":   {"snomed", "snomedct"},
		"onset_date":    {"onset", "diagnosedon"},
	},
	Clinical: {
		externalID:     {"mrn", "externalkey", "externalpatientid", "medicalrecordnumber", "patientnumber"},
		patientID:      {"patient"},
		"data_type":    {"type"},
		"recorded_at":  {"date", "time", "datetime", "timestamp", "recorded", "recordedon", "measuredat"},
		"notes":        {"note", "comment"},
		"encounter_id": {"encounter"},
		"value.name":   {"drug", "drugname", "medication", "medicine"},
		"value.score":  {"painscore"},
	},
}

// members lists the fields of a kind that a column can represent.
func members(kind Kind) []string {
	if kind == Patients {
		list := []string{externalID, "name", givenName, familyName, "date_of_birth"}
		for _, f := range pain.TextFields() {
			list = append(list, f.Name)
		}
		return append(append(list, "medical_history"), historyMembers...)
	}
	list := []string{externalID, patientID, "data_type", "recorded_at", "notes", "source", "author", "encounter_id", "value"}
	for _, path := range valuePaths() {
		list = append(list, "value."+path)
	}
	return list
}

// names maps possible column headers to the fields of a kind.
var names = map[Kind]func() map[string]string{
	Patients: sync.OnceValue(func() map[string]string { return namesOf(Patients) }),
	Clinical: sync.OnceValue(func() map[string]string { return namesOf(Clinical) }),
}

func namesOf(kind Kind) map[string]string {
	known := map[string]string{}
	for _, member := range members(kind) {
		known[bare(member)] = member
		for _, name := range also[kind][member] {
			known[name] = member
		}
	}
	if kind == Patients {
		for _, f := range pain.TextFields() {
			for _, name := range f.Also {
				known[name] = f.Name
			}
		}
	}
	// The fields of a value can be used without a prefix if they are
	// unambiguous.
	for _, member := range members(kind) {
		path, inside := strings.CutPrefix(member, "value.")
		if _, taken := known[bare(path)]; inside && !taken {
			known[bare(path)] = member
		}
	}
	if kind == Patients { // the notes of an entry; a patient has none
		known["historynotes"] = "history_notes"
	}
	return known
}

// bare returns a name without case, spaces and punctuation.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-./()#\u00a0", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

var (
	numbered = regexp.MustCompile(`^(.+?)[ _.-]+([0-9]{1,3})$`) // icd10_2
	counted  = regexp.MustCompile(`^(.*[^0-9])([0-9]{1,3})$`)   // condition2
	itemName = regexp.MustCompile(`^(?:value)?items?([1-9][0-9]?)$`)
)

// resolve finds the field named by a header: condition_2 is the second entry
// of the history.
func resolve(kind Kind, header string) (member string, entry int, ok bool) {
	if system, ok := systemOf(header); ok {
		return identifier + system, 0, true
	}
	known := names[kind]()
	if member, ok = known[bare(header)]; ok {
		return member, 0, true
	}
	if kind == Clinical {
		if item := itemName.FindStringSubmatch(bare(header)); item != nil {
			return "value.items." + item[1], 0, true
		}
		return "", 0, false
	}
	for _, pattern := range []*regexp.Regexp{numbered, counted} {
		parts := pattern.FindStringSubmatch(header)
		if parts == nil {
			continue
		}
		if member = known[bare(parts[1])]; isHistory(member) {
			entry, _ = strconv.Atoi(parts[2]) // at most three digits
			return member, entry, true
		}
	}
	return "", 0, false
}

// systemOf returns the system of a column such as "identifier:mrn".
func systemOf(header string) (system string, ok bool) {
	if len(header) < len(identifier) || !strings.EqualFold(header[:len(identifier)], identifier) {
		return "", false
	}
	system = strings.TrimSpace(header[len(identifier):])
	return system, system != ""
}

func isHistory(member string) bool {
	return member == "history_notes" || slices.Contains(historyMembers, member)
}

// Rename maps a column to a field. If Member is "", the column is ignored.
type Rename struct{ Column, Member string }

// ParseRenames parses renames such as "Geburtstag=date_of_birth,Intern=".
func ParseRenames(list []string) ([]Rename, error) {
	var renames []Rename
	for _, text := range list {
		column, member, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(column) == "" {
			return nil, fmt.Errorf("want COLUMN=FIELD, or COLUMN= to skip a column, not %q", text)
		}
		renames = append(renames, Rename{strings.TrimSpace(column), strings.TrimSpace(member)})
	}
	return renames, nil
}

// find returns the index of the rename for a column.
func find(renames []Rename, column string) (int, bool) {
	i := slices.IndexFunc(renames, func(r Rename) bool { return r.Column == column })
	if i < 0 {
		i = slices.IndexFunc(renames, func(r Rename) bool { return bare(r.Column) == bare(column) })
	}
	return i, i >= 0
}

// unknownColumn returns an error message with a suggestion.
func unknownColumn(kind Kind, name string) string {
	list := members(kind)
	for _, short := range valuePaths() {
		if kind == Clinical {
			list = append(list, short)
		}
	}
	problem := fmt.Sprintf("column %q is not a known column for %s", name, kind)
	if meant := strictjson.Suggest(strings.ReplaceAll(name, " ", "_"), list); meant != "" {
		return fmt.Sprintf("%s; did you mean %s? Use --map %q, or --map %q to skip it", problem, meant, name+"="+meant, name+"=")
	}
	return fmt.Sprintf("%s; map it to a field with --map %q, or skip it with --map %q", problem, name+"=FIELD", name+"=")
}
