package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// AuditEntry is one line of the audit log: who did what to which record.
type AuditEntry struct {
	Timestamp time.Time `json:"timestamp"`
	RequestID string    `json:"request_id"`
	// ClientID is the client that acted, "operator" for the command line, or
	// "service" for what the service does by itself.
	ClientID string `json:"client_id"`
	// MemberID is the member who acted in the portal; there is no client then.
	MemberID string `json:"member_id"`
	Action   string `json:"action"`
	// Resource is the identifier of what was touched; it may be empty.
	Resource string         `json:"resource"`
	Source   string         `json:"source"` // the network address it came from
	Status   string         `json:"status"` // how it ended
	Details  map[string]any `json:"details"`
}

// AuditPage is one stretch of the audit log.
type AuditPage = CursorPage[AuditEntry]

// AuditQuery selects audit entries. Zero members leave the choice to the
// service.
type AuditQuery struct {
	After     string // NextCursor of the page before; the log begins at ""
	Limit     int    // up to 100
	Action    string
	PatientID string // entries about this patient
}

// Audit returns the audit entries that match, oldest first. It needs the scope
// audit:read.
func (c *Client) Audit(ctx context.Context, query AuditQuery) (*AuditPage, error) {
	q := url.Values{}
	for name, value := range map[string]string{"after": query.After, "action": query.Action, "patient_id": query.PatientID} {
		if value != "" {
			q.Set(name, value)
		}
	}
	setNumber(q, "limit", query.Limit)
	return answered[AuditPage](ctx, c, &call{op: "read audit", method: http.MethodGet, path: []string{"v1", "audit"}, query: q}, nil)
}
