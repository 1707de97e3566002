package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"anodyne.example/anodyne/internal/cli"
)

const (
	// mostGarbage is the upper limit of GOGC, in percent of the live heap. The
	// live heap of a server is small, so this costs some tens of megabytes and
	// avoids most garbage collections.
	mostGarbage = 400
	// spareBytes limits the garbage so that it does not grow with the number of
	// patients in memory. Patient data has few pointers and is cheap to scan.
	spareBytes = 64 << 20
	// exportSpareBytes is the limit for the command that exports, which has a
	// small live heap and should not need more memory than the server does.
	exportSpareBytes = 32 << 20
	// bulkSpareBytes is the limit for imports, backups and restores, which
	// allocate for every row.
	bulkSpareBytes = 128 << 20
	// leastGarbage is the lower limit of GOGC, so that the collector does not
	// run all the time.
	leastGarbage = 25
)

// garbagePercent returns the GOGC value for a live heap of this many bytes, so
// that the garbage has at most spare bytes.
func garbagePercent(live, spare uint64) int {
	return int(max(leastGarbage, min(mostGarbage, spare*100/max(1, live))))
}

// boundGarbage adjusts GOGC to the live heap and spare, now and after each collection,
// until stop is called. It does nothing if the operator has set GOGC.
func boundGarbage(e cli.Env, spare uint64) (stop func()) {
	if _, set := e.Lookup("GOGC"); set {
		return func() {}
	}
	stopped := make(chan struct{})
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	percent := 0
	var collected func(struct{})
	collected = func(struct{}) {
		select {
		case <-stopped:
			return
		default:
		}
		metrics.Read(live)
		if next := garbagePercent(live[0].Value.Uint64(), spare); next != percent {
			percent = next
			debug.SetGCPercent(next)
		}
		// The cleanup of an unreachable object runs after the next collection.
		runtime.AddCleanup(&[32]byte{}, collected, struct{}{})
	}
	collected(struct{}{})
	return func() { close(stopped) }
}
