package access

import "fmt"

// Role is what a member of an organisation may do in the portal.
type Role uint8

// The roles, in ascending order of rank. A member cannot change what belongs
// to a member of higher rank.
const (
	// Viewer may read patients, analytics, reports, applications and
	// deliveries.
	Viewer Role = iota
	// Developer may register applications and webhooks, and sees no patient
	// data.
	Developer
	// Administrator may do everything.
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

// Roles lists the roles in ascending order of rank.
func Roles() []Role { return []Role{Viewer, Developer, Administrator} }

// ParseRole parses the name of a role.
func ParseRole(s string) (Role, error) {
	for i, r := range roles {
		if s == r.name {
			return Role(i), nil
		}
	}
	return 0, fmt.Errorf("unknown role %q; the roles are viewer, developer and administrator", s)
}

// String returns the name of the role.
func (r Role) String() string { return roles[r].name }

// Scopes returns what the role may do with the organisation's data.
func (r Role) Scopes() Scopes { return roles[r].scopes }

// Grants returns the scopes that a member with the role may grant an
// application without approval.
func (r Role) Grants() Scopes {
	if r < Developer {
		return 0
	}
	return r.Scopes()
}

// Has reports whether the role is other or ranks above it.
func (r Role) Has(other Role) bool { return r >= other }
