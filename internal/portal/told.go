package portal

import (
	"bytes"
	"encoding/json"

	"anodyne.example/anodyne/internal/audit"
)

// told lists what the details of a line of audit, or the parameters of a
// report, say. It is as facts, but what is not set is left out, and a change
// is told by the name of what changed.
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
