package testneed

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// spyTB stands in for a test that skips itself, so that a test can examine how
// it ended.
type spyTB struct {
	testing.TB
	ending string
	logs   []string
}

func (s *spyTB) Helper()      {}
func (s *spyTB) Name() string { return "TestSpied" }

func (s *spyTB) Logf(format string, args ...any) {
	s.logs = append(s.logs, fmt.Sprintf(format, args...))
}

func (s *spyTB) Fatalf(format string, args ...any) {
	s.ending = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (s *spyTB) Skip(args ...any) {
	s.ending = "skipped: " + fmt.Sprint(args...)
	runtime.Goexit()
}

// spy runs Skip as a test would and returns how that ended.
func spy(reason string) *spyTB {
	s := &spyTB{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Skip(s, reason)
	}()
	<-done
	return s
}

func TestSkip(t *testing.T) {
	const line = "no tea in the house\tanodyne.example/anodyne/internal/testneed\tTestSpied\n"
	for _, c := range []struct {
		name, noSkip, ending, recorded string
	}{
		{"allowed", "", "skipped: no tea\nin the house", line},
		{"forbidden", "1", "failed: no tea\nin the house (ANODYNE_TEST_NO_SKIP=1 forbids skipping)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "skips")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv(skipsEnv, path)
			t.Setenv(noSkipEnv, c.noSkip)

			if got := spy("no tea\nin the house"); got.ending != c.ending {
				t.Errorf("the test %s, want %s", got.ending, c.ending)
			}
			recorded, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(recorded) != c.recorded {
				t.Errorf("recorded %q, want %q", recorded, c.recorded)
			}
		})
	}
}

func TestSkipWithoutSummary(t *testing.T) {
	t.Setenv(noSkipEnv, "")

	t.Setenv(skipsEnv, "")
	if got := spy("no tea"); got.ending != "skipped: no tea" || len(got.logs) != 0 {
		t.Errorf("without a file: %s, logged %q", got.ending, got.logs)
	}

	t.Setenv(skipsEnv, filepath.Join(t.TempDir(), "missing"))
	if got := spy("no tea"); got.ending != "skipped: no tea" || len(got.logs) != 1 {
		t.Errorf("with a file that is not there: %s, logged %q, want one line", got.ending, got.logs)
	}
}
