package synth

import "math"

// Kind is the course of a patient's pain.
type Kind int

// The kinds, with their frequency in percent.
const (
	Improving Kind = iota // by 40 to 75 %, most of it within three months
	Partial               // by 12 to 30 %
	Unchanged
	Relapsing // improves, and returns to the start after half of the time
	Worsening
)

// Kinds is the number of patients of each kind out of a hundred.
var Kinds = [...]int{Improving: 40, Partial: 25, Unchanged: 18, Relapsing: 11, Worsening: 6}

// choose chooses the course.
func (c *course) choose() {
	left := c.IntN(100)
	for kind, share := range Kinds {
		if left -= share; left < 0 {
			c.kind = Kind(kind)
			break
		}
	}
	c.start = 4 + 5*math.Sqrt(c.Float64())
	c.enrolled, c.last = c.IntN(270), Days-1
	if c.chance(10) { // drops out
		c.last = c.enrolled + c.IntN(c.last-c.enrolled)
	}
}

// level returns the underlying pain on a day, from 0 to 10.
func (c *course) level(day int, depth, speed float64) float64 {
	since := float64(day - c.enrolled)
	eased := 1 - math.Exp(-since/speed)
	level := c.start * (1 - depth*eased)
	switch c.kind {
	case Relapsing:
		if back := since - 0.5*float64(c.last-c.enrolled); back > 0 {
			level += (c.start - level) * (1 - math.Exp(-back/30))
		}
	case Worsening:
		level = c.start + (9.5-c.start)*0.4*eased
	}
	return min(10, max(0, level))
}

// visit is a day on which pain was measured.
type visit struct {
	day  int
	pain float64
}

// visits generates visits and their measurements.
func (c *course) visits() {
	depth, speed := 0.0, 30+50*c.Float64()
	switch c.kind {
	case Improving, Relapsing:
		depth = 0.40 + 0.35*c.Float64()
	case Partial:
		depth = 0.12 + 0.18*c.Float64()
	case Unchanged:
		depth = 0.06*c.Float64() - 0.03
	}
	number := 0
	for day := c.enrolled; day <= c.last; day += 14 + c.IntN(22) {
		if number > 0 && c.chance(12) {
			continue // missed
		}
		v := visit{day, min(10, max(0, c.level(day, depth, speed)+c.NormFloat64()*0.6))}
		c.seen = append(c.seen, v)
		c.measure(v, number)
		number++
	}
}

func rounded(level float64) int { return int(math.Round(min(10, max(0, level)))) }

// measure records the measurements of a visit.
func (c *course) measure(v visit, number int) {
	score := map[string]any{"scale": "nrs", "score": rounded(v.pain), "aspect": "average", "recall": "7d", "body_site": c.site}
	if c.neuropathic {
		score["quality"] = []string{oneOf(c, []string{"burning", "electric_shock", "tingling", "shooting"})}
	}
	c.add("pain_scores", v.day, "patient", score)
	if c.chance(35) {
		c.add("pain_scores", v.day, "patient", map[string]any{"scale": "nrs", "score": rounded(v.pain + 1.5*c.Float64()), "aspect": "worst", "recall": "7d", "body_site": c.site})
	}
	if number%2 == 0 {
		c.add("assessments", v.day, "patient", map[string]any{"instrument": "peg", "items": map[string]int{
			"1": rounded(v.pain), "2": rounded(v.pain - 0.5 + c.NormFloat64()), "3": rounded(v.pain + 0.3 + c.NormFloat64())}})
	}
	if number%4 == 0 {
		c.add("assessments", v.day, "patient", map[string]any{"instrument": "phq_9", "items": c.phq9(v.pain)})
	}
	if number == 3 || number == 6 {
		c.add("assessments", v.day, "patient", map[string]any{"instrument": "pgic", "items": map[string]int{"1": c.impression(v.pain)}})
	}
	if c.chance(40) {
		c.add("sleep", v.day, "patient", map[string]any{"hours": math.Round(10*(8-0.3*v.pain+c.NormFloat64()*0.6)) / 10, "pain_interference": rounded(v.pain - 1)})
	}
	if c.chance(25) {
		c.add("activity", v.day, "device", map[string]any{"steps": max(200, int(7500-450*v.pain+1200*c.NormFloat64()))})
	}
	if c.chance(20) {
		c.add("vitals", v.day, "clinician", map[string]any{"systolic": 112 + c.IntN(40), "diastolic": 66 + c.IntN(25), "heart_rate": 58 + c.IntN(34)})
	}
}

// phq9 generates answers that follow the pain; the ninth is rarely positive.
func (c *course) phq9(level float64) map[string]int {
	items := map[string]int{}
	for i, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		answer := min(3, max(0, int(math.Round(level/4+c.NormFloat64()*0.7))))
		if i == 8 && !c.chance(4) {
			answer = 0
		}
		items[name] = answer
	}
	return items
}

// impression returns the patient's global impression of change, from 1 to 7.
func (c *course) impression(level float64) int {
	change := (level - c.start) / max(1, c.start)
	return min(7, max(1, int(math.Round(4+5*change+0.5*c.NormFloat64()))))
}

// impact generates, at every second visit, how often there was pain and how
// often it limited life or work.
func (c *course) impact() {
	for i, v := range c.seen {
		if i%2 > 0 {
			continue
		}
		frequency := v.pain + 1.5 + c.NormFloat64()
		for _, answer := range []struct {
			measure string
			level   float64
		}{{"pain_frequency", frequency}, {"limits_life_or_work", frequency - 2.5 + c.NormFloat64()}} {
			c.add("functional_status", v.day, "patient", map[string]any{"measure": answer.measure, "value": howOften(answer.level)})
		}
	}
}

func howOften(level float64) string {
	switch {
	case level < 1:
		return "never"
	case level < 4:
		return "some_days"
	case level < 6.5:
		return "most_days"
	}
	return "every_day"
}
