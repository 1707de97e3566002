package analytics

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/pain/series"
)

// The interval of a mean holds the mean and ends where its scale ends, which is
// another for each instrument; below five patients there is none.
func TestIntervalsOnTheirScale(t *testing.T) {
	// at is an answer on a day, at a place of the instrument's scale from 0 to 1.
	at := func(info *instrument.Info, day drug.Day, place float64) series.Assessment {
		return series.Assessment{At: startOf(19723+day) + 1000, Instrument: series.InstrumentOf(info.Name), Status: 1,
			Score: series.Value{Number: info.ScoreMin + place*(info.ScoreMax-info.ScoreMin), Known: true}}
	}
	for _, info := range instrument.All() {
		patients := func(n int) (list []*Patient) {
			for i := range n {
				before := 1.0
				if i == 0 {
					before = 0.5
				}
				list = append(list, &Patient{Series: &series.Series{Assessments: []series.Assessment{at(&info, 1, before), at(&info, 91, 1-before)}}})
			}
			return list
		}
		used := outcomes(t, Request{}, patients(5)...).Instruments
		if len(used) == 0 && info.Name == "pgic" {
			continue // it asks about the change itself
		}
		use := used[0]
		span := info.ScoreMax - info.ScoreMin
		for _, m := range []struct {
			name      string
			mean      Mean
			low, high float64
		}{
			{"baseline", use.Baseline, info.ScoreMin, info.ScoreMax}, {"follow-up", use.FollowUp, info.ScoreMin, info.ScoreMax}, {"change", use.Change, -span, span},
		} {
			ci := m.mean.CI95
			if ci == nil || ci.Low < m.low || ci.High > m.high || ci.Low > *m.mean.Mean+0.05 || ci.High < *m.mean.Mean-0.05 {
				t.Errorf("%s, %s: %v with %+v", info.Name, m.name, *m.mean.Mean, ci)
			}
		}
		// By hand, in parts of the scale: mean 0.9, sd 0.22361, t(4) 2.77645 make 0.62236 to 1.17764.
		near(t, info.Name+" low", (use.Baseline.CI95.Low-info.ScoreMin)/span, 0.62236, 1e-4)
		near(t, info.Name+" high", use.Baseline.CI95.High, info.ScoreMax, 1e-9)
		if few := outcomes(t, Request{}, patients(4)...).Instruments[0].Baseline; few.CI95 != nil || few.SD == nil {
			t.Errorf("%s of four: %+v", info.Name, few)
		}
	}
}
