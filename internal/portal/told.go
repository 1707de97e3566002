package portal

import (
	"bytes"
	"encoding/json"

	"anodyne.example/anodyne/internal/audit"
)

// told lists the details of an audit entry or the parameters of a report.
// Unlike facts, it omits values that are not set and labels a change with the
// name of the changed field.
func told(object string) (list []fact) {
	eachMember(object, func(name string, value json.RawMessage) {
		var changes []audit.Change
		switch {
		case string(value) == "null", string(value) == "[]":
		case bytes.HasPrefix(value, []byte("{")):
			for _, inner := range told(string(value)) {
				list = append(list, fact{plain(name) + " " + inner.Name, inner.Text})
			}
		case name == "changes" && json.Unmarshal(value, &changes) == nil:
			for _, c := range changes {
				list = append(list, fact{plain(c.Field), orNothing(c.Before) + " → " + orNothing(c.After)})
			}
		default:
			list = append(list, fact{plain(name), valueText(value)})
		}
	})
	return list
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}
