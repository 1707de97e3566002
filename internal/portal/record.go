package portal

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/decimal"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
)

// recordRow is a record as a row of a table.
type recordRow struct {
	ID                    id.Record
	RecordedAt, CreatedAt time.Time
	Type, Status          string
	Active                bool
	Facts                 []fact
	Notes, Source, Author string
}

// fact is one field of a record's value, as text.
type fact struct{ Name, Text string }

func rowOf(rec *pain.Record) recordRow {
	return recordRow{
		ID: rec.ID, RecordedAt: rec.RecordedAt, CreatedAt: rec.CreatedAt, Type: plain(rec.Type.String()), Status: string(rec.Status), Active: rec.Status.Active(),
		Facts: facts(rec.Value.JSON()), Notes: rec.Notes, Source: rec.Source, Author: rec.Author,
	}
}

// facts lists the fields of a JSON object in order. The fields of a nested
// object get a name of two parts; the items of a list are joined.
func facts(object string) (list []fact) {
	eachMember(object, func(name string, value json.RawMessage) {
		if !bytes.HasPrefix(value, []byte("{")) {
			list = append(list, fact{plain(name), valueText(value)})
			return
		}
		for _, inner := range facts(string(value)) {
			list = append(list, fact{plain(name) + " " + inner.Name, inner.Text})
		}
	})
	return list
}

// eachMember calls do for each field of a JSON object in order, and stops
// where the JSON is invalid.
func eachMember(object string, do func(name string, value json.RawMessage)) {
	decoder := json.NewDecoder(strings.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return
		}
		text, _ := name.(string)
		do(text, value)
	}
}

// valueText formats a value for display.
func valueText(value json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil && list != nil {
		texts := make([]string, 0, len(list))
		for _, item := range list {
			texts = append(texts, valueText(item))
		}
		return strings.Join(texts, ", ")
	}
	var text string
	if json.Unmarshal(value, &text) == nil && string(value) != "null" {
		return text
	}
	switch string(value) {
	case "true":
		return "yes"
	case "false":
		return "no"
	case "null":
		return "unknown"
	}
	return shortened(string(value))
}

// shortened rounds a number to at most two decimals; the record has all of
// them.
func shortened(number string) string {
	if _, decimals, ok := strings.Cut(number, "."); !ok || len(decimals) <= 2 {
		return number
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strconv.FormatFloat(decimal.Round(f, 2), 'f', -1, 64)
}

// Brief returns the facts to show in a list, which excludes the individual
// answers of a questionnaire.
func (r recordRow) Brief() []fact {
	brief := make([]fact, 0, 6)
	for _, f := range r.Facts {
		if len(brief) < cap(brief) && !strings.HasPrefix(f.Name, "items ") {
			brief = append(brief, f)
		}
	}
	return brief
}

// plain makes a name of the API readable.
func plain(name string) string { return strings.ReplaceAll(name, "_", " ") }
