package analytics

import (
	"math"
	"math/bits"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// diary holds one patient's comparable scores by day. Baselines and follow-ups
// are needed at the onset of each treatment, which may be any day: one bit per
// day finds the entry without a search, and running sums give the total of any
// range of days. They are in whole tenths, so that differences are exact.
type diary struct {
	first   drug.Day
	entries []entry  // with one more at the end to close the sums
	marks   []uint64 // one bit per day from the first, set if it has an entry
	ranks   []int32  // number of entries before each word of marks
	// plain are the scores that may count as before a treatment: all except
	// those taken after a procedure, according to their context.
	plain []Point
}

// entry is a day with scores.
type entry struct {
	before   running // plain scores before the day
	day      drug.Day
	earliest uint8 // of the scores of the day, in tenths
}

// running has a number of scores in its upper half, and the sum of their
// tenths in its lower half.
type running uint64

const oneScore running = 1 << 32

func (r running) count() int  { return int(r >> 32) }
func (r running) tenths() int { return int(uint32(r)) }

// scoreOf maps tenths to scores, to avoid a division.
var scoreOf = func() (table [256]float64) {
	for tenth := range table {
		table[tenth] = float64(tenth) / 10
	}
	return table
}()

// fixedOf maps tenths to fixed point.
var fixedOf = func() (table [256]int64) {
	for tenth, score := range scoreOf {
		table[tenth] = fixed(score)
	}
	return table
}()

// tenths maps the scores of each scale to tenths of a point on 0-10, which are
// whole numbers for all scales.
var tenths = func() (table [len(normalized)][256]uint8) {
	for scale := range table {
		for value, score := range normalized[scale] {
			if score <= 10 { // not NaN
				table[scale][value] = uint8(math.Round(10 * score))
			}
		}
	}
	return table
}()

// write fills the diary with the scores of a kind. scores are in order and
// include at least one of that kind.
func (d *diary) write(scores []series.Score, kind series.Kind) {
	first, last := 0, len(scores)-1
	for scores[first].Kind != kind {
		first++
	}
	for scores[last].Kind != kind {
		last--
	}
	scores = scores[first : last+1]
	d.open(dayOf(scores[0].At), dayOf(scores[len(scores)-1].At), len(scores))
	entries := d.entries
	var sum running
	n, today := 0, d.first-1
	for i := range scores {
		s := &scores[i]
		if s.Kind != kind {
			continue
		}
		value := tenths[s.Scale][s.Value]
		if day := dayOf(s.At); day != today {
			today = day
			// Assigning a whole entry would build it elsewhere and copy it,
			// which takes ten times as long.
			e := &entries[n]
			e.before, e.day, e.earliest = sum, day, value
			n++
			at := uint(day - d.first)
			d.marks[at/64] |= 1 << (at % 64)
		}
		if !s.After {
			d.plain = append(d.plain, pointOf(s))
			sum += oneScore + running(value)
		}
	}
	e := &entries[n]
	e.before, e.day = sum, math.MaxInt32
	d.entries = entries[:n+1]
	d.rank()
}

// open makes room for scores from the first to the last day.
func (d *diary) open(first, last drug.Day, scores int) {
	d.first = first
	d.plain = d.plain[:0]
	d.entries = slices.Grow(d.entries[:0], scores+1)[:scores+1]
	words := int(last-first)/64 + 1
	d.marks, d.ranks = slices.Grow(d.marks[:0], words)[:words], slices.Grow(d.ranks[:0], words)[:words]
	clear(d.marks)
}

func (d *diary) rank() {
	rank := int32(0)
	for i, word := range d.marks {
		d.ranks[i] = rank
		rank += int32(bits.OnesCount64(word))
	}
}

// since returns the index of the first entry on a day or later.
func (d *diary) since(day drug.Day) int {
	at := int(day - d.first)
	if at < 0 {
		return 0
	}
	word := at / 64
	if word >= len(d.marks) {
		return len(d.entries) - 1
	}
	return int(d.ranks[word]) + bits.OnesCount64(d.marks[word]&(1<<(at%64)-1))
}

// baseline returns the mean of the plain scores in the 14 days up to and
// including a day, or else the nearest score in the 30 days before it. Scores
// of the day itself count unless they are known to be later than clock.
func (d *diary) baseline(day drug.Day, clock int32) (_ float64, ok bool) {
	begin, end := d.since(day-baselineDays+1), d.since(day+1)
	before := d.entries[begin].before
	scores := d.entries[end].before - before
	if clock != 0 && end > begin && d.entries[end-1].day == day {
		for _, p := range d.plain[d.entries[end-1].before.count():d.entries[end].before.count()] {
			if p.clock() > clock { // midnight means unknown
				scores -= oneScore + running(p.tenths())
			}
		}
	}
	if n := scores.count(); n > 0 {
		return float64(scores.tenths()) / float64(10*n), true
	}
	if n := before.count(); n > 0 {
		if nearest := d.plain[n-1]; nearest.day() >= day-reach {
			return scoreOf[nearest.tenths()], true
		}
	}
	return 0, false
}

// followUp returns the score, in tenths, nearest to the target day of a
// window. Of two equally near, it takes the earlier.
func (d *diary) followUp(w window, index drug.Day) (tenths uint8, ok bool) {
	target := index + w.target
	after := d.since(target)
	nearest := &d.entries[after] // on the target day or later, or the end
	off := int(nearest.day) - int(target)
	if after > 0 {
		before := &d.entries[after-1]
		if back := int(target - before.day); back <= off {
			nearest, off = before, back
		}
	}
	return nearest.earliest, off <= int(w.tolerance)
}
