package e2e

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// TestFaultDiskFull fills the disk of the database under load: writes are
// rejected with a clear message, /readyz reports it, and once there is space
// again everything continues without a restart, with nothing acknowledged
// lost.
func TestFaultDiskFull(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	twoAtATime(t, func(times int) {
		t.Run("sqlite", func(t *testing.T) {
			// The audit spool is on the same disk: data is not shown if the
			// read cannot be audited.
			dir := storetest.Tmpfs(t, "512m")
			s := &service{t, storetest.SQLite, "sqlite:" + filepath.Join(dir, "anodyne.db"), dir}
			unwritable(t, s, times, func() func() {
				free := storetest.Fill(t, dir)
				noRoomForBackup(t, s, filepath.Join(dir, "backup"))
				return free
			}, false)
		})
		t.Run("postgres", func(t *testing.T) {
			dir := storetest.Tmpfs(t, "512m")
			unwritable(t, &service{t, storetest.Postgres, databaseIn(t, dir), t.TempDir()}, times, func() func() { return storetest.Fill(t, dir) }, true)
		})
	})
}

// twoAtATime makes the rounds of a fault, two on each service, so that its disk
// holds what is written meanwhile.
func twoAtATime(t *testing.T, fault func(times int)) {
	t.Helper()
	for left := faulttest.Rounds(t, 1); left > 0; left -= 2 {
		fault(min(left, 2))
	}
}

// databaseIn creates a PostgreSQL with its database in a directory, but not
// its log.
func databaseIn(t *testing.T, dir string) (dsn string) {
	t.Helper()
	place := filepath.Join(dir, "space")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	pgcluster.Reachable(t, dir)
	if u, err := user.Lookup("postgres"); os.Geteuid() == 0 && err == nil {
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(place, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	cluster := pgcluster.Start(t)
	conn, err := pgx.Connect(t.Context(), cluster.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, sql := range []string{"CREATE TABLESPACE small LOCATION '" + place + "'", "CREATE DATABASE small TABLESPACE small"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(cluster.DSN())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/small"
	return u.String()
}

// TestFaultReadOnlyFile makes the SQLite file and its log read-only under load,
// for those too who have them open.
func TestFaultReadOnlyFile(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	twoAtATime(t, func(times int) {
		t.Run("sqlite", func(t *testing.T) { readOnlyFile(t, times) })
	})
}

func readOnlyFile(t *testing.T, times int) {
	dir := newExt4(t).dir
	path := filepath.Join(dir, "anodyne.db")
	chattr := func(mode string) {
		t.Helper()
		if out, err := exec.Command("chattr", mode, path, path+"-wal").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("chattr", "-i", path, path+"-wal").Run() })
	unwritable(t, &service{t, storetest.SQLite, "sqlite:" + path, dir}, times, func() func() {
		chattr("+i")
		return func() { chattr("-i") }
	}, false)
}

// unwritable lets writes to the database's disk fail under load. The disk is
// large enough for what a fast machine writes meanwhile.
func unwritable(t *testing.T, s *service, times int, fail func() (mend func()), readable bool) {
	n := s.node(0)
	apps := []application{s.register("enterprise"), s.register("enterprise")}
	clients := dial(n, apps)
	all := newLoad(newLedger(t), faulttest.Seed(t))
	all.away = true
	for range times {
		end := all.background(clients)
		all.answered(t, 2*patience, 200)
		all.words.Clear()
		mend := fail()
		eventually(t, 2*patience, "a write that is refused for want of space", func() bool { return all.said("disk is full") })
		eventually(t, patience, "readyz to say 503", func() bool { return status(t, n, "/readyz") == http.StatusServiceUnavailable })
		if readable {
			eventually(t, patience, "a read", func() bool {
				_, err := clients[1].Patients(t.Context(), client.PatientQuery{})
				return err == nil
			})
		}
		mend()
		all.answered(t, 2*patience, 200)
		eventually(t, patience, "readyz to say 200", func() bool { return status(t, n, "/readyz") == http.StatusOK })
		end()
		all.verify(clients)
	}
	all.verifyAll(clients)
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.check()
}
