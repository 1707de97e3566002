package reports_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// writeFile stores the file of a claim.
func writeFile(t *testing.T, c *reports.ReportClaim, file []byte) {
	t.Helper()
	n := int64(0)
	for chunk := range slices.Chunk(file, reports.ChunkSize) {
		if err := c.Append(t.Context(), n, chunk); err != nil {
			t.Fatal(err)
		}
		n++
	}
}

func complete(t *testing.T, c *reports.ReportClaim, file []byte) {
	t.Helper()
	sum := sha256.Sum256(file)
	if err := c.Complete(t.Context(), int64(len(file)), sum[:], 30*24*time.Hour); err != nil {
		t.Fatal(err)
	}
}

// purge removes what is no longer needed, which is little.
func purge(t *testing.T, s *store.Store) {
	t.Helper()
	if more, err := s.System().PurgeReports(t.Context()); more || err != nil {
		t.Fatal(more, err)
	}
}

// fileOf returns size bytes that depend on seed.
func fileOf(seed byte, size int) []byte {
	file := make([]byte, size)
	for i := range file {
		file[i] = seed + byte(i*7) + byte(i>>11)
	}
	return file
}

func read(t *testing.T, o store.Org, rep *reports.Report, from, to int64) (file []byte) {
	t.Helper()
	if err := o.ReportBytes(t.Context(), rep, from, to, func(b []byte) error {
		file = append(file, b...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return file
}

// reportEvents lists the names of the events, in order.
func reportEvents(t *testing.T, s *store.Store, o store.Org) (names []string) {
	t.Helper()
	storetest.Settle(t, s)
	events, _, err := o.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		names = append(names, string(e.Type))
	}
	return names
}

func TestReportGoesItsWay(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[1].For(&who)
		rep := storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		if got := storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID)); got.Status != reports.Pending || got.Type != rep.Type || got.Format != rep.Format ||
			got.Title != rep.Title || got.Parameters != rep.Parameters || !got.AsOf.Equal(rep.AsOf) || got.Client != who.ClientID || got.Size != -1 || !got.StartedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		now.Pass(time.Second)
		c := storetest.ClaimReport(t, all[1])
		if c.ID != rep.ID || c.Tries != 1 || c.OrgNo() != who.Org {
			t.Errorf("%+v", c)
		}
		if again := storetest.Must[*reports.ReportClaim](t)(all[0].System().ClaimReport(t.Context(), "other", storetest.ClaimTime)); again != nil {
			t.Error("it can be claimed twice")
		}
		if err := c.Renew(t.Context(), storetest.ClaimTime, 40); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID)); got.Status != reports.Processing || got.Progress != 40 || !got.StartedAt.Equal(now.Now()) {
			t.Errorf("%+v", got)
		}
		file := fileOf(1, 2*reports.ChunkSize+77)
		writeFile(t, c, file)
		if events := reportEvents(t, all[0], o); len(events) != 0 {
			t.Errorf("before it is whole: %v", events)
		}
		now.Pass(time.Second)
		complete(t, c, file)
		got := storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID))
		sum := sha256.Sum256(file)
		if got.Status != reports.Completed || got.Progress != 100 || got.Size != int64(len(file)) || !bytes.Equal(got.SHA256, sum[:]) ||
			!got.CompletedAt.Equal(now.Now()) || !got.ExpiresAt.Equal(now.Now().Add(30*24*time.Hour)) {
			t.Errorf("%+v", got)
		}
		for _, r := range [][2]int64{{0, got.Size}, {0, 1}, {reports.ChunkSize - 1, reports.ChunkSize + 1}, {reports.ChunkSize, 2 * reports.ChunkSize}, {got.Size - 1, got.Size}, {5, 5}} {
			if part := read(t, o, &got, r[0], r[1]); !bytes.Equal(part, file[r[0]:r[1]]) {
				t.Errorf("bytes %v differ", r)
			}
		}
		if events := reportEvents(t, all[0], o); !slices.Equal(events, []string{string(event.ReportCompleted)}) {
			t.Errorf("%v", events)
		}
		if lines := storetest.AuditLines(t, o, journal.AuditFilter{Resource: rep.ID.String()}); len(lines) != 2 || !bytes.Contains(lines[1], []byte("report.complete")) {
			t.Errorf("%s", lines)
		}
	})
}

