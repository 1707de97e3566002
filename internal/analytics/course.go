package analytics

import (
	"math"

	"anodyne/internal/pain/drug"
)

// course is how the primary outcome went on, over all patients.
type course struct {
	buckets   []bucketSum
	slope     sum
	direction [3]int // improving, stable, worsening
	average   sum    // time-weighted
	// events and censored count, for each day after the index date, who
	// responded on it and who was last heard of on it.
	events, censored []int32
	runs             []run // of the patient at hand
}

func (c *course) begin(buckets int, period drug.Span) {
	c.buckets = make([]bucketSum, buckets)
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

// maxGap is how long scores may be apart for a line between them to say
// anything.
const maxGap = 30 * millisecondsPerDay

// add counts a patient's scores of the period: the mean in each bucket, the
// slope, and the time-weighted average.
func (c *course) add(at []int64, tenths []uint8, cal *calendar) {
	c.addBuckets(at, tenths, cal)
	l := lineOf(at, tenths)
	if l.weight > 0 {
		c.average.add(float64(l.area) / 20 / float64(l.weight))
	}
	if slope, ok := l.perWeek(len(at), at[len(at)-1]-at[0]); ok {
		c.slope.add(slope)
		c.direction[direction(slope)]++
	}
}

// run is a patient's scores up to the end of those in a bucket: their number and
// their sum from the first on.
type run struct {
	bucket, scores int32
	tenths         int64
}

// addBuckets counts the mean in each bucket. Where one ends and the next begins
// nobody can foretell, so the loop over the scores has no branch that depends on
// it.
func (c *course) addBuckets(at []int64, tenths []uint8, cal *calendar) {
	if len(c.runs) <= len(at) {
		c.runs = make([]run, 2*len(at)+1)
	}
	runs := c.runs
	tenths = tenths[:len(at)]
	bucket, last, total := int32(-1), 0, int64(0)
	for i, now := range at {
		total += int64(tenths[i])
		b := cal.at(now)
		if b != bucket {
			last++
		}
		bucket = b
		r := &runs[last]
		r.bucket, r.scores, r.tenths = b, int32(i+1), total
	}
	before := &runs[0] // empty
	for i := range runs[1 : last+1] {
		r := &runs[i+1]
		c.buckets[r.bucket].add(float64(r.tenths-before.tenths) / float64(10*(r.scores-before.scores)))
		before = r
	}
}

// line is the sums over a patient's scores that slope and time-weighted average
// are made of. x is milliseconds since the first, y the score; area is in
// tenths, and twice what it is.
type line struct {
	x, y, xx, xy float64
	area, weight int64
}

// lineOf adds up in variables of its own: they stay in registers.
func lineOf(at []int64, tenths []uint8) line {
	tenths = tenths[:len(at)]
	var x, y, xx, xy float64
	var area, weight int64
	start, previous, before := at[0], at[0], int64(0)
	for i, now := range at {
		score := int64(tenths[i])
		gap := now - previous
		if gap > maxGap {
			gap = 0
		}
		area += (score + before) * gap
		weight += gap
		previous, before = now, score
		since, value := float64(now-start), scoreOf[tenths[i]]
		x += since
		y += value
		xx += since * since
		xy += since * value
	}
	return line{x, y, xx, xy, area, weight}
}

// perWeek is the slope of the ordinary least squares line through n scores,
// where they suffice.
func (l *line) perWeek(n int, span int64) (_ float64, ok bool) {
	const points, least = 3, 14 * millisecondsPerDay
	if n < points || span < least {
		return 0, false
	}
	count := float64(n)
	return 7 * millisecondsPerDay * (count*l.xy - l.x*l.y) / (count*l.xx - l.x*l.x), true
}

var directions = []string{"improving", "stable", "worsening"}

// direction is the place of a slope among the directions.
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
// next score must confirm unless it is the last. Who has not responded counts
// up to the last score. Those after the index date begin at next.
func (c *course) addResponse(at []int64, tenths []uint8, index drug.Day, base float64, next int) {
	if base == 0 {
		return
	}
	last := len(at) - 1
	most := highestResponse(base)
	for i := next; i <= last; i++ {
		if int(tenths[i]) <= most && int(tenths[min(i+1, last)]) <= most {
			c.events[dayOf(at[i])-index]++
			return
		}
	}
	c.censored[dayOf(at[last])-index]++
}

// highestResponse is the highest score, in tenths, that is a response to a
// baseline; less than 0 when none is.
func highestResponse(base float64) int {
	tenth := int(math.Ceil(7 * base))
	for tenth >= 0 && !responded(base, scoreOf[tenth], 30) {
		tenth--
	}
	return tenth
}
