package pain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const identified = `{"name":"Ada","date_of_birth":"1980-05-06","gender":"f","identifiers":[{"system":"mrn","value":"1"},{"system":"lab","value":"x|y"}]}`

func TestIdentifiersAreShownIfThereAreAny(t *testing.T) {
	p := create(t, identified)
	if got := string(AppendDetail(nil, &p)); !strings.HasSuffix(got, `,"medical_history":[],"identifiers":[{"system":"mrn","value":"1"},{"system":"lab","value":"x|y"}]}`) {
		t.Errorf("printed as %s", got)
	}
	p = create(t, `{"name":"Ada","date_of_birth":"1980-05-06","identifiers":[]}`)
	if got := string(AppendDetail(nil, &p)); strings.Contains(got, "identifiers") {
		t.Errorf("printed as %s", got)
	}
}

func TestIdentifiersAreValidated(t *testing.T) {
	of := func(list string) string {
		return `{"name":"Ada","date_of_birth":"1980-05-06","identifiers":` + list + `}`
	}
	many := make([]string, MaxIdentifiers+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"system":"s","value":"%d"}`, i)
	}
	create(t, of("["+strings.Join(many[1:], ",")+"]"))
	create(t, of(`[{"system":"`+strings.Repeat("é", 200)+`","value":"`+strings.Repeat("李", 200)+`"}]`))
	for _, c := range []struct{ list, want string }{
		{`{}`, `identifiers {} identifiers must be an array.`},
		{`["mrn|1"]`, `identifiers[0] "mrn|1" identifiers[0] must be an object with system and value.`},
		{`[{"system":"mrn"}]`, `identifiers[0].value null identifiers[0].value is required.`},
		{`[{"value":"1"}]`, `identifiers[0].system null identifiers[0].system is required.`},
		{`[{"system":"mrn","value":1}]`, `identifiers[0].value 1 identifiers[0].value must be a string.`},
		{`[{"system":" ","value":"1"}]`, `identifiers[0].system " " identifiers[0].system must not be blank.`},
		{`[{"system":"a|b","value":"1"}]`, `identifiers[0].system "a|b" identifiers[0].system must not contain |, which separates a system from a value.`},
		{`[{"system":"mrn","value":"1\u200b"}]`, "identifiers[0].value \"1\u200b\" identifiers[0].value must have printable characters only."},
		{`[{"system":"mrn","value":"` + strings.Repeat("1", 201) + `"}]`, `identifiers[0].value "` + strings.Repeat("1", 200) + `…" identifiers[0].value must have at most 200 characters.`},
		{`[{"system":"mrn","value":"1"},{"system":"mrn ","value":" 1"}]`, `identifiers[1] {"system":"mrn ","value":" 1"} identifiers[1] repeats an identifier of this patient.`},
		{`[{"system":"mrn","value":"1","use":"official"}]`, `identifiers[0].use "official" Unknown field.`},
	} {
		_, err := NewPatient(parse(t, of(c.list)), testID, testNow)
		if got := noted(t, err); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.list, got, c.want)
		}
	}
	_, err := NewPatient(parse(t, of("["+strings.Join(many, ",")+"]")), testID, testNow)
	if got := noted(t, err); len(got) != 1 || !strings.HasSuffix(got[0], "identifiers must have at most 20 entries.") {
		t.Errorf("too many: %q", got)
	}
}

func TestPatchReplacesIdentifiers(t *testing.T) {
	old := create(t, identified)
	before := old.Identifiers.JSON()
	for body, want := range map[string]string{
		`{}`:                   before,
		`{"identifiers":null}`: "",
		`{"identifiers":[]}`:   "",
		`{"identifiers":[{"system":"a","value":"b"}]}`: `[{"system":"a","value":"b"}]`,
	} {
		updated, changes, err := PatchPatient(old, parse(t, body), testNow)
		if err != nil || updated.Identifiers.JSON() != want {
			t.Errorf("%s: %s, %v", body, updated.Identifiers.JSON(), err)
		}
		if want != before && !slices.Equal(changes, []Change{{"identifiers", before, want}}) {
			t.Errorf("%s: changes %v", body, changes)
		}
	}
}

func TestPutPatient(t *testing.T) {
	mrn := Identifier{"mrn", "1"}
	body := `{"name":"Ada","date_of_birth":"1980-05-06","gender":"f"}`
	created, changes, err := PutPatient(nil, mrn, parse(t, body), testID, testNow)
	if err != nil || changes != nil || created.Identifiers != NewIdentifiers(mrn) || created.Version != 1 {
		t.Fatalf("created %+v, %v, %v", created, changes, err)
	}
	again, changes, err := PutPatient(&created, mrn, parse(t, body), testID, testNow)
	if err != nil || changes != nil || again != created {
		t.Errorf("repeated: %+v, %v, %v", again, changes, err)
	}
	old := create(t, identified)
	old.Contact.Phone = "1"
	for body, want := range map[string]Identifiers{
		`{"name":"Ida","date_of_birth":"1980-05-06"}`:                                                             old.Identifiers,
		`{"name":"Ida","date_of_birth":"1980-05-06","identifiers":null}`:                                          NewIdentifiers(mrn),
		`{"name":"Ida","date_of_birth":"1980-05-06","identifiers":[{"system":"a","value":"b"}]}`:                  NewIdentifiers(Identifier{"a", "b"}, mrn),
		`{"name":"Ida","date_of_birth":"1980-05-06","identifiers":[{"system":"mrn","value":"1"}],"gender":"new"}`: NewIdentifiers(mrn),
	} {
		updated, changes, err := PutPatient(&old, mrn, parse(t, body), testID, testNow)
		if err != nil || updated.Identifiers != want || updated.Contact.Phone != "" || updated.Gender == "f" || updated.Version != old.Version+1 || len(changes) < 3 {
			t.Errorf("%s: %+v, %v, %v", body, updated, changes, err)
		}
	}
	var many []Identifier
	for i := range MaxIdentifiers {
		many = append(many, Identifier{"s", fmt.Sprint(i)})
	}
	old.Identifiers = NewIdentifiers(many...)
	if _, _, err := PutPatient(&old, mrn, parse(t, body), testID, testNow); len(noted(t, err)) != 1 {
		t.Error("a patient got one identifier too many")
	}
}

func TestParseIdentifier(t *testing.T) {
	for text, want := range map[string]Identifier{
		"mrn|1":                         {"mrn", "1"},
		" mrn | a|b ":                   {"mrn", "a|b"},
		"https://example.org/mrn|00-17": {"https://example.org/mrn", "00-17"},
	} {
		if one, problem := ParseIdentifier(text); one != want || problem != "" {
			t.Errorf("%q: %v, %s", text, one, problem)
		}
		if one, problem := ParseAnySystem(text); one != want || problem != "" {
			t.Errorf("%q in any system: %v, %s", text, one, problem)
		}
	}
	if one, problem := ParseAnySystem("|1"); one != (Identifier{Value: "1"}) || problem != "" {
		t.Errorf("|1: %v, %s", one, problem)
	}
	for _, text := range []string{"", "mrn", "mrn|", "|", " | ", "mrn|a\nb", strings.Repeat("x", 201) + "|1", "mrn|" + strings.Repeat("x", 201)} {
		if _, problem := ParseIdentifier(text); problem == "" {
			t.Errorf("%q was taken", text)
		}
		if _, problem := ParseAnySystem(text); problem == "" {
			t.Errorf("%q was taken in any system", text)
		}
	}
	if _, problem := ParseIdentifier("|1"); problem == "" {
		t.Error("an identifier without a system was taken")
	}
}

func TestPatientHasTheValuesOfAnother(t *testing.T) {
	stored, line := create(t, identified), create(t, identified)
	stored.Version = 7
	has := func(want bool) {
		t.Helper()
		if got, err := stored.Has(&line); got != want || err != nil {
			t.Errorf("has %v: %v, %v", line, got, err)
		}
	}
	has(true)
	line.Identifiers = NewIdentifiers(Identifier{"mrn", "1"})
	has(true)
	line.Identifiers = NewIdentifiers(Identifier{"mrn", "2"})
	has(false)
	line.Identifiers, line.Gender = stored.Identifiers, "x"
	has(false)
}

// invisible has one of each kind of characters that show nothing.
var invisible = []string{"\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2060", "\u2066", "\u2069", "\ufeff", "\u034f", "\u180e", "\u3164", "\uffa0", "\u115f", "\u2800", "\ufe0f", "\U000e0041"}

func TestInvisibleCharactersDoNotCount(t *testing.T) {
	for _, c := range invisible {
		if got := Fold("Flet" + c + "cher"); got != "fletcher" {
			t.Errorf("%U: folded to %q", []rune(c), got)
		}
		for _, name := range []string{c, c + " " + c, "\u00a0" + c + "\u3000"} {
			_, err := NewPatient(parse(t, `{"name":"`+name+`","date_of_birth":"1980-05-06"}`), testID, testNow)
			if got := noted(t, err); len(got) != 1 || !strings.HasSuffix(got[0], "name must not be blank.") {
				t.Errorf("the name %q: %q", name, got)
			}
		}
	}
	for _, c := range []string{"a", "é", "李", "-", "؀", "😀"} {
		if isBlank(c) || Fold(c) == "" {
			t.Errorf("%q counts as invisible", c)
		}
	}
	if create(t, `{"name":"Ada\u200d","date_of_birth":"1980-05-06"}`).Name != "Ada\u200d" {
		t.Error("a name is not stored as sent")
	}
}
