package analytics

import (
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/instrument"
	"anodyne/internal/pain/series"
)

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

// changes has the important change of each instrument by its number.
var changes = func() (list [instrumentCodes]instrument.Change) {
	for _, info := range instrument.All() {
		list[series.InstrumentOf(info.Name)] = info.Change
	}
	return list
}()

var pgic = series.InstrumentOf("pgic")

// addInstruments counts each instrument that was scored in the period, from
// the first time on. The impression of change is itself a change: of it the
// latest counts.
func (t *OutcomesTally) addInstruments(answered []series.Assessment) {
	var seen uint32
	latest := 0.0
	for i := range answered {
		a := &answered[i]
		if a.At < t.from || a.At >= t.before || !a.Score.Known {
			continue
		}
		if a.Instrument == pgic {
			latest = a.Score.Number
			continue
		}
		if bit := uint32(1) << (a.Instrument % instrumentCodes); seen&bit == 0 {
			seen |= bit
			t.addInstrument(answered, a.Instrument, dayOf(a.At))
		}
	}
	if latest > 0 {
		t.impressions++
		if latest <= 2 {
			t.impressed++
		}
	}
}

func (t *OutcomesTally) addInstrument(answered []series.Assessment, of series.Instrument, index drug.Day) {
	to := &t.instruments[of%instrumentCodes]
	to.patients++
	if !t.window.due(index, t.params.AsOf) {
		to.notDue++
		return
	}
	// A questionnaire that was answered twice on the day, or shortly before
	// the period, counts as its mean, as scores do.
	points, scores := t.answered[:0], t.answers[:0]
	for i := range answered {
		if a := &answered[i]; a.Instrument == of && a.Score.Known && a.At < t.before {
			points, scores = append(points, pointAt(a.At)), append(scores, a.Score.Number)
		}
	}
	t.answered, t.answers = points, scores
	nearest, ok := t.window.nearest(points, index)
	if !ok {
		to.missing++
		return
	}
	before, after := baseline(points, scores, index), scores[nearest]
	to.add(before, after)
	if points, percent := changes[of%instrumentCodes].Met(before, after); points || percent {
		to.met++
	}
}
