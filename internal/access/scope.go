package access

import (
	"fmt"
	"math/bits"
	"strings"
)

// Scopes is a set of permissions.
type Scopes uint32

// The permissions a client can be granted.
const (
	PatientsRead Scopes = 1 << iota
	PatientsWrite
	ClinicalDataRead
	ClinicalDataWrite
	AnalyticsRead
	ReportsRead
	ReportsWrite
	WebhooksRead
	WebhooksWrite
	EventsRead
	AuditRead

	AllScopes = AuditRead<<1 - 1
)

// scopeNames is in the order of the constants above, which is also the order
// in which a set is printed.
var scopeNames = [...]string{
	"patients:read", "patients:write", "clinical_data:read", "clinical_data:write", "analytics:read",
	"reports:read", "reports:write", "webhooks:read", "webhooks:write", "events:read", "audit:read",
}

// ParseScopes parses a space-separated list of scopes (RFC 6749). The error
// names the first unknown scope.
func ParseScopes(s string) (Scopes, error) {
	var set Scopes
words:
	for _, word := range strings.Fields(s) {
		for i, name := range scopeNames {
			if word == name {
				set |= 1 << i
				continue words
			}
		}
		return 0, UnknownScopeError(word)
	}
	return set, nil
}

// UnknownScopeError is an unknown scope in a list.
type UnknownScopeError string

// Error names the unknown scope and lists the known ones.
func (e UnknownScopeError) Error() string {
	return fmt.Sprintf("unknown scope %q; the scopes are %s", string(e), AllScopes)
}

// Has reports whether s contains all of t.
func (s Scopes) Has(t Scopes) bool { return s&t == t }

// Names lists the scopes of the set.
func (s Scopes) Names() []string {
	names := make([]string, 0, bits.OnesCount32(uint32(s)))
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String returns the scopes separated by spaces.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }
