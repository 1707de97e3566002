package bench

import (
	"runtime"
	"sync"
	"time"
)

// worth is how much all processors do at once, as a multiple of what one does
// alone: those that are halves of one core, or that others use too, are worth
// less than their number. Of several tries the best of each counts. It is
// measured once: a run that follows another is on the same machine.
var worth = sync.OnceValue(func() float64 {
	const tries = 10
	alone, together := time.Duration(1<<62), time.Duration(1<<62)
	for range tries {
		alone = min(alone, busy(1))
		together = min(together, busy(runtime.NumCPU()))
	}
	return multiple(runtime.NumCPU(), alone, together)
})

// multiple is what so many workers do in the time of one, when one takes alone
// and all together take together.
func multiple(workers int, alone, together time.Duration) float64 {
	return float64(workers) * float64(alone) / float64(together)
}

// busy is how long several workers take who do the same at once.
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

// spin keeps a processor busy for some milliseconds, with several sums that do
// not wait for each other, as most programs have.
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
