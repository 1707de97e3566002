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

// scopeNames is in the order of the constants above; the printed form of a
// set keeps this order.
var scopeNames = [...]string{
	"patients:read", "patients:write", "clinical_data:read", "clinical_data:write", "analytics:read",
	"reports:read", "reports:write", "webhooks:read", "webhooks:write", "events:read", "audit:read",
}

// ParseScopes reads a space-separated list as RFC 6749 has it. The error
// names the first word that is no scope.
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

// UnknownScopeError is a word that is no scope.
type UnknownScopeError string

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

// String is the space-separated form.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }
