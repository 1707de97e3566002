package access

import "fmt"

// Role is what a member of an organisation may do in the portal.
type Role uint8

// The roles, each with all that the one before may do.
const (
	// Viewer reads: patients, analytics, reports, deliveries.
	Viewer Role = iota
	// Developer also registers applications and endpoints and makes reports.
	Developer
	// Administrator also sets tiers, manages members and reads the audit log.
	Administrator
)

var roles = [...]struct {
	name   string
	scopes Scopes
}{
	{"viewer", PatientsRead | ClinicalDataRead | AnalyticsRead | ReportsRead | WebhooksRead | EventsRead},
	{"developer", PatientsRead | ClinicalDataRead | AnalyticsRead | ReportsRead | WebhooksRead | EventsRead | ReportsWrite | WebhooksWrite},
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

// Has reports whether the role may do what another one may.
func (r Role) Has(other Role) bool { return r >= other }