// A node that was suspended past its lease cannot overwrite the work of
// another.
func TestLateNodeCannotOverwrite(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		rep := storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		late := storetest.ClaimReport(t, all[0])
		writeFile(t, late, fileOf(1, 3*reports.ChunkSize))
		now.Pass(storetest.ClaimTime + time.Second)
		quick := storetest.ClaimReport(t, all[1])
		if quick.ID != rep.ID || quick.Tries != 2 {
			t.Fatalf("%+v", quick)
		}
		refused := func(when string) {
			t.Helper()
			for name, err := range map[string]error{
				"renew": late.Renew(t.Context(), storetest.ClaimTime, 50), "append": late.Append(t.Context(), 3, []byte("x")), "first": late.Append(t.Context(), 0, []byte("x")),
				"complete": late.Complete(t.Context(), 1, []byte("x"), storetest.ClaimTime), "fail": late.Fail(t.Context(), "x"), "release": late.Release(t.Context(), 0, true),
			} {
				if !errors.Is(err, reports.ErrClaimLost) {
					t.Errorf("%s, %s by the late node: %v", when, name, err)
				}
			}
		}
		refused("claimed anew")
		file := fileOf(2, reports.ChunkSize+5)
		writeFile(t, quick, file)
		refused("written anew")
		complete(t, quick, file)
		refused("completed")
		got := storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID))
		if got.Status != reports.Completed || !bytes.Equal(read(t, o, &got, 0, got.Size), file) {
			t.Errorf("%+v", got)
		}
		if events := reportEvents(t, all[0], o); !slices.Equal(events, []string{string(event.ReportCompleted)}) {
			t.Errorf("%v", events)
		}
		purge(t, all[0])
		if n := storetest.Number(t, all[0], `SELECT count(*) FROM report_chunk`); n != 2 {
			t.Errorf("%d chunks are left, want the 2 of the file", n)
		}
	})
}

func TestReportIsGivenUp(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		rep := storetest.AddReport(t, s, &who, reporttype.Stewardship, now.Now())
		for try := 1; try <= 5; try++ {
			c := storetest.ClaimReport(t, s)
			if c.Tries != try {
				t.Fatalf("try %d, want %d", c.Tries, try)
			}
			if try == 3 { // an orderly shutdown does not count
				if err := c.Release(t.Context(), 0, false); err != nil {
					t.Fatal(err)
				}
				storetest.ClaimReport(t, s)
			}
			now.Pass(storetest.ClaimTime + 1)
		}
		if c := storetest.Must[*reports.ReportClaim](t)(s.System().ClaimReport(t.Context(), "node", storetest.ClaimTime)); c != nil {
			t.Errorf("claimed a sixth time: %+v", c)
		}
		if got := storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID)); got.Status != reports.Failed || got.Error == "" || got.CompletedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		if events := reportEvents(t, s, o); !slices.Equal(events, []string{string(event.ReportFailed), string(event.SystemAlert)}) {
			t.Errorf("%v", events)
		}
	})
}

// A released report waits for the given time.
func TestReleasedReportWaits(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		rep := storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		if err := storetest.ClaimReport(t, all[0]).Release(t.Context(), time.Minute, true); err != nil {
			t.Fatal(err)
		}
		if c := storetest.Must[*reports.ReportClaim](t)(all[0].System().ClaimReport(t.Context(), "node", storetest.ClaimTime)); c != nil {
			t.Error("claimed too early")
		}
		now.Pass(time.Minute)
		if c := storetest.ClaimReport(t, all[0]); c.ID != rep.ID || c.Tries != 2 {
			t.Errorf("%+v", c)
		}
	})
}

