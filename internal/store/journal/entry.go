package journal

import (
	"encoding/json"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/engine"
)

// Raise gives the statements that put an alert into the journal. The service
// itself is the one who did it.
func (s *Journal) Raise(org access.OrgNo, a event.Alert, about string, at time.Time) []engine.Stmt {
	details, err := json.Marshal(struct {
		Kind      event.AlertKind `json:"kind"`
		Threshold int             `json:"threshold,omitempty"`
	}{a.Kind, a.Threshold})
	if err != nil {
		panic(err) // a word and a number
	}
	return s.Entry(org, Change{
		Audit: audit.Entry{At: at, Actor: audit.Service, Action: audit.AlertRaise, Resource: about, Details: details},
		Event: a.Event(at),
	})
}

// Operator begins the line of what is done on the command line.
func Operator(now time.Time) audit.Entry { return audit.Entry{At: now, Actor: audit.Operator} }

// Details makes the details of a line from alternating names and values.
func Details(pairs ...any) json.RawMessage {
	members := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		members[pairs[i].(string)] = pairs[i+1]
	}
	encoded, err := json.Marshal(members)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return encoded
}
