package bench

import (
	"os"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testwait"
)

func TestProcessorTimeIsSeen(t *testing.T) {
	before := cpuOf(os.Getpid())
	for deadline, n := time.Now().Add(testwait.Bound), 0; cpuOf(os.Getpid()) < before+3*clockTick; n++ {
		if time.Now().After(deadline) {
			t.Fatalf("no processor time in %v of work (%d)", testwait.Bound, n)
		}
	}
	if got := cpuOf(os.Getpid()); got > time.Hour {
		t.Errorf("processor time %v", got)
	}
	own := cpuOf(os.Getpid()) // of a child of the process that started the test
	if got := cpuOfFamily(os.Getppid()); got < own {
		t.Errorf("processor time %v of a family, %v of a member", got, own)
	}
	if got := cpuOf(-1); got != 0 {
		t.Errorf("processor time of nobody: %v", got)
	}
}
