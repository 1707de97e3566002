package access

import (
	"fmt"
	"math/bits"
	"slices"
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
	// PatientsErase cannot be undone, so it is granted only if it is named.
	PatientsErase
	ExportsRead
	ExportsWrite
	pastScopes

	AllScopes     = pastScopes - 1
	DefaultScopes = AllScopes &^ PatientsErase
)

// Scope is the one declaration of a permission. The OpenAPI document and the
// documentation follow it.
type Scope struct {
	Name string
	// Summary is what it permits, in a few words; Lets completes the sentence
	// "lets an application ...".
	Summary, Lets string
}

// scopes is in the order of the constants above; the printed form of a set
// keeps this order.
var scopes = [...]Scope{
	{"patients:read", "List and read patients", "list, search and read patients"},
	{"patients:write", "Create and change patients", "create and change patients"},
	{"clinical_data:read", "Read clinical data", "read clinical data, patient summaries and medicine aliases"},
	{"clinical_data:write", "Add and correct clinical data", "add and correct clinical data, change medicine aliases"},
	{"analytics:read", "Read analytics", "read outcomes and population health"},
	{"reports:read", "List and download reports", "list and download reports"},
	{"reports:write", "Generate and remove reports", "generate and delete reports"},
	{"webhooks:read", "List webhooks and their deliveries", "read webhooks and their deliveries"},
	{"webhooks:write", "Register and change webhooks", "register and change webhooks"},
	{"events:read", "Read the event log", "read the event log"},
	{"audit:read", "Read the audit log", "read the audit log"},
	{"patients:erase", "Erase patients", "erase patients; not granted by default"},
	{"exports:read", "List and download exports", "list and download exports"},
	{"exports:write", "Create and remove exports", "create and delete exports"},
}

// Declared lists the permissions in order.
func Declared() []Scope { return slices.Clone(scopes[:]) }

// ParseScopes parses a space-separated list of scopes (RFC 6749). The error
// names the first unknown scope.
func ParseScopes(s string) (Scopes, error) {
	var set Scopes
words:
	for _, word := range strings.Fields(s) {
		for i := range scopes {
			if word == scopes[i].Name {
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
	for i := range scopes {
		if s&(1<<i) != 0 {
			names = append(names, scopes[i].Name)
		}
	}
	return names
}

// String returns the scopes separated by spaces.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }
