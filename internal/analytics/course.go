package analytics

import (
	"math"
	"math/bits"

	"anodyne.example/anodyne/internal/pain/drug"
)

// course accumulates the course of the primary outcome over all patients.
type course struct {
	buckets   []bucketSum
	slope     sum
	direction [3]int // improving, stable, worsening
	average   sum    // time-weighted
	// events and censored count, for each day after the index date, the
	// patients who responded and those with their last score on it.
	events, censored []int32
}

func (c *course) begin(buckets int, period drug.Span) {
	c.buckets = make([]bucketSum, buckets)
	for i := range c.buckets {
		c.buckets[i].min, c.buckets[i].max = math.Inf(1), math.Inf(-1)
	}
	c.events, c.censored = make([]int32, period.Days()), make([]int32, period.Days())
}

func (c *course) merge(o *course) {
	for i := range c.buckets {
		c.buckets[i].merge(&o.buckets[i])
	}
	for i := range c.events {
		c.events[i] += o.events[i]
		c.censored[i] += o.censored[i]
	}
	c.slope.merge(&o.slope)
	c.average.merge(&o.average)
	for i := range c.direction {
		c.direction[i] += o.direction[i]
	}
}

// add counts a patient's scores of the period, from index from up to index to:
// the mean in each bucket, the slope, and the time-weighted average.
func (c *course) add(t *Track, from, to int, cal *calendar) {
	points := t.Points[from:to]
	c.addBuckets(t, from, to, cal)
	l := t.line(from, to)
	if l.weight > 0 {
		c.average.add(float64(l.area) / float64(20*l.weight))
	}
	if slope, ok := l.perWeek(len(points), points[len(points)-1].at()-points[0].at()); ok {
		c.slope.add(slope)
		c.direction[direction(slope)]++
	}
}

// addBuckets counts the mean of a patient's scores in each bucket, from index
// from up to index to. The lines hold the ends of buckets; the content of a
// bucket is the difference of two sums.
func (c *course) addBuckets(t *Track, from, to int, cal *calendar) {
	points, of, start, buckets := t.Points[:to], cal.of, cal.start, c.buckets
	span := from / lineSpan
	sum, first := points[from].before(), from // sum before the bucket, within the span
	for begin := span * lineSpan; begin < to; begin += lineSpan {
		line := &t.Lines[span]
		ends := line.ends[cal.kind]
		if begin < from {
			ends &= math.MaxUint16 << (from - begin)
		}
		if left := to - begin; left <= lineSpan {
			ends = ends&(1<<left-1) | 1<<(left-1)
		}
		for ; ends != 0; ends &= ends - 1 {
			last := begin + bits.TrailingZeros16(ends)
			p := points[last]
			upTo := p.before() + int(p.tenths())
			buckets[of[p.day()-start]].add(float64(upTo-sum) / float64(10*(last+1-first)))
			sum, first = upTo, last+1
		}
		sum -= int(line.y)
		span++
	}
}

var directions = []string{"improving", "stable", "worsening"}

// direction returns the index of a slope's direction.
func direction(perWeek float64) int {
	const least = 0.1 - tolerance
	switch {
	case perWeek <= -least:
		return 0
	case perWeek >= least:
		return 2
	}
	return 1
}

// addResponse counts when the pain of a patient first fell by 30 %, which the
// next score must confirm unless it is the last. Without a response, a patient
// counts up to the last score. The scores after the index date begin at next.
func (c *course) addResponse(t *Track, index drug.Day, base float64, next, end int) {
	if base == 0 {
		return
	}
	points := t.Points[:end]
	most := highestResponse(base)
	for next < end {
		span := next / lineSpan
		upTo := min(end, (span+1)*lineSpan)
		if int(t.Lines[span].least) > most {
			next = upTo
		}
		for ; next < upTo; next++ {
			if int(points[next].tenths()) <= most && int(points[min(next+1, end-1)].tenths()) <= most {
				c.events[points[next].day()-index]++
				return
			}
		}
	}
	c.censored[points[end-1].day()-index]++
}

// highestResponse returns the highest score, in tenths, that is a response
// from a baseline, or a negative number if there is none.
func highestResponse(base float64) int {
	tenth := int(math.Ceil(7 * base))
	for tenth >= 0 && !responded(base, scoreOf[tenth], 30) {
		tenth--
	}
	return tenth
}
