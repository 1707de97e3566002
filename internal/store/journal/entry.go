package journal

import (
	"encoding/json"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/engine"
)

// Raise returns the statements that append an alert to the journal. The actor
// is the service itself.
func (s *Journal) Raise(org access.OrgNo, a event.Alert, about string, at time.Time) []engine.Stmt {
	details, err := json.Marshal(struct {
		Kind      event.AlertKind `json:"kind"`
		Threshold int             `json:"threshold,omitempty"`
	}{a.Kind, a.Threshold})
	if err != nil {
		panic(err) // a string and a number always marshal
	}
	return s.Entry(org, Change{
		Audit: audit.Entry{At: at, Actor: audit.Service, Action: audit.AlertRaise, Resource: about, Details: details},
		Event: a.Event(at),
	})
}

// Operator returns the start of an audit line for a command run by an operator.
func Operator(now time.Time) audit.Entry { return audit.Entry{At: now, Actor: audit.Operator} }

// Details returns the details of an audit line, given alternating names and
// values.
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
