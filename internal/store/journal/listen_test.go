package journal

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/signal"
)

// Followers are told by their own process, and not again by its notification.
func TestOwnNotificationIsIgnored(t *testing.T) {
	t.Parallel()
	s, other := &Journal{positioned: signal.New(), name: newName()}, newName()
	news, stop := s.System().Follow()
	defer stop()
	for _, tt := range []struct {
		text string
		orgs []access.OrgNo
		any  bool
	}{
		{s.name + " 7", nil, false},
		{s.name + " " + printOrgs(make([]access.OrgNo, orgSetMost)), nil, false},
		{other + " 7", []access.OrgNo{7}, false},
		{other + " " + printOrgs(make([]access.OrgNo, orgSetMost)), nil, true},
		{"7", []access.OrgNo{7}, false}, // from an older version
		{"", nil, true},
	} {
		s.heardOf(tt.text)
		if orgs, any := news.Take(); !slices.Equal(orgs, tt.orgs) || any != tt.any {
			t.Errorf("%q: told of %v, any %v; want %v, %v", tt.text, orgs, any, tt.orgs, tt.any)
		}
	}
}
