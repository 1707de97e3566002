package patients_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// transactorEnv holds the configuration of a process that only performs
// transactions.
const transactorEnv = "ANODYNE_TEST_TRANSACTOR"

// transactor is the configuration of such a process.
type transactor struct {
	Database, DataDir string
	Org               access.OrgNo
}

// The entries of each of its transactions: 1,000 in all.
const (
	newPeople  = 50
	newRecords = 19 // of each
)

// transactionOf returns the writes of a transaction.
func transactionOf(t *testing.T, name string) (writes []patients.Write) {
	for i := range newPeople {
		p := identified(name, mrn(fmt.Sprint(name, " ", i)))
		writes = append(writes, p)
		for n := range newRecords {
			writes = append(writes, addition(p.Patient.ID, storetest.Record(t, p.Patient.ID, fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":"2024-05-%02d","value":{"score":4}}`, n+1))))
		}
	}
	return writes
}

// TestTransactor is not a test: it is the main function of a process that
// performs transactions until it is killed. It does nothing in an ordinary test
// run.
func TestTransactor(t *testing.T) {
	told := os.Getenv(transactorEnv)
	if told == "" {
		return
	}
	var me transactor
	if err := json.Unmarshal([]byte(told), &me); err != nil {
		t.Fatal(err)
	}
	s := storetest.Start(t, store.Config{Database: me.Database, DataDir: me.DataDir})
	o := s.For(&access.Principal{Org: me.Org})
	fmt.Println("writing")
	for n := 0; ; n++ {
		if err := writeAll(context.Background(), o, transactionOf(t, fmt.Sprint(os.Getpid(), " ", n))...); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that performs transactions of 1,000 entries is killed over and over.
// Each transaction is there with all that follows from it, or not at all.
func TestFaultTransactionSurvivesKill(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "General Hospital")
		done := int64(0)
		for round := range faulttest.Rounds(t, 4) {
			told, err := json.Marshal(transactor{cfg.Database, storetest.Node(t, cfg).DataDir, who.Org})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestTransactor$")
			cmd.Env = append(os.Environ(), transactorEnv+"="+string(told))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "writing\n" {
				t.Errorf("the process says %q, %v", line, err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for storetest.Number(t, s, `SELECT count(*) FROM patient`) <= done+int64(round%2)*newPeople {
				select {
				case err := <-ended:
					t.Fatalf("the process ended by itself: %v", err)
				default:
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
			people, records := storetest.Number(t, s, `SELECT count(*) FROM patient`), storetest.Number(t, s, `SELECT count(*) FROM clinical_record`)
			identifiers, counter := storetest.Number(t, s, `SELECT count(*) FROM patient_identifier`), storetest.Number(t, s, `SELECT patients FROM org_counter WHERE org_no = $1`, int64(who.Org))
			if people%newPeople != 0 || records != people*newRecords || identifiers != people || counter != people {
				t.Fatalf("%d patients, %d records, %d identifiers, counted %d", people, records, identifiers, counter)
			}
			done = people
		}
		storetest.Settle(t, s)
		if entries := storetest.Number(t, s, `SELECT count(*) FROM journal WHERE subject IS NOT NULL`); entries != done*(1+newRecords) {
			t.Errorf("%d entries of the journal for %d writes", entries, done*(1+newRecords))
		}
		storetest.Clean(t, s)
	})
}
