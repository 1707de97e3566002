package analytics

// Line holds the sums over some points from which slope and time-weighted
// average are computed. x is in milliseconds since the first point, y is the
// score in tenths, and area is twice the area under the line.
type Line struct {
	x, xx, xy    float64
	area, weight int64
	y            int32
	least        uint8 // of the scores, in tenths
	// ends has, for each interval, a bit for each point that is the last of a
	// track in a day, week or month.
	ends [intervals]uint16
}

// lineSpan is the number of points per stored line, limited by the bits in
// ends.
const lineSpan = 16

// maxGap is the longest time between scores over which a line is meaningful.
const maxGap = 30 * millisecondsPerDay

// linesOf appends the lines of points, lineSpan at a time, and sets the sum
// before each point.
func linesOf(points []Point, lines []Line) []Line {
	if len(points) == 0 {
		return lines
	}
	day := points[0].day()
	week, month := endOfWeek(day), endOfMonth(day)
	for from := 0; from < len(points); from += lineSpan {
		to := min(from+lineSpan, len(points))
		line := lineOf(points[from:to])
		before := 0
		for i := from; i < to; i++ {
			bit := uint16(1) << (i - from)
			if i+1 == len(points) {
				line.ends[0], line.ends[1], line.ends[2] = line.ends[0]|bit, line.ends[1]|bit, line.ends[2]|bit
			} else if next := points[i+1].day(); next != day {
				day = next
				line.ends[0] |= bit
				if day > week {
					week = endOfWeek(day)
					line.ends[1] |= bit
				}
				if day > month {
					month = endOfMonth(day)
					line.ends[2] |= bit
				}
			}
			points[i] |= Point(before) << tenthBits
			before += int(points[i].tenths())
		}
		lines = append(lines, line)
	}
	return lines
}

// lineOf sums in local variables, which stay in registers.
func lineOf(points []Point) Line {
	var x, xx, xy float64
	var area, weight, y int64
	start := points[0].at()
	previous, before, least := start, int64(0), points[0].tenths()
	for _, p := range points {
		now, score := p.at(), int64(p.tenths())
		gap := now - previous
		if gap > maxGap {
			gap = 0
		}
		area += (score + before) * gap
		weight += gap
		previous, before, least = now, score, min(least, p.tenths())
		since := float64(now - start)
		x += since
		y += score
		xx += since * since
		xy += since * float64(score)
	}
	return Line{x: x, xx: xx, xy: xy, area: area, weight: weight, y: int32(y), least: least}
}

// line returns the line of the points from index from up to index to. It uses
// the stored line of a whole span where possible.
func (t *Track) line(from, to int) Line {
	start := t.Points[from].at()
	var all Line
	for i := from; i < to; {
		next := min(to, (i/lineSpan+1)*lineSpan)
		var l Line
		if whole := min(len(t.Points), (i/lineSpan+1)*lineSpan); i%lineSpan == 0 && next == whole {
			l = t.Lines[i/lineSpan]
		} else {
			l = lineOf(t.Points[i:next])
		}
		if i > from {
			last, first := t.Points[i-1], t.Points[i]
			if gap := first.at() - last.at(); gap <= maxGap {
				all.area += int64(last.tenths()+first.tenths()) * gap
				all.weight += gap
			}
		}
		all.join(&l, float64(next-i), float64(t.Points[i].at()-start))
		i = next
	}
	return all
}

// join adds the line of n points that begins behind milliseconds after this
// line.
func (l *Line) join(o *Line, n, behind float64) {
	l.x += o.x + n*behind
	l.xx += o.xx + behind*(2*o.x+n*behind)
	l.xy += o.xy + behind*float64(o.y)
	l.area += o.area
	l.weight += o.weight
	l.y += o.y
}

// perWeek returns the slope of the least squares line through n points, if
// they are sufficient.
func (l *Line) perWeek(n int, span int64) (_ float64, ok bool) {
	const points, least = 3, 14 * millisecondsPerDay
	if n < points || span < least {
		return 0, false
	}
	count := float64(n)
	return 7 * millisecondsPerDay / 10 * (count*l.xy - l.x*float64(l.y)) / (count*l.xx - l.x*l.x), true
}
