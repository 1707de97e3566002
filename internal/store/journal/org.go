package journal

import "anodyne.example/anodyne/internal/access"

// Org is the journal of one organisation: its events, its audit log, and the
// lines of what was read.
type Org struct {
	j   *Journal
	org access.OrgNo
}

// For gives the journal of an organisation.
func (s *Journal) For(org access.OrgNo) Org { return Org{s, org} }

// System is the work on all journals: positions, seals, the lines of reads.
type System struct{ j *Journal }

// System gives that work.
func (s *Journal) System() System { return System{s} }
