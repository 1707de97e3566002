package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// segments lists the files of a spool.
func segments(t *testing.T, dataDir string) []string {
	t.Helper()
	return storetest.Must[[]string](t)(filepath.Glob(filepath.Join(dataDir, "spool", "*")))
}

func TestReadsArriveInTheAuditLog(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who, other := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Theirs")
		var want []string
		for i := range journal.PackLines + 10 {
			want = append(want, fmt.Sprint("r", i))
			storetest.Saw(t, s.For(&who), want[i])
		}
		storetest.Saw(t, s.For(&other), "another's")
		if got := storetest.Reads(t, s.For(&who)); len(got) != 0 {
			t.Errorf("%d lines are there before they were shipped", len(got))
		}
		storetest.Ship(t, s)
		storetest.Ship(t, s)
		if got := storetest.Reads(t, s.For(&who)); !slices.Equal(got, want) {
			t.Errorf("%d lines arrived, want %d in order", len(got), len(want))
		}
		if got := storetest.Reads(t, s.For(&other)); !slices.Equal(got, []string{"another's"}) {
			t.Errorf("the other organisation has %v", got)
		}
		if left := segments(t, cfg.DataDir); len(left) != 1 {
			t.Errorf("%d segments are left, want the open one", len(left))
		}
		if n := storetest.Number(t, s, `SELECT count(*) FROM journal WHERE packed > 0`); n != 3 {
			t.Errorf("the lines are in %d entries, want 3", n)
		}
	})
}

// Lines are added while segments are shipped, by this process and another in
// the same directory.
func TestShippingWhileReadsGoOn(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		all := []*store.Store{storetest.Start(t, cfg), storetest.Start(t, cfg)}
		who := storetest.Client(t, all[0], "Ours")
		storetest.Together(t, 8, func(i int) error {
			o := all[i%2].For(&who)
			for j := range 50 {
				if err := o.Saw(&audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: fmt.Sprint(i, "-", j)}); err != nil {
					return err
				}
				if j%10 == 9 {
					if err := all[(i+j)%2].System().ShipReads(t.Context()); err != nil {
						return err
					}
				}
			}
			return nil
		})
		storetest.Ship(t, all[0])
		storetest.Ship(t, all[1])
		got := storetest.Reads(t, all[0].For(&who))
		slices.Sort(got)
		if n := len(got); n != 400 || len(slices.Compact(got)) != 400 {
			t.Errorf("%d lines arrived, %d of them different; want 400", n, len(slices.Compact(got)))
		}
	})
}

// orphan creates a segment as left by a killed process.
func orphan(t *testing.T, dataDir, name, content string) string {
	t.Helper()
	path := filepath.Join(dataDir, "spool", name+".spool")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func line(org any, resource string) string {
	e := audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: resource}
	return fmt.Sprintf("%d %s\n", org, e.Append(nil))
}

func TestSegmentsOfTheDeadAreTakenOver(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "Ours")
		torn := line(who.Org, "torn")
		orphan(t, cfg.DataDir, "dead", line(who.Org, "one")+"no line\n"+line(who.Org, "two")+torn[:len(torn)-9])
		// A process that crashed after the commit and before it removed the
		// file.
		shipped := orphan(t, cfg.DataDir, "shipped", line(who.Org, "three"))
		storetest.Ship(t, s)
		if _, err := os.Stat(shipped); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the segment is still there: %v", err)
		}
		orphan(t, cfg.DataDir, "shipped", line(who.Org, "three"))
		// A process that is alive, and one that ended cleanly.
		living := storetest.Start(t, cfg)
		storetest.Saw(t, living.For(&who), "living")
		ended := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
		storetest.Saw(t, ended.For(&who), "ended")
		if err := ended.Close(); err != nil {
			t.Fatal(err)
		}
		storetest.Ship(t, s)
		got := storetest.Reads(t, s.For(&who))
		slices.Sort(got)
		if want := []string{"ended", "one", "three", "two"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if left := segments(t, cfg.DataDir); len(left) != 2 {
			t.Errorf("left are %v, want the segments of the two that live", left)
		}
	})
}

