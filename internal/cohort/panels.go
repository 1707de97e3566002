package cohort

import (
	"context"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
)

// charts is the read model for analytics.
var charts = &kind[*panel]{name: "series", size: panelSize, read: readPanel, once: readPanel, follow: followCharts}

// unheld is charts for the slices that no node holds. Its passes are apart from
// those over all patients, which take longer. sliceSize is the number of
// patients in a slice.
func unheld(sliceSize int64) *kind[*panel] {
	k := *charts
	k.name, k.size = sliced, min(panelSize, sliceSize)
	return &k
}

// nobody is a number without a patient.
var nobody = func() *panel {
	p := &panel{heads: []head{{}}}
	p.closeCodes()
	p.closeSeries()
	return p
}()

func readPanel(ctx context.Context, org store.Org, first, last int64) (*panel, error) {
	g := newGathering()
	defer g.release()
	if err := org.MemberRange(ctx, first, last, g.member, g.year); err != nil {
		return nil, err
	}
	members, err := g.end(ctx, org)
	if err != nil {
		return nil, err
	}
	if int64(len(members)) == last-first+1 && len(g.damaged) == 0 {
		return members[0].in, nil // the common case
	}
	read := &panel{}
	for no := first; no <= last; no++ {
		if len(members) > 0 && members[0].no == no {
			read.copyFrom(members[0].in, members[0].slot, members[0].slot+1)
			members = members[1:]
		} else {
			read.copyFrom(nobody, 0, 1)
		}
	}
	return read.fit(), nil
}

func followCharts(ctx context.Context, org store.Org, panels []*panel, after journal.Pos, most int64) (next []*panel, at journal.Pos, ok bool, err error) {
	changed, at, ok, err := changedMembers(ctx, org, after, most)
	if err != nil || !ok {
		return nil, at, false, err
	}
	next, ok = withChanges(panels, changed, panelSize, func() *panel { return &panel{} })
	return next, at, ok, nil
}

// changedMembers returns the patients that changed after a position, and the
// new position. It is not ok if there are more than most changes.
func changedMembers(ctx context.Context, org store.Org, after journal.Pos, most int64) (changed []member, at journal.Pos, ok bool, err error) {
	g := newGathering()
	defer g.release()
	var gone []member
	at, complete, err := org.ChangedMembers(ctx, after, most, g.member, g.year, func(no int64) { gone = append(gone, member{no, nobody, 0}) })
	if err != nil || !complete {
		return nil, at, false, err
	}
	changed, err = g.end(ctx, org)
	return append(changed, gone...), at, err == nil, err
}
