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

// firstOrganisation is the organisation whose administrator a new installation
// invites.
const firstOrganisation = "default"

// firstLinkFile is the file in the data directory that holds the link of a new
// installation if the server is not started from a terminal.
const firstLinkFile = "first-administrator-link.txt"

// FirstLink is a one-time link for creating the first administrator. It gives
// control over the installation.
type FirstLink struct {
	URL  string
	s    *Server
	hash []byte
}

// FirstLink creates the link, or returns nil if there already is a member. It
// removes the file with the link of an earlier start.
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

// Keep writes the link to a file that only the service's user can read, and
// returns its path. The file is removed once the link is no longer valid.
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

// lookAtFirstLink is the interval for checking whether the link is still
// valid. It may be used on another node or replaced on the command line.
const lookAtFirstLink = 2 * time.Second

// watch removes the file once the link was used or has expired.
func (l *FirstLink) watch(ctx context.Context) error {
	tick := time.NewTicker(lookAtFirstLink)
	defer tick.Stop()
	sys := l.s.store.System()
	poll := sys.NewPoll(time.Minute)
	news, stop := sys.Follow() // using the link is an entry in the journal
	defer stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		select {
		case <-news.Woken():
			news.Take()
		default:
			if !poll.Due() {
				continue
			}
		}
		if open, err := sys.InvitesFirst(ctx, l.hash); err != nil || open {
			continue // database unavailable; the link may still be valid
		}
		path := l.s.firstLinkPath()
		if text, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(text)) != l.URL {
			return nil // removed, or replaced by another process
		}
		return os.Remove(path)
	}
}

// reachable returns a listener's address in the form used in links. A wildcard
// address is replaced by that of the local machine.
func reachable(at net.Addr) string {
	if local, err := netip.ParseAddrPort(at.String()); err == nil && local.Addr().IsUnspecified() {
		_, port, _ := net.SplitHostPort(at.String())
		return net.JoinHostPort("localhost", port)
	}
	return at.String()
}
