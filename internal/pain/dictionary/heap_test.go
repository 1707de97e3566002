package dictionary

import (
	"runtime"
	"testing"
)

// TestHeap limits the dictionary to a few megabytes.
func TestHeap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b, err := load()
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	runtime.KeepAlive(b)
	t.Logf("%.1f MB", float64(used)/1e6)
	if used > 6e6 {
		t.Errorf("the dictionary takes %d bytes", used)
	}
}
