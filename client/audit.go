package client

import (
	"context"
	"time"
)

// AuditEntry is one line of the audit log: who did what to which record.
type AuditEntry struct {
	Timestamp time.Time `json:"timestamp"`
	RequestID string    `json:"request_id"`
	// ClientID is who acted: a client, or "operator".
	ClientID string `json:"client_id"`
	Action   string `json:"action"`
	// Resource is the identifier of what was touched; it may be empty.
	Resource string         `json:"resource"`
	Source   string         `json:"source"`
	Details  map[string]any `json:"details"`
}

// AuditPage is one stretch of the audit log.
type AuditPage = CursorPage[AuditEntry]

// Audit returns the audit entries behind the cursor after, oldest first; the
// log begins at "". A limit of 0 leaves the choice to the service. It needs the
// scope audit:read.
func (c *Client) Audit(ctx context.Context, after string, limit int) (*AuditPage, error) {
	return readLog[AuditEntry](ctx, c, "read audit", "audit", after, limit, 0)
}
