package reports_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// addExport queues an export.
func addExport(t *testing.T, s *store.Store, who *access.Principal, f reports.ExportFormat, at time.Time) reports.Export {
	t.Helper()
	x := reports.NewExport(reports.ExportRequest{Format: f, Parameters: `{"include":["patients"]}`}, who.ClientID, at)
	change := journal.Change{Audit: audit.Entry{At: at, Actor: "test", Action: audit.ExportCreate, Resource: x.ID.String()}}
	storetest.Must[idempotency.Outcome](t)(s.For(who).CreateExport(t.Context(), &x, change, nil, idempotency.Outcome{}))
	return x
}

// claimExport claims the next export.
func claimExport(t *testing.T, s *store.Store) *reports.ExportClaim {
	t.Helper()
	c := storetest.Must[*reports.ExportClaim](t)(s.System().ClaimExport(t.Context(), "node", storetest.ClaimTime))
	if c == nil {
		t.Fatal("there is nothing to claim")
	}
	return c
}

// storeFiles stores the two files of an export, which share a chunk.
func storeFiles(t *testing.T, c *reports.ExportClaim, one, two []byte, asOf time.Time) error {
	t.Helper()
	n := int64(0)
	for chunk := range slices.Chunk(slices.Concat(one, two), reports.ChunkSize) {
		if err := c.Append(t.Context(), n, chunk); err != nil {
			return err
		}
		n++
	}
	return c.Complete(t.Context(), asOf, 0, []reports.ExportFile{
		{Name: "one.csv", Table: "one", Rows: 1, Size: int64(len(one))},
		{Name: "two.csv", Table: "two", Rows: 2, Size: int64(len(two)), Offset: int64(len(one))},
	}, int64(len(one)+len(two)), []byte("sum"), 30*24*time.Hour)
}

func exportBytes(t *testing.T, o store.Org, x *reports.Export, name string, from, to int64) (b []byte) {
	t.Helper()
	if err := o.ExportBytes(t.Context(), x, x.File(name), from, to, func(part []byte) error {
		b = append(b, part...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

// An export is claimed apart from reports, taken over from a node that died,
// and served by every node, whether its chunks are compressed or not.
func TestExportGoesItsWay(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[1].For(&who)
		storetest.AddReport(t, all[0], &who, reporttype.Outcomes, now.Now())
		for _, format := range reports.ExportFormats {
			made := addExport(t, all[0], &who, format, now.Now())
			late := claimExport(t, all[0])
			if late.ID != made.ID || late.Tries != 1 {
				t.Fatalf("%+v", late)
			}
			if err := late.Append(t.Context(), 0, []byte("half")); err != nil {
				t.Fatal(err)
			}
			if again := storetest.Must[*reports.ExportClaim](t)(all[1].System().ClaimExport(t.Context(), "other", storetest.ClaimTime)); again != nil {
				t.Error("it can be claimed twice")
			}
			now.Pass(storetest.ClaimTime + time.Second)
			c := claimExport(t, all[1])
			if c.ID != made.ID || c.Tries != 2 {
				t.Fatalf("%+v", c)
			}
			if err := late.Append(t.Context(), 1, []byte("half")); !errors.Is(err, reports.ErrClaimLost) {
				t.Errorf("the late node wrote: %v", err)
			}
			if err := c.Renew(t.Context(), storetest.ClaimTime, 40); err != nil {
				t.Fatal(err)
			}
			one, two := bytes.Repeat([]byte("a,b,c\r\n"), reports.ChunkSize/10), fileOf(3, reports.ChunkSize+5)
			if err := storeFiles(t, c, one, two, now.Now()); err != nil {
				t.Fatal(err)
			}
			got := storetest.Must[reports.Export](t)(all[0].For(&who).Export(t.Context(), made.ID))
			if got.Status != reports.Completed || got.Format != format || !got.AsOf.Equal(now.Now()) || len(got.Files) != 2 || got.Size != int64(len(one)+len(two)) {
				t.Errorf("%+v", got)
			}
			for _, r := range [][2]int64{{0, int64(len(two))}, {0, 1}, {reports.ChunkSize - 3, reports.ChunkSize + 1}, {int64(len(two)) - 1, int64(len(two))}, {7, 7}} {
				if part := exportBytes(t, o, &got, "two.csv", r[0], r[1]); !bytes.Equal(part, two[r[0]:r[1]]) {
					t.Errorf("%s: bytes %v differ", format, r)
				}
			}
			if !bytes.Equal(exportBytes(t, o, &got, "one.csv", 0, int64(len(one))), one) {
				t.Errorf("%s: the first file differs", format)
			}
		}
		if events := reportEvents(t, all[0], o); !slices.Equal(events, slices.Repeat([]string{string(event.ExportCompleted)}, len(reports.ExportFormats))) {
			t.Errorf("%v", events)
		}
		// The report was neither claimed nor counted with them.
		if c := storetest.ClaimReport(t, all[0]); c.Type != reporttype.Outcomes {
			t.Errorf("%+v", c)
		}
		none := func(*reports.Report) {}
		if n := storetest.Must[int64](t)(o.Reports(t.Context(), reports.ReportQuery{Page: 1, Limit: 10}, none)); n != 1 {
			t.Errorf("%d reports", n)
		}
		if n := storetest.Must[int64](t)(o.Reports(t.Context(), reports.ReportQuery{Status: reports.Completed, Page: 1, Limit: 10}, none)); n != 0 {
			t.Errorf("%d completed reports", n)
		}
		if n := storetest.Must[int64](t)(o.Exports(t.Context(), reports.ExportQuery{Status: reports.Completed, Page: 1, Limit: 10}, func(*reports.Export) {})); n != 3 {
			t.Errorf("%d exports", n)
		}
	})
}

// An export that is started again and again fails, and says so.
func TestExportFailsInTheEnd(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "north")
		made := addExport(t, s, &who, reports.Parquet, now.Now())
		for range 5 {
			claimExport(t, s)
			now.Pass(storetest.ClaimTime + time.Second)
		}
		if c := storetest.Must[*reports.ExportClaim](t)(s.System().ClaimExport(t.Context(), "node", storetest.ClaimTime)); c != nil {
			t.Error("it is started once more")
		}
		got := storetest.Must[reports.Export](t)(s.For(&who).Export(t.Context(), made.ID))
		if err := got.Downloadable(now.Now()); got.Status != reports.Failed || !fault.Is(err, fault.ExportFailed) || !strings.Contains(got.Error, "five times") {
			t.Errorf("%+v: %v", got, err)
		}
		if events := reportEvents(t, s, s.For(&who)); !slices.Equal(events, []string{string(event.ExportFailed), string(event.SystemAlert)}) {
			t.Errorf("%v", events)
		}
	})
}