// In a Citus cluster, a coordinator that is killed during a commit can lose the
// names of segments whose lines a worker has stored.
func TestLinesAreFoundWithoutTheNameOfTheirSegment(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who, other := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Theirs")
		saw := func(what string) {
			for i := range journal.PackLines + 10 {
				storetest.Saw(t, s.For(&who), fmt.Sprint(what, i))
			}
			storetest.Saw(t, s.For(&other), what)
		}
		shipAgain := func(settle bool) {
			t.Helper()
			segment := segments(t, cfg.DataDir)[0]
			content := storetest.Must[[]byte](t)(os.ReadFile(segment))
			if err := s.System().ShipReads(t.Context()); err != nil {
				t.Fatal(err)
			}
			if settle {
				storetest.Settle(t, s)
			}
			storetest.Exec(t, s, `DELETE FROM spool_segment`)
			if err := os.WriteFile(segment, content, 0o600); err != nil {
				t.Fatal(err)
			}
			storetest.Ship(t, s)
		}
		saw("first")
		shipAgain(true)
		saw("second")
		shipAgain(false)
		storetest.Settle(t, s)
		for _, who := range []*access.Principal{&who, &other} {
			got := storetest.Reads(t, s.For(who))
			if all := len(got); all == 0 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != all {
				t.Errorf("%d lines, some of them twice", all)
			}
		}
		if n := len(storetest.Reads(t, s.For(&who))); n != 2*(journal.PackLines+10) {
			t.Errorf("%d lines, want %d", n, 2*(journal.PackLines+10))
		}
		if left := segments(t, cfg.DataDir); len(left) != 1 {
			t.Errorf("%d segments are left, want the open one", len(left))
		}
	})
}

// Reads at the same time are all recorded, or refused. Where many are answered at
// once, they share a write.
func TestSpoolOfManyReads(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Ours")
		const reads = 20
		saw := func() (errs []error) {
			gathered, release := journal.HoldSpool(s.Journal())
			all := make(chan error, reads)
			for i := range reads {
				go func() {
					all <- s.For(&who).Saw(&audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: fmt.Sprint(i)})
				}()
			}
			together := !s.Database().Dialect().Gathers || testwait.Within(testwait.Bound, func() bool { return gathered() == reads })
			release()
			if !together {
				t.Error("the lines are not written together")
			}
			for range reads {
				errs = append(errs, <-all)
			}
			return errs
		}
		for _, err := range saw() {
			if err != nil {
				t.Error(err)
			}
		}
		storetest.Ship(t, s)
		if got := storetest.Reads(t, s.For(&who)); len(got) != reads {
			t.Errorf("recorded are %v", got)
		}
		journal.BreakSpool(t, s.Journal())
		for _, err := range saw() {
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("error %v", err)
			}
		}
	})
}

// Reads that cannot be recorded are rejected; waiting lines are kept.
func TestSpoolThatFails(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	storetest.Saw(t, s.For(&who), "kept")
	storetest.Exec(t, s, `DROP TABLE spool_segment`)
	if err := s.System().ShipReads(t.Context()); err == nil || !strings.Contains(err.Error(), "are pending in") {
		t.Errorf("shipping: %v", err)
	}
	storetest.Exec(t, s, `CREATE TABLE spool_segment (segment TEXT PRIMARY KEY, shipped_at INTEGER NOT NULL)`)
	storetest.Ship(t, s)
	if got := storetest.Reads(t, s.For(&who)); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("got %v", got)
	}

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := s.For(&who).Saw(&audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: "x"})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("a spool that cannot be written says %v", err)
	}
}

// Whoever needs the lines of a read in the log now also gets those that are
// being shipped at the moment.
func TestFlushAwaitsAShipment(t *testing.T) {
	cfg := storetest.Database(t, storetest.Postgres)
	barrier := &storetest.Barrier{}
	barrier.Watch(&cfg)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	storetest.Saw(t, o, "read")
	arrived, release := barrier.Hold("INTO spool_segment", 1)
	defer release()
	shipped, flushed := make(chan error, 1), make(chan error, 1)
	go func() { shipped <- s.System().ShipReads(t.Context()) }()
	<-arrived
	go func() { flushed <- o.FlushReads(t.Context()) }()
	select {
	case err := <-flushed:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(50 * time.Millisecond): // in case it does not wait
	}
	release()
	if err := errors.Join(<-shipped, <-flushed); err != nil {
		t.Fatal(err)
	}
	if got := storetest.Reads(t, o); !slices.Equal(got, []string{"read"}) {
		t.Errorf("the log has %q", got)
	}
}
