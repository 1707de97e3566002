package patients_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// sweeperEnv holds the configuration of a process that only sweeps.
const sweeperEnv = "ANODYNE_TEST_SWEEPER"

// sweeper is the configuration of such a process.
type sweeper struct {
	Database, DataDir string
	Now               time.Time
}

// TestSweeper is not a test: it is the main function of a process that sweeps
// until it is killed. It does nothing in an ordinary test run.
func TestSweeper(t *testing.T) {
	told := os.Getenv(sweeperEnv)
	if told == "" {
		return
	}
	var me sweeper
	if err := json.Unmarshal([]byte(told), &me); err != nil {
		t.Fatal(err)
	}
	s := storetest.Start(t, store.Config{Database: me.Database, DataDir: me.DataDir, Now: func() time.Time { return me.Now }})
	fmt.Println("sweeping")
	for {
		if err := s.System().SweepAlerts(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// sweepInProcess starts a node that sweeps in its own process. ended receives
// its result when it ends.
func sweepInProcess(t *testing.T, cfg store.Config, now time.Time) (kill func() error, ended <-chan error) {
	t.Helper()
	told, err := json.Marshal(sweeper{cfg.Database, storetest.Node(t, cfg).DataDir, now})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSweeper$")
	cmd.Env = append(os.Environ(), sweeperEnv+"="+string(told))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "sweeping\n" {
		t.Errorf("the sweeper says %q, %v", line, err)
	}
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	return cmd.Process.Kill, end
}

// Two nodes that sweep are killed over and over; the alert for every patient is
// raised exactly once.
func TestFaultSweepSurvivesKill(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		c := &storetest.Clock{At: time.Date(2024, 12, 20, 10, 30, 0, 0, time.UTC)}
		cfg.Now = c.Now
		all, who := storetest.Nodes(t, 1, func() *store.Store { return storetest.Start(t, storetest.Node(t, cfg)) })
		s, o := all[0], all[0].For(&who)
		const n = 40
		patients := due(t, c, o, n)
		c.Pass(day)
		for _, enough := range []int64{1, 5, 12, 25} {
			kill, ended := sweepInProcess(t, cfg, c.Now())
			killOther, otherEnded := sweepInProcess(t, cfg, c.Now())
			for storetest.Number(t, s, `SELECT count(*) FROM alert_state WHERE level = 50`) < enough {
				select {
				case err := <-ended:
					t.Fatalf("a sweeper ended by itself: %v", err)
				default:
				}
			}
			if err := errors.Join(kill(), killOther()); err != nil {
				t.Fatal(err)
			}
			<-ended
			<-otherEnded
		}
		if err := s.System().SweepAlerts(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, p := range patients {
			if got := alertsOf(t, s, o, p, 0); len(got) != 1 || got[0] != "2024-12-21 high_dose_opioid 50" {
				t.Errorf("patient %d: alerted %q", i, got)
			}
		}
	})
}

// The worker sweeps as soon as it runs, and ends with its context.
func TestKeepAlerted(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		due(t, c, o, 1)
		storetest.Settle(t, all[0])
		_, pos, err := o.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		c.Pass(day)
		storetest.Run(t, all...)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- all[0].System().KeepAlerted(ctx) }()
		events, _, err := o.WaitEvents(t.Context(), pos, 1)
		if err != nil || len(events) != 1 || events[0].Type != "system.alert" {
			t.Errorf("came %v, %v", events, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}
