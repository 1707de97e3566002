package fhirtest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/strictjson"
)

// valueSchema is what the generator of values reads of a schema.
type valueSchema struct {
	Type       json.RawMessage        `json:"type"`
	Format     string                 `json:"format"`
	Pattern    string                 `json:"pattern"`
	Enum       []string               `json:"enum"`
	Items      *valueSchema           `json:"items"`
	OneOf      []valueSchema          `json:"oneOf"`
	AnyOf      []valueSchema          `json:"anyOf"`
	Properties map[string]valueSchema `json:"properties"`
	Minimum    float64                `json:"minimum"`
	Maximum    float64                `json:"maximum"`
	MaxLength  int                    `json:"maxLength"`
}

func schemaOf(t pain.DataType) valueSchema {
	var s valueSchema
	if err := json.Unmarshal(pain.Schema(t), &s); err != nil {
		panic(err)
	}
	if len(s.AnyOf) > 0 {
		s = s.AnyOf[len(s.AnyOf)-1]
	}
	return s
}

// partialDate is the pattern of dates that may lack a day or a month.
const partialDate = "^[0-9]{4}(-[0-9]{2}){0,2}$"

var wholeSteps = regexp.MustCompile(`"integer"`)

// draw returns a value by a schema.
func (s *valueSchema) draw(t *rapid.T, name string) any {
	switch {
	case name == "items":
		answers := map[string]any{}
		for i := range rapid.IntRange(1, instrument.MaxItems).Draw(t, "count") {
			answers[strconv.Itoa(i+1)] = rapid.IntRange(0, 4).Draw(t, "answer")
		}
		return answers
	case s.OneOf != nil:
		return s.OneOf[rapid.IntRange(0, len(s.OneOf)-1).Draw(t, "one")].draw(t, name)
	case s.Enum != nil:
		return rapid.SampledFrom(s.Enum).Draw(t, name)
	case s.Items != nil:
		return rapid.SliceOfNDistinct(rapid.SampledFrom(s.Items.Enum), 1, 4, rapid.ID).Draw(t, name)
	case s.Properties != nil:
		return drawObject(t, s.Properties)
	case s.Format == "date":
		return drawDate(t, "2020-01-02", "2023-11-30", "2024-02-29")
	case s.Pattern == partialDate:
		return drawDate(t, "2019", "2020-02", "2021-03-04")
	case s.Pattern != "":
		return rapid.StringMatching(s.Pattern).Draw(t, name)
	case string(s.Type) == `"boolean"`:
		return rapid.Bool().Draw(t, name)
	case wholeSteps.Match(s.Type):
		return rapid.IntRange(int(s.Minimum), int(s.Maximum)).Draw(t, name)
	case strings.Contains(string(s.Type), `"number"`):
		if s.Maximum == 0 {
			s.Maximum = 60
		}
		return float64(rapid.IntRange(int(s.Minimum*100), int(min(s.Maximum, 1e9)*100)).Draw(t, name)) / 100
	}
	return drawText(t, name, max(1, min(s.MaxLength, 40)))
}

func drawDate(t *rapid.T, dates ...string) string { return rapid.SampledFrom(dates).Draw(t, "date") }

func drawText(t *rapid.T, name string, longest int) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"a", "x  y", "Ünïcødé 😀", `q"\<&>`, "{}"}),
		rapid.StringOfN(rapid.RuneFrom([]rune("abc ÄÖ'")), 1, longest, -1),
	).Draw(t, name)
}

func drawObject(t *rapid.T, properties map[string]valueSchema) map[string]any {
	value := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if rapid.Bool().Draw(t, "has "+name) {
			s := properties[name]
			value[name] = s.draw(t, name)
		}
	}
	return value
}

// DrawRecord returns a random record of a type that package pain accepts, also
// as the body of a request. If must is a field of the value, the value has it
// unless pain refuses it. DrawRecord removes the fields that pain refuses until
// the rest is valid; ok is false if nothing valid remained.
func DrawRecord(t *rapid.T, dataType pain.DataType, must string, in pain.Intake) (body map[string]any, rec pain.Record, ok bool) {
	schema := schemaOf(dataType)
	body = drawObject(t, map[string]valueSchema{
		"notes": {MaxLength: 40}, "source": {Enum: []string{"patient", "clinician", "device", "import"}},
		"author": {MaxLength: 40}, "encounter_id": {MaxLength: 40},
	})
	body["data_type"] = dataType.String()
	body["recorded_at"] = rapid.SampledFrom([]string{"2024-05-01", "2024-05-01T10:30:00Z", "2023-12-31T23:59:59.999+02:00"}).Draw(t, "recorded_at")
	value := drawObject(t, schema.Properties)
	if must != "" {
		s := schema.Properties[must]
		value[must] = s.draw(t, must)
	}
	body["value"] = value
	for range 20 {
		rec, refused := TryRecord(body, in)
		if len(refused) == 0 {
			return body, rec, true
		}
		for _, path := range refused {
			mend(t, &schema, body, value, path)
		}
	}
	return nil, pain.Record{}, false
}

// mend removes the field that was refused, or draws it again.
func mend(t *rapid.T, schema *valueSchema, body, value map[string]any, path string) {
	field, inValue := strings.CutPrefix(path, "value.")
	field, _, nested := strings.Cut(field, ".")
	field, _, _ = strings.Cut(field, "[")
	s, declared := schema.Properties[field]
	switch _, has := value[field]; {
	case !inValue && path != "value":
		delete(body, path)
	case has && (nested || rapid.Bool().Draw(t, "remove")):
		delete(value, field)
	case declared:
		value[field] = s.draw(t, field)
	default:
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(schema.Properties))).Draw(t, "other")
		s := schema.Properties[name]
		value[name] = s.draw(t, name)
	}
}

// TryRecord returns the record of a body, and the fields that pain refuses.
func TryRecord(body map[string]any, in pain.Intake) (pain.Record, []string) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	o, err := strictjson.Parse(text)
	if err != nil {
		panic(err)
	}
	var fields fault.Fields
	rec := pain.NewRecord(o, &fields, in)
	var refused []string
	for _, f := range fields.All() {
		refused = append(refused, f.Parameter)
	}
	return rec, refused
}