// While a lease is renewed, no other node claims the report.
func TestLeaseIsRenewed(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		c := storetest.ClaimReport(t, all[0])
		for range 4 {
			now.Pass(storetest.ClaimTime - time.Second)
			if err := c.Renew(t.Context(), storetest.ClaimTime, 10); err != nil {
				t.Fatal(err)
			}
			if other := storetest.Must[*reports.ReportClaim](t)(all[1].System().ClaimReport(t.Context(), "other", storetest.ClaimTime)); other != nil {
				t.Fatalf("taken: %+v", other)
			}
		}
		now.Pass(storetest.ClaimTime)
		if other := storetest.ClaimReport(t, all[1]); other.ID != c.ID {
			t.Errorf("%+v", other)
		}
	})
}

// Many concurrent claims, on several nodes, get each report once, and an
// organisation with many reports does not hold up another.
func TestReportsAreClaimedOnceAndFairly(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		small := storetest.Client(t, all[0], "Small Practice")
		for range 20 {
			storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		}
		now.Pass(2 * time.Second)
		late := storetest.AddReport(t, all[0], &small, reporttype.Outcomes, now.Now())
		var mu sync.Mutex
		var order []id.Report
		storetest.Together(t, 6, func(i int) error {
			for {
				mu.Lock() // orders the results, not the claims
				c, err := all[i%3].System().ClaimReport(t.Context(), "node", storetest.ClaimTime)
				if c != nil {
					order = append(order, c.ID)
				}
				done := len(order) == 21
				mu.Unlock()
				if err != nil || done {
					return err
				}
			}
		})
		if at := slices.Index(order, late.ID); at != 1 {
			t.Errorf("the other organisation's report came at place %d", at)
		}
		seen := map[id.Report]bool{}
		for _, rep := range order {
			if seen[rep] {
				t.Errorf("%s was claimed twice", rep)
			}
			seen[rep] = true
		}
	})
}

func TestReportsAreClaimedOnceInParallel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		for range 24 {
			storetest.AddReport(t, all[0], &who, reporttype.Outcomes, time.Now())
		}
		var mu sync.Mutex
		claimed := map[id.Report]int{}
		count := func() int { mu.Lock(); defer mu.Unlock(); return len(claimed) }
		storetest.Together(t, 9, func(i int) error {
			for count() < 24 {
				c, err := all[i%3].System().ClaimReport(t.Context(), "node", 4*time.Minute)
				if err != nil {
					return err
				}
				if c != nil {
					mu.Lock()
					claimed[c.ID]++
					mu.Unlock()
				}
			}
			return nil
		})
		for rep, n := range claimed {
			if n != 1 {
				t.Errorf("%s was claimed %d times", rep, n)
			}
		}
	})
}

