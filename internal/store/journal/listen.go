package journal

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

const (
	journalChannel = "anodyne_journal" // entries were assigned positions
	writtenChannel = "anodyne_written" // entries were written by a process without a sequencer
)

// newName returns a name for this process in notifications. It is a negative
// number, which nodes of an older version take for an organisation without
// followers.
func newName() string { return strconv.FormatInt(-1-rand.Int64(), 10) }

// sender returns the name of the process that sent a notification, if it has
// one, and the rest.
func sender(text string) (name, rest string) {
	if !strings.HasPrefix(text, "-") {
		return "", text
	}
	name, rest, _ = strings.Cut(text, " ")
	return name, rest
}

// notify tells other nodes which journals have grown. It is not part of a
// transaction: a NOTIFY inside one would serialize all commits.
func (s *Journal) notify(ctx context.Context, orgs []access.OrgNo) error {
	return s.db.Tell(ctx, journalChannel, s.name+" "+printOrgs(orgs))
}

// hear wakes callers that wait for the journal when another node reports that
// it has grown. It only reduces latency: waiting callers also poll.
func (s *Journal) hear() {
	s.db.Hear(journalChannel, s.heardOf)
	s.db.Hear(writtenChannel, func(string) {
		if s.db.Duty() != engine.Following {
			s.unplaced.add(nil)
			s.written.Broadcast()
		}
	})
}

// heardOf handles a notification of notify. What this process sent itself, it
// has known before.
func (s *Journal) heardOf(text string) {
	if name, orgs := sender(text); name != s.name {
		s.grew(parseOrgs(orgs))
	}
}

// tellWritten notifies servers of what this process wrote, if it has no
// sequencer, such as a command, so that they assign positions. It does so at most
// once a second; Close assigns the rest.
func (s *Journal) tellWritten() {
	now := time.Now().UnixMilli()
	if last := s.toldWritten.Load(); s.sequences.Load() || now-last < 1000 || !s.toldWritten.CompareAndSwap(last, now) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := s.db.Tell(ctx, writtenChannel, ""); err != nil {
		s.db.Log.Debug("could not tell servers of new journal entries", "error", err)
	}
}
