package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/testwait"
)

func TestGarbagePercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 400, 32 << 20: 200, 128 << 20: 50, 1 << 30: 25} {
		if got := garbagePercent(live, spareBytes); got != want {
			t.Errorf("beside %d bytes %d %%, want %d", live, got, want)
		}
	}
}

// What lives decides how much garbage may lie, after every collection.
func TestGarbageIsBounded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer boundGarbage(cli.Env{Lookup: func(string) (string, bool) { return "", false }}, spareBytes)()
	wait := func(what string, good func(percent uint64) bool) {
		t.Helper()
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for deadline := time.Now().Add(testwait.Bound); ; runtime.GC() {
			if metrics.Read(sample); good(sample[0].Value.Uint64()) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s it is still %d %%", what, sample[0].Value.Uint64())
			}
		}
	}
	patients := make([]byte, 256<<20)
	wait("beside 256 MiB", func(percent uint64) bool { return percent == leastGarbage })
	runtime.KeepAlive(patients)
	patients = nil
	wait("beside little", func(percent uint64) bool { return percent > 100 })
}
