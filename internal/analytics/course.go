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

// add counts a patient's scores of the period, from one place in the track up to
// another: the mean in each bucket, the slope, and the time-weighted average.
func (c *course) add(t *Track, from, to int, cal *calendar) {
	points := t.Points[from:to]
	c.addBuckets(points, cal)
	l := t.line(from, to)
	if l.weight > 0 {
		c.average.add(float64(l.area) / float64(20*l.weight))
	}
	if slope, ok := l.perWeek(len(points), points[len(points)-1].at()-points[0].at()); ok {
		c.slope.add(slope)
		c.direction[direction(slope)]++
	}
}

// run is a patient's scores up to the end of those in a bucket, from the first
// on.
type run struct {
	bucket int32
	scores running
}

// addBuckets counts the mean in each bucket. Where one ends and the next begins
// nobody can foretell, so the loop over the scores has no branch that depends on
// it.
func (c *course) addBuckets(points []Point, cal *calendar) {
	if len(c.runs) <= len(points) {
		c.runs = make([]run, 2*len(points)+1)
	}
	runs := c.runs
	bucket, last, scores := int32(-1), 0, running(0)
	for _, p := range points {
		scores += oneScore + running(p.tenths())
		b := cal.of[p.day()-cal.start]
		if b != bucket {
			last++
		}
		bucket = b
		r := &runs[last]
		r.bucket, r.scores = b, scores
	}
	before := running(0)
	for i := range runs[1 : last+1] {
		r := &runs[i+1]
		own := r.scores - before
		c.buckets[r.bucket].add(float64(own.tenths()) / float64(10*own.count()))
		before = r.scores
	}
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

// highestResponse is the highest score, in tenths, that is a response to a
// baseline; less than 0 when none is.
func highestResponse(base float64) int {
	tenth := int(math.Ceil(7 * base))
	for tenth >= 0 && !responded(base, scoreOf[tenth], 30) {
		tenth--
	}
	return tenth
}
