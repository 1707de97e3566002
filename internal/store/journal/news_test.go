package journal_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
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
			heard(t, all[0], news, ours)
			heard(t, all[0], news, theirs)
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

// Followers are not notified of audit lines of reads, which are most of a journal
// and concern none of them. Other nodes learn that there are some.
func TestReadsAreNoNews(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, reader := storetest.Nodes(t, 2, open)
		writer := storetest.Client(t, all[0], "Writer")
		storetest.Run(t, all...)
		var lists []*journal.News
		for n, s := range all {
			if n > 0 && s.Engine() == storetest.SQLite {
				continue // another process is not notified
			}
			news, stop := s.System().Follow()
			defer stop()
			heard(t, all[0], news, writer)
			lists = append(lists, news)
		}
		o := all[0].For(&reader)
		for n, news := range lists {
			// What was written before may be told late, but reads always would be.
			testwait.Until(t, fmt.Sprintf("node %d is not told of reads", n), func() bool {
				storetest.Saw(t, o, "r")
				if err := o.FlushReads(t.Context()); err != nil {
					t.Fatal(err)
				}
				return !slices.Contains(heard(t, all[0], news, writer), reader.Org)
			})
		}
	})
}

// heard waits until a follower is told of a change, and returns the organisations
// that it was told of.
func heard(t *testing.T, s *store.Store, news *journal.News, who access.Principal) (orgs []access.OrgNo) {
	t.Helper()
	for told := false; !told; {
		storetest.AddPatient(t, s.For(&who), "A")
		select {
		case <-news.Woken():
		case <-time.After(100 * time.Millisecond): // the node does not listen yet
		}
		some, any := news.Take()
		if any {
			some = append(some, who.Org)
		}
		orgs, told = append(orgs, some...), slices.Contains(some, who.Org)
	}
	return orgs
}
