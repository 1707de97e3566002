package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Mark is a day with a drug screen, or with an answer about how often there is
// pain or how often it limits life or work.
type Mark int32

// The lowest bits of a mark are its kind. screened is all zeros; an answer has
// the question above its level.
const (
	markBits  = 4
	levelBits = 3
	screened  = 0
)

func markOf(day drug.Day, what uint8) Mark { return Mark(day)<<markBits | Mark(what) }

func answerMark(i *series.Impact) Mark {
	return markOf(dayOf(i.At), uint8(i.Asks-1)<<levelBits&(1<<markBits-1)|uint8(i.Level)&(1<<levelBits-1))
}

func (m Mark) day() drug.Day { return drug.Day(m >> markBits) }

func (m Mark) screen() bool { return m&(1<<markBits-1) == screened }

// answer returns the question and the answer. It must not be called for a
// screen.
func (m Mark) answer() (series.Question, series.Level) {
	return series.Question(m>>levelBits&1) + 1, series.Level(m & (1<<levelBits - 1))
}

// takeMarks appends the marks of a series. Answers of one day keep their
// order.
func (g *Gist) takeMarks(whole *series.Series) {
	if len(whole.Impacts)+len(whole.Screens) == 0 {
		return
	}
	from := len(g.Marks)
	for i := range whole.Impacts {
		g.Marks = append(g.Marks, answerMark(&whole.Impacts[i]))
	}
	for _, day := range whole.Screens {
		g.Marks = append(g.Marks, markOf(day, screened))
	}
	slices.SortStableFunc(g.Marks[from:], func(a, b Mark) int { return int(a.day()) - int(b.day()) })
}

// screenedIn reports whether there was a drug screen in a window.
func screenedIn(marks []Mark, window drug.Span) bool {
	for _, m := range marks {
		if m.screen() && m.day() >= window.First && m.day() <= window.Last {
			return true
		}
	}
	return false
}

// impact is the latest answers in a window; 0 means none.
type impact struct{ frequency, limits series.Level }

func impactIn(marks []Mark, window drug.Span) (i impact) {
	for _, m := range marks {
		if m.screen() || m.day() < window.First || m.day() > window.Last {
			continue
		}
		switch asks, level := m.answer(); asks {
		case series.Frequency:
			i.frequency = level
		case series.Limits:
			i.limits = level
		}
	}
	return i
}
