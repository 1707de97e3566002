package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/pain/series"
)

// Answer is an answered instrument.
type Answer struct {
	score      float64
	day        drug.Day
	instrument series.Instrument
	known      bool // the score is known
}

func (g *Gist) takeAnswers(list []series.Assessment) {
	for i := range list {
		a := &list[i]
		g.Answers = append(g.Answers, Answer{a.Score.Number, dayOf(a.At), a.Instrument, a.Score.Known})
	}
}

// of reports whether the answer has a score on an instrument.
func (a *Answer) of(i series.Instrument) bool { return a.instrument == i && a.known }

// instrumentTally counts the change on a questionnaire.
type instrumentTally struct {
	patients, notDue, missing int
	paired
	met int
}

func (t *instrumentTally) merge(o *instrumentTally) {
	t.patients += o.patients
	t.notDue += o.notDue
	t.missing += o.missing
	t.paired.merge(&o.paired)
	t.met += o.met
}

// changes has the important change of each instrument by code.
var changes = func() (list [instrumentCodes]instrument.Change) {
	for _, info := range instrument.All() {
		list[series.InstrumentOf(info.Name)] = info.Change
	}
	return list
}()

var pgic = series.InstrumentOf("pgic")

// addInstruments counts each instrument that was scored in the period, from
// its first score. The global impression of change is itself a change, so its
// latest score counts.
func (t *OutcomesTally) addInstruments(answers []Answer) {
	var seen uint32
	latest := 0.0
	for i := range answers {
		a := &answers[i]
		if a.day < t.period.First || a.day > t.period.Last || !a.known {
			continue
		}
		if a.instrument == pgic {
			latest = a.score
			continue
		}
		if bit := uint32(1) << (a.instrument % instrumentCodes); seen&bit == 0 {
			seen |= bit
			t.addInstrument(answers, i)
		}
	}
	if latest > 0 {
		t.impressions++
		if latest <= 2 {
			t.impressed++
		}
	}
}

// addInstrument counts an instrument. first is the index of its first score in
// the period.
func (t *OutcomesTally) addInstrument(answers []Answer, first int) {
	of, index := answers[first].instrument, answers[first].day
	to := &t.instruments[of%instrumentCodes]
	to.patients++
	if !t.window.due(index, t.params.AsOf) {
		to.notDue++
		return
	}
	after, ok := t.window.answer(answers[first:], of, index)
	if !ok {
		to.missing++
		return
	}
	before := firstScore(answers, first)
	to.add(before, after)
	if points, percent := changes[of%instrumentCodes].Met(before, after); points || percent {
		to.met++
	}
}

// answer returns the score on an instrument nearest to the target day. Of two
// equally near, it takes the earlier. There are few answers, so a linear
// search is sufficient.
func (w window) answer(answers []Answer, of series.Instrument, index drug.Day) (score float64, ok bool) {
	target, off := index+w.target, w.tolerance+1
	for i := range answers {
		a := &answers[i]
		if a.day > target+w.tolerance {
			break
		}
		if away := max(a.day-target, target-a.day); a.of(of) && away < off {
			score, off = a.score, away
		}
	}
	return score, off <= w.tolerance
}

// firstScore returns the mean of the scores on an instrument in the 14 days up
// to and including that of the first answer: several answers on that day or
// shortly before the period count as their mean, as with pain scores.
func firstScore(answers []Answer, first int) float64 {
	of, index := answers[first].instrument, answers[first].day
	begin, end := first, first+1
	for begin > 0 && answers[begin-1].day > index-baselineDays {
		begin--
	}
	for end < len(answers) && answers[end].day == index {
		end++
	}
	sum, n := 0.0, 0
	for i := range answers[begin:end] {
		if a := &answers[begin+i]; a.of(of) {
			sum += a.score
			n++
		}
	}
	return sum / float64(n)
}
