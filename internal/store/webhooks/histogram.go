package webhooks

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// histogram counts latencies in buckets whose bounds grow by a quarter of an
// octave, so that a quantile is accurate to about 10 %: bucket i reaches up to
// 2^((i+1)/4) milliseconds, and the last one has no bound.
type histogram [latencyBuckets]uint64

const latencyBuckets = 60 // 2^15 ms is twice the longest attempt

func bucketOf(latency time.Duration) int {
	ms := float64(latency) / float64(time.Millisecond)
	if ms <= 1 {
		return 0
	}
	return min(int(4*math.Log2(ms)), latencyBuckets-1)
}

func (h *histogram) add(latency time.Duration) { h[bucketOf(latency)]++ }

// quantile returns the latency that a share of the attempts did not exceed,
// taken as the middle of its bucket.
func (h *histogram) quantile(share float64) time.Duration {
	total := uint64(0)
	for _, n := range h {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank := uint64(math.Ceil(share * float64(total)))
	for i, n := range h {
		if n >= rank {
			return time.Duration(math.Exp2((float64(i)+0.5)/4) * float64(time.Millisecond))
		}
		rank -= n
	}
	return 0
}

var errHistogram = errors.New("the latencies of a webhook are damaged")

// pack encodes the histogram: for each bucket that is not empty, the distance
// from the previous one and its count.
func (h *histogram) pack() []byte {
	b := make([]byte, 0, 32)
	before := -1
	for i, n := range h {
		if n > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(i-before)), n)
			before = i
		}
	}
	return b
}

// merge adds an encoded histogram.
func (h *histogram) merge(packed []byte) error {
	at := -1
	for len(packed) > 0 {
		step, size := binary.Uvarint(packed)
		if size <= 0 {
			return errHistogram
		}
		n, more := binary.Uvarint(packed[size:])
		if more <= 0 || step == 0 || step > latencyBuckets || at+int(step) >= latencyBuckets {
			return errHistogram
		}
		at += int(step)
		h[at] += n
		packed = packed[size+more:]
	}
	return nil
}

// hourOf returns the number of an hour since the epoch.
func hourOf(t time.Time) int64 { return engine.Millis(t) / time.Hour.Milliseconds() }

// packPositions encodes ascending positions as differences.
func packPositions(positions []journal.Pos) []byte {
	b := make([]byte, 0, bits.Len(uint(len(positions)))+3*len(positions))
	before := journal.Pos(0)
	for _, p := range positions {
		b = binary.AppendUvarint(b, uint64(p-before))
		before = p
	}
	return b
}

// unpackPositions decodes what packPositions encoded.
func unpackPositions(b []byte) (positions []journal.Pos) {
	at := journal.Pos(0)
	for len(b) > 0 {
		step, size := binary.Uvarint(b)
		if size <= 0 {
			return positions
		}
		at += journal.Pos(step)
		positions = append(positions, at)
		b = b[size:]
	}
	return positions
}

// wantedTypes returns a function that reports whether an endpoint wants events
// of a type.
func wantedTypes(types []event.Type) func(t []byte) bool {
	return func(t []byte) bool {
		for _, want := range types {
			if want == event.All || string(want) == string(t) {
				return true
			}
		}
		return false
	}
}
