package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// mostGarbage is how much garbage, in percent of what lives, may lie before
	// it is collected. A server keeps little alive, so that costs some tens of
	// megabytes and saves most of the collector's work.
	mostGarbage = 400
	// spareBytes bounds the garbage: patients in memory must not make it grow
	// with them. They hardly have pointers, so looking through them is cheap.
	spareBytes = 64 << 20
	// leastGarbage is where the collector would run all the time.
	leastGarbage = 25
)

// garbagePercent is how much garbage may lie beside so many bytes that live.
func garbagePercent(live uint64) int {
	return int(max(leastGarbage, min(mostGarbage, spareBytes*100/max(1, live))))
}

// boundGarbage sets the collector by what lives, now and after each collection,
// until stop is called.
func boundGarbage() (stop func()) {
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
		if next := garbagePercent(live[0].Value.Uint64()); next != percent {
			percent = next
			debug.SetGCPercent(next)
		}
		// It is told of the next collection by an object that nobody keeps.
		runtime.AddCleanup(&[32]byte{}, collected, struct{}{})
	}
	collected(struct{}{})
	return func() { close(stopped) }
}
