package bench

import (
	"runtime"
	"sync"
	"time"
)

// worth is the throughput of all CPUs together, as a multiple of one: CPUs
// that are hyperthreads, or shared with others, are worth less than their
// number. The best of several attempts counts. It is measured once per
// process.
var worth = sync.OnceValue(func() float64 {
	const tries = 10
	alone, together := time.Duration(1<<62), time.Duration(1<<62)
	for range tries {
		alone = min(alone, busy(1))
		together = min(together, busy(runtime.NumCPU()))
	}
	return multiple(runtime.NumCPU(), alone, together)
})

// multiple returns the throughput of several workers relative to one, given
// the times of one alone and of all together.
func multiple(workers int, alone, together time.Duration) float64 {
	return float64(workers) * float64(alone) / float64(together)
}

// busy returns the time that several workers take for the same work in
// parallel.
func busy(workers int) time.Duration {
	start := time.Now()
	var group sync.WaitGroup
	results := make([]uint64, workers)
	for i := range workers {
		group.Go(func() { results[i] = spin() })
	}
	group.Wait()
	runtime.KeepAlive(results)
	return time.Since(start)
}

// spin keeps a CPU busy for some milliseconds with several independent sums,
// like most programs.
func spin() (all uint64) {
	var a, b, c, d uint64
	for i := range uint64(8_000_000) {
		a += i
		b ^= i
		c += a >> 3
		d ^= b + i
	}
	return a + b + c + d
}
