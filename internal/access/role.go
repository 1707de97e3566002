package access

import "fmt"

// Role is what a member of an organisation may do in the portal.
type Role uint8

// The roles, in order of rank: nobody changes what belongs to a higher one.
const (
	// Viewer reads: patients, analytics, reports, applications, deliveries.
	Viewer Role = iota
	// Developer registers applications and endpoints, and sees no patient data.
	Developer
	// Administrator does everything.
	Administrator
)

var roles = [...]struct {
	name   string
	scopes Scopes
}{
	{"viewer", PatientsRead | ClinicalDataRead | AnalyticsRead | ReportsRead | WebhooksRead | EventsRead},
	{"developer", WebhooksRead | WebhooksWrite | EventsRead},
	{"administrator", AllScopes},
}

// Roles lists the roles, the one with the least first.
func Roles() []Role { return []Role{Viewer, Developer, Administrator} }

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	for i, r := range roles {
		if s == r.name {
			return Role(i), nil
		}
	}
	return 0, fmt.Errorf("unknown role %q; the roles are viewer, developer and administrator", s)
}

// String is the role's name.
func (r Role) String() string { return roles[r].name }

// Scopes is what the role may do with the organisation's data.
func (r Role) Scopes() Scopes { return roles[r].scopes }

// Grants is what a member with the role may give an application without asking
// anybody.
func (r Role) Grants() Scopes {
	if r < Developer {
		return 0
	}
	return r.Scopes()
}

// Has reports whether the role is another one or above it.
func (r Role) Has(other Role) bool { return r >= other }
