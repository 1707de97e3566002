package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// AuditEntry is one entry of the audit log: who did what to which record.
type AuditEntry struct {
	Timestamp time.Time `json:"timestamp"`
	RequestID string    `json:"request_id"`
	// ClientID is the client that acted, "operator" for the command line, or
	// "service" for the service itself.
	ClientID string `json:"client_id"`
	// MemberID is the member who acted in the portal. ClientID is empty then.
	MemberID string `json:"member_id"`
	Action   string `json:"action"`
	// Resource is the identifier of the affected record. It may be empty.
	Resource string         `json:"resource"`
	Source   string         `json:"source"` // network address of the caller
	Status   string         `json:"status"` // result of the action
	Details  map[string]any `json:"details"`
}

// AuditPage is one page of the audit log.
type AuditPage = CursorPage[AuditEntry]

// AuditQuery selects audit entries. Zero fields use the service's defaults.
type AuditQuery struct {
	After     string // NextCursor of the previous page; "" is the start of the log
	Limit     int    // up to 100
	Action    string
	PatientID string // entries about this patient
}

// Audit returns the matching audit entries, oldest first. It needs the scope
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
