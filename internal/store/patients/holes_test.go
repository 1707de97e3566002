package patients

import (
	"math/rand/v2"
	"testing"
)

// A page starts where a reader that counts every number finds it, and skips
// fewer patients than a block has numbers.
func TestPageStart(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	const numbers = 5*HoleBlock + 100
	for _, oneIn := range []int{1, 2, 3, 50, 4000} {
		var here []int64
		holes := map[int64]int64{}
		for no := int64(1); no <= numbers; no++ {
			// The second block has no holes, and the fourth nothing else.
			block := (no - 1) / HoleBlock
			if gone := random.IntN(oneIn) == 0; block != 1 && gone || block == 3 {
				holes[block]++
			} else {
				here = append(here, no)
			}
		}
		for skip := int64(0); skip <= int64(len(here))+3; skip++ {
			start := pageStart{skip: skip}
			for block := range int64(numbers/HoleBlock + 1) {
				if holes[block] > 0 {
					start.pass(block, holes[block])
				}
			}
			first, offset := start.at()
			if offset < 0 || offset >= HoleBlock {
				t.Fatalf("%d patients before the page: %d are skipped", skip, offset)
			}
			at := firstFrom(here, first) + offset
			if want := min(skip, int64(len(here))); min(at, int64(len(here))) != want {
				t.Fatalf("%d patients before the page: it starts after %d (number %d, %d skipped)", skip, at, first, offset)
			}
		}
	}
}

// firstFrom returns how many patients have a lower number.
func firstFrom(here []int64, no int64) (before int64) {
	low, high := 0, len(here)
	for low < high {
		if middle := (low + high) / 2; here[middle] < no {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return int64(low)
}
