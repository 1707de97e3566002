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
	var line regression
	var area, weight int64
	start, previous, score := at[0], at[0], int64(tenths[0])
	bucket := cal.at(start)
	end := cal.ends[bucket]
	inBucket, n := int64(0), 0
	for i, now := range at {
		before := score
		score = int64(tenths[i])
		if now >= end {
			c.buckets[bucket].add(float64(inBucket) / float64(10*n))
			inBucket, n = 0, 0
			bucket = cal.at(now)
			end = cal.ends[bucket]
		}
		inBucket += score
		n++
		line.add(float64(now-start)*(1.0/millisecondsPerDay), scoreOf[tenths[i]])
		if gap := now - previous; gap <= maxGap {
			area += (score + before) * gap
			weight += gap
		}
		previous = now
	}
	c.buckets[bucket].add(float64(inBucket) / float64(10*n))
	if weight > 0 {
		c.average.add(float64(area) / 20 / float64(weight))
	}
	if slope, ok := line.perWeek(len(at), float64(previous-start)/millisecondsPerDay); ok {
		c.slope.add(slope)
		c.direction[direction(slope)]++
	}
}

// regression is what an ordinary least squares line is made of.
type regression struct{ x, y, xx, xy float64 }

func (r *regression) add(x, y float64) {
	r.x += x
	r.y += y
	r.xx += x * x
	r.xy += x * y
}

// perWeek is the slope of n points over some days, where they suffice.
func (r *regression) perWeek(n int, days float64) (_ float64, ok bool) {
	const points, span = 3, 14
	if n < points || days < span {
		return 0, false
	}
	count := float64(n)
	return 7 * (count*r.xy - r.x*r.y) / (count*r.xx - r.x*r.x), true
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
