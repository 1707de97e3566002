package store_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// eraserEnv holds the configuration of a process that only erases.
const eraserEnv = "ANODYNE_TEST_ERASER"

// eraser is the configuration of such a process.
type eraser struct {
	Database, DataDir string
	Org               access.OrgNo
	Patients          []id.Patient
}

// TestEraser is not a test: it is the main function of a process that erases
// patients until it is killed. It does nothing in an ordinary test run.
func TestEraser(t *testing.T) {
	told := os.Getenv(eraserEnv)
	if told == "" {
		return
	}
	var me eraser
	if err := json.Unmarshal([]byte(told), &me); err != nil {
		t.Fatal(err)
	}
	s := storetest.Start(t, store.Config{Database: me.Database, DataDir: me.DataDir})
	o := s.For(&access.Principal{Org: me.Org})
	fmt.Println("erasing")
	for _, patientID := range me.Patients {
		err := o.ErasePatient(context.Background(), patientID, "asked for it", audit.Entry{At: time.Now(), Actor: "test"})
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			t.Fatal(err)
		}
		if err := s.System().FinishErasures(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	select {} // until it is killed
}

// A process that erases is killed over and over. Afterwards every patient is
// either whole or gone without a trace, and the log is what was sealed.
func TestFaultEraseSurvivesKill(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		const n = 16
		var people []id.Patient
		mark := func(i int) string { return fmt.Sprintf("zqx%02dmarker", i) }
		for i := range n {
			p := storetest.AddPatient(t, o, mark(i))
			people = append(people, p.ID)
			if err := storetest.AddRecords(t.Context(), o, p.ID, storetest.Record(t, p.ID, `{"data_type":"notes","value":{"text":"`+mark(i)+`"}}`)); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Settle(t, s)
		storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
		for _, enough := range []int64{1, 5, 10} {
			told, err := json.Marshal(eraser{cfg.Database, cfg.DataDir, who.Org, people})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestEraser$")
			cmd.Env = append(os.Environ(), eraserEnv+"="+string(told))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if line != "erasing\n" {
				t.Errorf("the eraser says %q, %v", line, err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for storetest.Number(t, s, `SELECT count(*) FROM patient_gone`) < enough {
				select {
				case err := <-ended:
					t.Fatalf("the eraser ended by itself: %v", err)
				default:
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = storetest.Start(t, cfg)
		if err := s.System().FinishErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		tables, files := rows(t, s), []byte(nil)
		if s.Engine() == storetest.SQLite {
			files = contents(t, cfg.DataDir, filepath.Dir(storetest.FileOf(cfg)))
		}
		gone := 0
		for i, patientID := range people {
			_, err := s.For(&who).Patient(t.Context(), patientID)
			whole, left := err == nil, bytes.Count(tables, []byte(mark(i)))
			if !whole {
				gone++
			}
			if whole && left < 2 || !whole && (left > 0 || bytes.Contains(files, []byte(mark(i)))) {
				t.Errorf("patient %d: %v, and its mark is there %d times", i, err, left)
			}
		}
		if gone < 10 {
			t.Errorf("only %d are gone", gone)
		}
		storetest.Settle(t, s)
		storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
		watched, err := s.System().WatchSeals(t.Context())
		if len(watched) > 0 || err != nil {
			t.Errorf("%q, %v", watched, err)
		}
		storetest.Clean(t, s)
	})
}
