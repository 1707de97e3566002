package journal

import "anodyne.example/anodyne/internal/access"

// Org is the journal of one organisation: its events, its audit log, and the
// audit lines of reads.
type Org struct {
	j   *Journal
	org access.OrgNo
}

// For returns the journal of an organisation.
func (s *Journal) For(org access.OrgNo) Org { return Org{s, org} }

// System does the maintenance of all journals: positions, seals, and the audit
// lines of reads.
type System struct{ j *Journal }

// System returns the maintenance of all journals.
func (s *Journal) System() System { return System{s} }
