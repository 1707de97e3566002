package journal

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

const (
	journalChannel = "anodyne_journal" // entries were assigned positions
	writtenChannel = "anodyne_written" // entries were written by a process without a sequencer
)

// notify tells other nodes which journals have grown. It is not part of a
// transaction: a NOTIFY inside one would serialize all commits.
func (s *Journal) notify(ctx context.Context, orgs []access.OrgNo) error {
	return s.db.Tell(ctx, journalChannel, printOrgs(orgs))
}

// hear wakes callers that wait for the journal when another node reports that
// it has grown. It only reduces latency: waiting callers also poll.
func (s *Journal) hear() {
	s.db.Hear(journalChannel, func(text string) { s.grew(parseOrgs(text)) })
	s.db.Hear(writtenChannel, func(string) {
		if s.db.Duty() != engine.Following {
			s.unplaced.add(nil)
			s.written.Broadcast()
		}
	})
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