// Lists are exact whatever happened to the reports.
func TestReportList(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		s, o := all[0], all[1].For(&who)
		other := storetest.Client(t, s, "Somebody Else")
		storetest.AddReport(t, s, &other, reporttype.Outcomes, now.Now())
		storetest.Exec(t, s, `UPDATE report SET lease_until = $1`, now.Now().Add(4*time.Minute).UnixMilli()) // not to be claimed here
		var made []id.Report
		for i := range 12 {
			made = append(made, storetest.AddReport(t, s, &who, reporttype.Types()[i%4], now.Now()).ID)
		}
		for i := range 9 {
			c := storetest.ClaimReport(t, s)
			switch i {
			case 0, 1, 2:
				complete(t, c, nil)
			case 3, 4:
				if err := c.Fail(t.Context(), "because"); err != nil {
					t.Fatal(err)
				}
			case 5:
				if err := c.Release(t.Context(), 4*time.Minute, true); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, gone := range []int{1, 4, 10} { // completed, failed, pending
			if err := o.DeleteReport(t.Context(), made[gone], storetest.ReportChange(reports.Report{ID: made[gone]}, now.Now(), audit.ReportDelete)); err != nil {
				t.Fatal(err)
			}
		}
		list := func(q reports.ReportQuery) (found []reports.Report, total int64) {
			t.Helper()
			total = storetest.Must[int64](t)(o.Reports(t.Context(), q, func(r *reports.Report) { found = append(found, *r) }))
			return found, total
		}
		everything, total := list(reports.ReportQuery{Page: 1, Limit: 100})
		if total != 9 || len(everything) != 9 {
			t.Fatalf("%d of %d", len(everything), total)
		}
		for _, status := range append(reports.Statuses, "") {
			for _, kind := range append(reporttype.Types(), "") {
				var want []id.Report
				for _, r := range everything {
					if (status == "" || r.Status == status) && (kind == "" || r.Type == kind) {
						want = append(want, r.ID)
					}
				}
				var got []id.Report
				for page := int64(1); page <= 5; page++ {
					found, total := list(reports.ReportQuery{Status: status, Type: kind, Page: page, Limit: 2})
					if total != int64(len(want)) {
						t.Errorf("%s %s: total %d, want %d", status, kind, total, len(want))
					}
					for _, r := range found {
						got = append(got, r.ID)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s %s: %v, want %v", status, kind, got, want)
				}
			}
		}
		if problems := storetest.Must[[]string](t)(s.System().CheckTables(t.Context())); len(problems) != 0 {
			t.Errorf("%v", problems)
		}
		storetest.Exec(t, s, `UPDATE report_count SET reports = reports + 1 WHERE org_no = $1`, int64(who.Org))
		if problems := storetest.Must[[]string](t)(s.System().CheckTables(t.Context())); len(problems) != 1 {
			t.Errorf("a counter that is wrong: %v", problems)
		}
		if !slices.IsSortedFunc(everything, func(a, b reports.Report) int { return bytes.Compare(a.ID.Bytes(), b.ID.Bytes()) }) {
			t.Error("not in the order of creation")
		}
	})
}

func TestReportsExpire(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		rep := storetest.AddReport(t, s, &who, reporttype.Outcomes, now.Now())
		file := fileOf(3, 9*reports.ChunkSize)
		c := storetest.ClaimReport(t, s)
		writeFile(t, c, file)
		complete(t, c, file)
		sweep := func() reports.Report {
			t.Helper()
			if more, err := s.System().ExpireReports(t.Context()); more || err != nil {
				t.Fatal(more, err)
			}
			purge(t, s)
			return storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID))
		}
		now.Pass(30*24*time.Hour - time.Second)
		if got := sweep(); got.Status != reports.Completed || got.HasExpired(now.Now()) || storetest.Number(t, s, `SELECT count(*) FROM report_chunk`) != 9 {
			t.Errorf("too early: %+v", got)
		}
		now.Pass(time.Second)
		if before := storetest.Must[reports.Report](t)(o.Report(t.Context(), rep.ID)); !before.HasExpired(now.Now()) {
			t.Error("it has not expired before it was noticed")
		}
		if got := sweep(); got.Status != reports.Expired || !got.HasExpired(now.Now()) {
			t.Errorf("%+v", got)
		}
		for _, table := range []string{"report_chunk", "report_garbage"} {
			if n := storetest.Number(t, s, `SELECT count(*) FROM `+table); n != 0 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
		if err := o.ReportBytes(t.Context(), &rep, 0, 10, func([]byte) error { return nil }); !fault.Is(err, fault.NotFound) {
			t.Errorf("reading what is gone: %v", err)
		}
	})
}

