package journal_test

import (
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A follower is notified of the organisations whose journals have grown, at
// once by its own process, and on PostgreSQL also by others.
func TestFollow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, ours := storetest.Nodes(t, 2, open)
		theirs := storetest.Client(t, all[0], "Theirs")
		storetest.Run(t, all...)
		for n, s := range all {
			if n > 0 && s.Engine() == storetest.SQLite {
				continue // another process is not notified
			}
			news, stop := s.System().Follow()
			heard := func(who access.Principal) {
				t.Helper()
				for told := false; !told; {
					storetest.AddPatient(t, all[0].For(&who), "A")
					select {
					case <-news.Woken():
					case <-time.After(100 * time.Millisecond): // the node does not listen yet
					}
					orgs, any := news.Take()
					told = any || slices.Contains(orgs, who.Org)
				}
			}
			heard(ours)
			heard(theirs)
			if orgs, any := news.Take(); n == 0 && s.Engine() == storetest.SQLite && (len(orgs) > 0 || any) {
				t.Errorf("told twice: %v, %v", orgs, any)
			}
			stop()
			storetest.AddPatient(t, all[0].For(&ours), "A")
			if orgs, any := news.Take(); s.Engine() == storetest.SQLite && (len(orgs) > 0 || any) {
				t.Errorf("told after the end: %v, %v", orgs, any)
			}
		}
	})
}
