package summary

import (
	"cmp"
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// maxPoints limits the points shown; the figures are based on all.
const maxPoints = 1000

// seriesRule describes which scores form the primary series.
const seriesRule = "Scores of one scale, aspect, body site and side. Among those with a score in the period (in a summary, the last 365 days), or all if none has one: aspect average, otherwise current; " +
	"among these, the scale, site and side with the most scores on the day of the first of all their scores, then with the worst mean on that day. Scores are from 0 to 10; vrs4 cannot be converted and is excluded."

const baselineRule = "Mean of the comparable scores in the 14 days up to and including the index date, the day of the first one."

// Pain is the primary series of comparable scores and its change.
type Pain struct {
	Scheme string `json:"scheme"`
	Rule   string `json:"rule"`
	// Aspect is the primary aspect, or null if there is no score.
	Aspect   *string `json:"aspect"`
	Scale    *string `json:"scale"`
	BodySite *string `json:"body_site"`
	// Laterality is the side, or empty if there is none.
	Laterality *string   `json:"laterality"`
	Scores     int       `json:"scores"`
	Points     []Point   `json:"points"`
	Truncated  bool      `json:"truncated"`
	Latest     *Point    `json:"latest"`
	Baseline   *Baseline `json:"baseline"`
	Change     *Change   `json:"change"`
}

// Point is one score, converted to 0-10.
type Point struct {
	RecordedAt string   `json:"recorded_at"`
	Score      *float64 `json:"score"`
	Band       string   `json:"band"`
	Aspect     string   `json:"aspect"`
	Scale      string   `json:"scale"`
}

// Baseline is the patient's baseline pain.
type Baseline struct {
	Rule      string   `json:"rule"`
	IndexDate string   `json:"index_date"`
	Scores    int      `json:"scores"`
	Score     *float64 `json:"score"`
	Band      string   `json:"band"`
}

// Change is the change from the baseline to the latest score. Percentages are
// null if the baseline is 0, and misleading if it is low.
type Change struct {
	Points      *float64 `json:"points"`
	Percent     *float64 `json:"percent"`
	Responder30 *bool    `json:"responder_30"`
	Responder50 *bool    `json:"responder_50"`
	NRSAtLeast2 bool     `json:"nrs_ge_2"`
	Worsened30  *bool    `json:"worsened_30"`
	LowBaseline bool     `json:"low_baseline"`
}

func (e *evidence) pain() Pain {
	p := Pain{Scheme: pain.DefaultScheme.Name, Rule: seriesRule, Points: []Point{}}
	scores := e.primary()
	if len(scores) == 0 {
		return p
	}
	kind := scores[0].Kind
	p.Aspect, p.Scale = new(kind.Aspect.String()), new(kind.Scale.String())
	p.BodySite, p.Laterality = new(kind.Site.String()), new(kind.Side.String())
	p.Scores = len(scores)
	shown := scores
	if len(shown) > maxPoints {
		shown, p.Truncated = shown[len(shown)-maxPoints:], true
	}
	for i := range shown {
		p.Points = append(p.Points, pointOf(&shown[i]))
	}
	last := &scores[len(scores)-1]
	p.Latest = new(pointOf(last))
	base, n := baseline(scores)
	p.Baseline = &Baseline{Rule: baselineRule, IndexDate: date(dayOf(scores[0].At)), Scores: n, Score: rounded(base, 1), Band: string(pain.DefaultScheme.Of(base))}
	if n < len(scores) {
		latest, _ := last.Normalized()
		p.Change = changeOf(base, latest)
	}
	return p
}

// primary returns the scores of the kind selected by the rule.
func (e *evidence) primary() (scores []series.Score) {
	all := e.Series.Scores
	end, _ := slices.BinarySearchFunc(all, e.before, func(s series.Score, at int64) int { return cmp.Compare(s.At, at) })
	all = all[:end]
	lately := map[series.Kind]bool{}
	for i := range all {
		if s := &all[i]; s.At >= int64(e.from)*millisecondsPerDay && s.Outcome() {
			lately[s.Kind] = true
		}
	}
	among := all
	if len(lately) > 0 {
		among = nil
		for _, s := range all {
			if lately[s.Kind] {
				among = append(among, s)
			}
		}
	}
	var chooser series.Chooser
	kind, _, ok := chooser.Choose(among, 0)
	if !ok {
		return nil
	}
	for _, s := range among {
		if s.Kind == kind {
			scores = append(scores, s)
		}
	}
	return scores
}

func pointOf(s *series.Score) Point {
	score, _ := s.Normalized()
	return Point{moment(s.At), rounded(score, 1), string(pain.DefaultScheme.Of(score)), s.Aspect.String(), s.Scale.String()}
}

// dayOf returns the UTC day of a time.
func dayOf(ms int64) drug.Day {
	day := ms / millisecondsPerDay
	if ms%millisecondsPerDay < 0 {
		day--
	}
	return drug.Day(day)
}

// baseline returns the mean of the scores on the index date, which is the day
// of the first score: there are none in the days before it.
func baseline(scores []series.Score) (mean float64, n int) {
	var sum float64
	for i := range scores {
		if dayOf(scores[i].At) != dayOf(scores[0].At) {
			break
		}
		score, _ := scores[i].Normalized()
		sum += score
		n++
	}
	return sum / float64(n), n
}

// changeOf uses unrounded numbers.
func changeOf(base, latest float64) *Change {
	const tolerance = 1e-9
	c := &Change{Points: rounded(latest-base, 1), NRSAtLeast2: base-latest >= 2-tolerance, LowBaseline: base < 4}
	if base > 0 {
		percent := 100 * (latest - base) / base
		c.Percent = rounded(percent, 2)
		c.Responder30, c.Responder50 = new(percent <= -30+tolerance), new(percent <= -50+tolerance)
		c.Worsened30 = new(percent >= 30-tolerance)
	}
	return c
}
