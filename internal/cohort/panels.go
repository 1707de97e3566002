package cohort

import (
	"context"

	"anodyne/internal/store"
)

// charts is the read model that analytics run on.
var charts = &kind[*panel]{name: "series", size: panelSize, read: readPanel, follow: followCharts}

func readPanel(ctx context.Context, org store.Org, first, last int64) (*panel, error) {
	var g gathering
	if err := org.MemberRange(ctx, first, last, g.member, g.year); err != nil {
		return nil, err
	}
	members, err := g.end(ctx, org)
	if err != nil {
		return nil, err
	}
	read := newPanel(int(last-first)+1, g.codes, len(g.years))
	for no := first; no <= last; no++ {
		if len(members) > 0 && members[0].no == no {
			read.add(&members[0])
			members = members[1:]
		} else {
			read.add(&member{})
		}
	}
	return read, nil
}

func followCharts(ctx context.Context, org store.Org, panels []*panel, after store.Pos, most int64) (next []*panel, at store.Pos, ok bool, err error) {
	var g gathering
	at, complete, err := org.ChangedMembers(ctx, after, most, g.member, g.year)
	if err != nil || !complete {
		return nil, at, false, err
	}
	changed, err := g.end(ctx, org)
	if err != nil {
		return nil, at, false, err
	}
	next, ok = withChanges(panels, changed, panelSize, func() *panel { return &panel{} })
	return next, at, ok, nil
}
