package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/portal"
)

// firstOrganisation is the one whose administrator a new installation invites.
const firstOrganisation = "default"

// firstLinkFile is where the link of a new installation is kept, in the data
// directory, when nobody watches it start.
const firstLinkFile = "first-administrator-link.txt"

// A FirstLink is a one-time link by which the first administrator is made.
// Whoever has it has the installation.
type FirstLink struct {
	URL  string
	s    *Server
	hash []byte
}

// FirstLink makes the link. It is nil when there is a member. A file with the
// link of an earlier start is removed.
func (s *Server) FirstLink(ctx context.Context) (*FirstLink, error) {
	if err := os.Remove(s.firstLinkPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	link, hash := portal.NewLink()
	invited, err := s.store.System().InviteFirst(ctx, firstOrganisation, hash, portal.FirstLinkLifetime)
	if err != nil || !invited {
		return nil, err
	}
	base := s.cfg.BaseURL
	if base == "" {
		base = s.URL()
	}
	return &FirstLink{URL: base + "/portal/join/" + link, s: s, hash: hash}, nil
}

func (s *Server) firstLinkPath() string { return filepath.Join(s.cfg.DataDir, firstLinkFile) }

// Keep writes the link into a file that only the service's user can read, and
// says where. The file is removed when the link is no longer good.
func (l *FirstLink) Keep() (path string, err error) {
	path = l.s.firstLinkPath()
	f, err := os.CreateTemp(l.s.cfg.DataDir, "."+firstLinkFile+"-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(l.URL + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	l.s.workers.Start("first link", l.watch)
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path, nil
}

// lookAtFirstLink is how often it is looked whether the link is still good. It
// may be used up on another node, or on the command line.
const lookAtFirstLink = 2 * time.Second

// watch removes the file once the link was used or has expired.
func (l *FirstLink) watch(ctx context.Context) error {
	tick := time.NewTicker(lookAtFirstLink)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if open, err := l.s.store.System().InvitesFirst(ctx, l.hash); err != nil || open {
			continue // when the database is away, it may be
		}
		path := l.s.firstLinkPath()
		if text, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(text)) != l.URL {
			return nil // it is gone, or another process's
		}
		return os.Remove(path)
	}
}

// reachable is an address that a listener has, as it stands in a link: one that
// listens on all addresses is named by its own machine.
func reachable(at net.Addr) string {
	if local, err := netip.ParseAddrPort(at.String()); err == nil && local.Addr().IsUnspecified() {
		_, port, _ := net.SplitHostPort(at.String())
		return net.JoinHostPort("localhost", port)
	}
	return at.String()
}
