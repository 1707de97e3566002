package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
)

// patrol verifies every log from its start, over and over, so that a change
// anywhere in it is detected.
type patrol struct {
	queue    []id.Org // not yet verified
	log      *seenLog // in progress, or nil
	at, mark Pos
	want     audit.Head // at mark
	sealer   *audit.Sealer
	failed   error // why a log of this walk could not be read, or nil
}

// skip leaves accepted logs to the next walk. This one continues with the others:
// otherwise, frequent erasures in one organisation, each of which verifies its log,
// would keep the walk from coming to its end.
func (p *patrol) skip(whole bool, accepted ...audit.Witnessed) {
	if whole {
		*p = patrol{}
	}
	for _, l := range accepted {
		if p.log != nil && p.log.Org == l.Org {
			p.log = nil
		}
	}
}

// walkEntries is the number of entries verified between two checks of the time.
var walkEntries = Pos(2000)

// beginPatrol starts a walk over all logs.
func (s System) beginPatrol() {
	w := s.j.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	w.patrol = patrol{queue: slices.Collect(maps.Keys(w.logs))}
}

// goOnPatrol continues the walk while more returns true, and reports whether it
// is complete. A log that cannot be read, because its worker is down or a page
// is damaged, is left to the next walk: the others are verified nevertheless. The
// error is returned at once, and again at the end of the walk.
func (s System) goOnPatrol(ctx context.Context, more func() bool) (done bool, err error) {
	w := s.j.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.patrol
	var failed error
	for more() {
		if p.log == nil && !p.next(w.logs, s.j.auditKey) {
			return true, errors.Join(p.failed, s.keepWitness(false))
		}
		if err := s.verifyPart(ctx, p); err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			p.log, p.failed, failed = nil, err, err
		}
	}
	return false, errors.Join(failed, s.keepWitness(false))
}

// next takes the next log from the queue, and reports whether there was one.
func (p *patrol) next(logs map[id.Org]*seenLog, key []byte) bool {
	for len(p.queue) > 0 {
		l := logs[p.queue[0]]
		p.queue = p.queue[1:]
		if l != nil && l.present && (l.Pos > 0 || l.Broken != "") {
			p.log, p.at, p.mark, p.want = l, 0, Pos(l.Pos), l.Head
			p.sealer = audit.NewSealer(key, audit.Head{})
			return true
		}
	}
	return false
}

// verifyPart verifies the next entries of the log in progress, and its ends after
// the last.
func (s System) verifyPart(ctx context.Context, p *patrol) error {
	stop := min(p.at+walkEntries, p.mark)
	reached, err := s.chain(ctx, p.sealer, access.OrgNo(p.log.No), p.at, stop)
	if err != nil && !errors.Is(err, errHole) {
		return err
	}
	if p.at = reached; reached == stop && stop < p.mark {
		return nil
	}
	l := p.log
	p.log = nil
	switch {
	case reached < stop:
		s.breakSeal(ctx, l, brokenOff(reached, p.mark))
	case p.sealer.Head() != p.want:
		s.breakSeal(ctx, l, notSealed(p.mark))
	default:
		return s.judgeEnds(ctx, l)
	}
	return nil
}

// judgeEnds checks for entries beyond the ends of a log that matches its seal.
func (s System) judgeEnds(ctx context.Context, l *seenLog) error {
	stray, err := s.hasStray(ctx, access.OrgNo(l.No))
	if err == nil && stray {
		s.breakSeal(ctx, l, strayEntries)
	} else if err == nil && l.Broken != "" {
		err = s.mend(ctx, l)
	}
	return err
}

// mend resumes the sealing of a log that was broken and has been restored.
func (s System) mend(ctx context.Context, l *seenLog) error {
	if s.j.witness.numbers[l.No] != l.Org {
		return nil
	}
	j, err := s.readJournal(ctx, access.OrgNo(l.No))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil || disagreement(l.Witnessed, j) != "" {
		return err
	}
	if sound, err := s.catchUp(ctx, l, j.sealed); !sound {
		return err
	}
	l.Broken, s.j.witness.dirty = "", true
	s.j.db.Log.Warn("the audit log matches its seal again; sealing continues", "organization", l.Name)
	return nil
}

// WatchSeals compares all seals and verifies all logs once, and returns
// messages about those that are broken. The server does the same incrementally.
func (s System) WatchSeals(ctx context.Context) ([]string, error) {
	if err := s.compareSeals(ctx); err != nil {
		return nil, err
	}
	s.beginPatrol()
	if _, err := s.goOnPatrol(ctx, func() bool { return true }); err != nil {
		return nil, err
	}
	w := s.j.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost != "" {
		return []string{w.lost}, nil
	}
	var problems []string
	for _, l := range w.broken() {
		problems = append(problems, fmt.Sprintf("organisation %s: %s", l.Name, l.Broken))
	}
	return problems, nil
}
