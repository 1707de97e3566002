package server

import (
	"context"

	"anodyne/internal/portal"
)

// firstOrganisation is the one whose administrator a new installation invites.
const firstOrganisation = "default"

// FirstLink makes a one-time link by which the first administrator is made, in
// the place of one from an earlier start. It is "" when there is a member.
func (s *Server) FirstLink(ctx context.Context) (string, error) {
	link, hash := portal.NewLink()
	invited, err := s.store.System().InviteFirst(ctx, firstOrganisation, hash, portal.FirstLinkLifetime)
	if err != nil || !invited {
		return "", err
	}
	return s.publicURL() + "/portal/join/" + link, nil
}

// publicURL is what links begin with: what the operator says, else where this
// process listens.
func (s *Server) publicURL() string {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL
	}
	return s.URL()
}