// EraseExports leaves nothing of any export of the organisation, and nothing
// else is touched.
func TestEraseExports(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		north, south := storetest.Client(t, s, "north"), storetest.Client(t, s, "south")
		storetest.AddReport(t, s, &north, reporttype.Outcomes, now.Now())
		done := addExport(t, s, &north, reports.ExportCSV, now.Now())
		if err := storeFiles(t, claimExport(t, s), []byte("secret of north"), []byte("x"), now.Now()); err != nil {
			t.Fatal(err)
		}
		addExport(t, s, &north, reports.ExportCSV, now.Now())
		running := claimExport(t, s)
		addExport(t, s, &north, reports.ExportCSV, now.Now()) // waits
		kept := addExport(t, s, &south, reports.ExportCSV, now.Now())
		o := s.For(&north)
		if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
			n, err := o.EraseExports(tx)
			if n != 3 {
				t.Errorf("%d deleted", n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Export(t.Context(), done.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
		if err := storeFiles(t, running, []byte("late"), nil, now.Now()); !errors.Is(err, reports.ErrClaimLost) {
			t.Errorf("the running one wrote: %v", err)
		}
		purge(t, s)
		if n := storetest.Number(t, s, `SELECT count(*) FROM report_chunk`); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
		if n := storetest.Must[int64](t)(o.Exports(t.Context(), reports.ExportQuery{Page: 1, Limit: 10}, func(*reports.Export) {})); n != 0 {
			t.Errorf("%d exports", n)
		}
		if n := storetest.Must[int64](t)(o.Reports(t.Context(), reports.ReportQuery{Page: 1, Limit: 10}, func(*reports.Report) {})); n != 1 {
			t.Errorf("%d reports", n)
		}
		if c := claimExport(t, s); c.ID != kept.ID {
			t.Errorf("%+v", c)
		}
	})
}

// An organisation has at most 100 exports, and may delete one to create another.
func TestMostExports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who, other := storetest.Client(t, s, "north"), storetest.Client(t, s, "south")
		now := time.Now()
		create := func() error {
			x := reports.NewExport(reports.ExportRequest{Format: reports.ExportCSV, Parameters: `{"include":["patients"]}`}, who.ClientID, now)
			_, err := s.For(&who).CreateExport(t.Context(), &x, journal.Change{Audit: audit.Entry{At: now, Actor: "test", Action: audit.ExportCreate, Resource: x.ID.String()}}, nil, idempotency.Outcome{})
			return err
		}
		first := addExport(t, s, &who, reports.ExportCSV, now)
		for range 99 {
			if err := create(); err != nil {
				t.Fatal(err)
			}
		}
		claimExport(t, s)
		if err := create(); !fault.Is(err, fault.Conflict) {
			t.Errorf("one too many: %v", err)
		}
		addExport(t, s, &other, reports.ExportCSV, now)
		if err := s.For(&who).DeleteExport(t.Context(), first.ID, journal.Change{Audit: audit.Entry{At: now, Actor: "test", Action: audit.ExportDelete, Resource: first.ID.String()}}); err != nil {
			t.Fatal(err)
		}
		if err := create(); err != nil {
			t.Errorf("after deleting one: %v", err)
		}
	})
}
