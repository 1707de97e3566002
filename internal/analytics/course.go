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
func (c *course) add(points []point, cal *calendar) {
	var line regression
	var area, weight float64
	start, previous := points[0].at, points[0]
	bucket := cal.at(start)
	end := cal.ends[bucket]
	var inBucket float64
	n := 0
	for i := range points {
		p := points[i]
		if p.at >= end {
			c.buckets[bucket].add(inBucket / float64(n))
			inBucket, n = 0, 0
			bucket = cal.at(p.at)
			end = cal.ends[bucket]
		}
		inBucket += p.score
		n++
		line.add(float64(p.at-start)*(1.0/millisecondsPerDay), p.score)
		if gap := p.at - previous.at; gap <= maxGap {
			area += (p.score + previous.score) * float64(gap)
			weight += float64(gap)
		}
		previous = p
	}
	c.buckets[bucket].add(inBucket / float64(n))
	if weight > 0 {
		c.average.add(area / 2 / weight)
	}
	if slope, ok := line.perWeek(len(points), float64(previous.at-start)/millisecondsPerDay); ok {
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
// up to the last score.
func (c *course) addResponse(points []point, index drug.Day, base float64) {
	if base == 0 {
		return
	}
	after := startOf(index + 1)
	most := highestResponse(base)
	for i := range points {
		p := &points[i]
		if p.score > most || p.at < after {
			continue
		}
		if i+1 == len(points) || points[i+1].score <= most {
			c.events[dayOf(p.at)-index]++
			return
		}
	}
	c.censored[dayOf(points[len(points)-1].at)-index]++
}

// highestResponse is the highest score that is a response to a baseline, or
// lies below all scores. Scores are whole tenths.
func highestResponse(base float64) float64 {
	for tenth := math.Ceil(7 * base); tenth >= 0; tenth-- {
		if score := tenth / 10; responded(base, score, 30) {
			return score
		}
	}
	return -1
}
