package journal

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
)

const journalChannel = "anodyne_journal"

// notify tells other nodes which journals have grown. It is not part of a
// transaction: a NOTIFY inside one would serialize all commits.
func (s *Journal) notify(ctx context.Context, orgs []access.OrgNo) error {
	return s.db.Tell(ctx, journalChannel, printOrgs(orgs))
}

// Listen wakes callers that wait for the journal when another node reports that
// it has grown, until the context ends. It only reduces latency: waiting
// callers also poll. On SQLite it returns at once.
func (s System) Listen(ctx context.Context) error {
	if !s.j.db.Dialect().Shared {
		return nil
	}
	for ctx.Err() == nil {
		err := s.j.db.Listen(ctx, journalChannel, func(text string) { s.j.grew(parseOrgs(text)) })
		if err != nil && ctx.Err() == nil {
			s.j.db.Log.Warn("not notified of other nodes' journal entries; polling instead", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}
