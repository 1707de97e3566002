package analytics

import (
	"math"

	"anodyne.example/anodyne/internal/pain/series"
)

// normalized maps the scores of each scale to 0-10, or NaN if there is no such
// score.
var normalized = func() (table [8][256]float64) {
	for scale := range table {
		for value := range table[scale] {
			s := series.Score{Kind: series.Kind{Scale: series.Scale(scale)}, Value: uint8(value)}
			if f, ok := s.Normalized(); ok {
				table[scale][value] = f
			} else {
				table[scale][value] = math.NaN()
			}
		}
	}
	return table
}()

// kindList lists the kinds of scores that can be the primary outcome.
type kindList []series.Kind

func (l *kindList) gather(scores []series.Score) {
	*l = (*l)[:0]
	for i := range scores {
		if kind := scores[i].Kind; (i == 0 || kind != scores[i-1].Kind) && kind.Outcome() {
			l.add(kind)
		}
	}
}

func (l *kindList) add(kind series.Kind) {
	for _, k := range *l {
		if k == kind {
			return
		}
	}
	*l = append(*l, kind)
}