func TestDeletedReportIsGivenUp(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		rep := storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		c := storetest.ClaimReport(t, all[1])
		writeFile(t, c, fileOf(1, reports.ChunkSize))
		if err := o.DeleteReport(t.Context(), rep.ID, storetest.ReportChange(rep, now.Now(), audit.ReportDelete)); err != nil {
			t.Fatal(err)
		}
		if err := c.Append(t.Context(), 1, []byte("x")); !errors.Is(err, reports.ErrClaimLost) {
			t.Errorf("%v", err)
		}
		if err := c.Complete(t.Context(), 1, nil, storetest.ClaimTime); !errors.Is(err, reports.ErrClaimLost) {
			t.Errorf("%v", err)
		}
		if err := o.DeleteReport(t.Context(), rep.ID, storetest.ReportChange(rep, now.Now(), audit.ReportDelete)); !fault.Is(err, fault.NotFound) {
			t.Errorf("deleted again: %v", err)
		}
		purge(t, all[0])
		if n := storetest.Number(t, all[0], `SELECT count(*) FROM report_chunk`); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
	})
}

func TestReportsAreIsolated(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		stranger := storetest.Client(t, all[0], "Somebody Else")
		o := all[0].For(&stranger)
		rep := storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		c := storetest.ClaimReport(t, all[0])
		file := fileOf(1, 10)
		writeFile(t, c, file)
		complete(t, c, file)
		mine := storetest.Must[reports.Report](t)(all[0].For(&who).Report(t.Context(), rep.ID))
		if _, err := o.Report(t.Context(), rep.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
		if err := o.DeleteReport(t.Context(), rep.ID, storetest.ReportChange(rep, now.Now(), audit.ReportDelete)); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
		if total := storetest.Must[int64](t)(o.Reports(t.Context(), reports.ReportQuery{Page: 1, Limit: 10}, func(r *reports.Report) { t.Errorf("shows %+v", r) })); total != 0 {
			t.Errorf("counts %d", total)
		}
		if err := o.ReportBytes(t.Context(), &mine, 0, 10, func([]byte) error { return nil }); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	})
}

func TestReportIsMadeOnceByItsKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		key := &idempotency.Once{Key: []byte("key"), Body: []byte("body")}
		outcomes := make([]string, 9)
		storetest.Together(t, len(outcomes), func(i int) error {
			rep := storetest.NewReport(&who, reporttype.Outcomes, time.Now())
			out, err := all[i%3].For(&who).CreateReport(t.Context(), &rep, storetest.ReportChange(rep, time.Now(), audit.ReportCreate), key,
				idempotency.Outcome{Status: 201, Body: fmt.Appendf(nil, "%d", i)})
			outcomes[i] = string(out.Body)
			return err
		})
		if total := storetest.Must[int64](t)(all[0].For(&who).Reports(t.Context(), reports.ReportQuery{Page: 1, Limit: 10}, func(*reports.Report) {})); total != 1 {
			t.Errorf("%d reports", total)
		}
		if len(slices.Compact(outcomes)) != 1 {
			t.Errorf("outcomes %v", outcomes)
		}
	})
}

// A report that cannot be claimed or expired holds up no other organisation.
func TestOrganisationWithAnUnreadableReport(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		bad, good := storetest.Client(t, s, "Bad"), storetest.Client(t, s, "Good")
		broken := storetest.AddReport(t, s, &bad, reporttype.Outcomes, now.Now())
		now.Pass(time.Second)
		next := storetest.AddReport(t, s, &good, reporttype.Outcomes, now.Now())
		storetest.Exec(t, s, `UPDATE report SET client_id = $1 WHERE org_no = $2`, []byte{1}, int64(bad.Org))
		c, err := s.System().ClaimReport(t.Context(), "node", storetest.ClaimTime)
		if err != nil || c == nil || c.ID != next.ID {
			t.Fatalf("claimed %v, %v", c, err)
		}
		complete(t, c, fileOf(1, 100))
		storetest.Exec(t, s, `UPDATE report SET client_id = $1 WHERE org_no = $2`, broken.Client.Bytes(), int64(bad.Org))
		testwait.Until(t, "the other one is claimed", func() bool {
			c, err := s.System().ClaimReport(t.Context(), "node", storetest.ClaimTime)
			return err == nil && c != nil && c.ID == broken.ID
		})
	})
}
