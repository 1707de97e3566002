package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultDiskFullReports generates reports until the disk of the SQLite file
// is full. Once there is space again, each is completed or explains why not,
// and downloads in the meantime get a whole file or an error.
func TestFaultDiskFullReports(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	dir := storetest.Tmpfs(t, "512m")
	s := &service{t, storetest.SQLite, "sqlite:" + filepath.Join(dir, "anodyne.db"), dir}
	n := s.node(0)
	c := n.as(s.register("enterprise"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	prescribe(t, ctx, c)
	var asked []string
	for range faulttest.Rounds(t, 1) {
		storetest.Tighten(t, dir, 4<<20)
		before := len(n.stderr.String())
		end := downloads(t, ctx, c)
		asked = append(asked, askUntilFull(t, ctx, c)...)
		eventually(t, patience, "reports wait", func() bool {
			said := n.stderr.String()[before:]
			return strings.Contains(said, "report postponed") || strings.Contains(said, "could not read the report queue") || strings.Contains(said, "could not save the report's status")
		})
		eventually(t, patience, "readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
		storetest.Resize(t, dir, "512m")
		failed := 0
		for _, id := range asked {
			if wholeReport(t, ctx, c, id).Status == client.ReportFailed {
				failed++
			}
		}
		toldOnce(t, ctx, c, asked)
		whole, refused := end()
		t.Logf("%d reports, of which %d failed; %d downloads were whole, %d refused", len(asked), failed, whole, refused)
	}
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.check()
}

// askUntilFull requests reports, faster than they are generated, until a
// response says that the disk is full.
func askUntilFull(t *testing.T, ctx context.Context, c *client.Client) (asked []string) {
	t.Helper()
	all := newLedger(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	for range 16 {
		group.Go(func() {
			for i := 0; !all.said("disk is full"); i++ {
				report, err := c.CreateReport(ctx, someReport(i))
				switch {
				case err == nil:
					mu.Lock()
					asked = append(asked, report.ID)
					mu.Unlock()
				case client.IsCode(err, client.CodeServiceUnavailable):
					all.away503(err)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return asked
}

// downloads downloads completed reports beside the test, until end is called,
// which says how many were whole and how many were refused.
func downloads(t *testing.T, ctx context.Context, c *client.Client) (end func() (whole, refused int)) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	whole, refused := 0, 0
	pace := time.Tick(20 * time.Millisecond) // within the allowance of an hour
	group.Go(func() {
		for ctx.Err() == nil {
			<-pace
			page, err := c.Reports(ctx, client.ReportQuery{Status: client.ReportCompleted, Limit: 10})
			if err == nil {
				for _, report := range page.Data {
					if _, err = c.DownloadReport(ctx, report.ID, io.Discard); err != nil {
						break
					}
					whole++
				}
			}
			switch {
			case ctx.Err() != nil || err == nil:
			case client.IsCode(err, client.CodeServiceUnavailable):
				refused++
			default:
				t.Errorf("a download is neither whole nor refused: %v", err)
			}
		}
	})
	return func() (int, int) {
		cancel()
		group.Wait()
		return whole, refused
	}
}

// TestFaultDiskFullBackup backs up a database under load to a separate disk
// without enough room: the command reports that and leaves nothing behind, and
// the service continues. TestFaultDiskFull does so on the disk of the
// database.
func TestFaultDiskFullBackup(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	s := newService(t, storetest.SQLite)
	dir := storetest.Tmpfs(t, "64k")
	n := s.node(0)
	apps := []application{s.register("enterprise")}
	clients := dial(n, apps)
	all := newLoad(newLedger(t), faulttest.Seed(t))
	end := all.background(clients)
	all.answered(t, patience, 500)
	for i := range faulttest.Rounds(t, 2) {
		noRoomForBackup(t, s, filepath.Join(dir, fmt.Sprint("backup-", i)))
	}
	all.answered(t, patience, 100)
	end()
	storetest.Resize(t, dir, "64m")
	file := filepath.Join(dir, "backup")
	s.must("backup", file)
	s.must("backup", "--verify", file)
	all.verifyAll(clients)
	n.terminate()
	s.check()
}

// noRoomForBackup makes a backup that fails for want of space.
func noRoomForBackup(t *testing.T, s *service, file string) {
	t.Helper()
	if p := s.anodyne("backup", file); p.code != 1 || !strings.Contains(p.stderr.String(), "disk is full") {
		t.Errorf("backup: exit code %d, %s", p.code, p.stderr)
	}
	left, err := filepath.Glob(file + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
