package synth

import (
	"slices"
	"time"
)

// medicine is a prescription in the format of the API, without its days.
type medicine map[string]any

func tablet(name string, dose float64, frequency string) medicine {
	return medicine{"name": name, "dose": dose, "dose_unit": "mg", "route": "oral", "frequency": frequency}
}

var (
	nociceptive = []medicine{tablet("ibuprofen", 400, "TID"), tablet("naproxen", 500, "BID"), tablet("celecoxib", 200, "QD"), tablet("acetaminophen", 1000, "TID")}
	neuropathic = []medicine{tablet("gabapentin", 300, "TID"), tablet("pregabalin", 75, "BID"), tablet("duloxetine", 60, "QD"), tablet("amitriptyline", 25, "QHS")}
	// opioids are the dose steps; a course starts low.
	opioids = [][]medicine{
		{tablet("tramadol", 50, "BID"), tablet("tramadol", 50, "QID"), tablet("tramadol", 100, "QID")},
		{tablet("oxycodone", 5, "BID"), tablet("oxycodone", 10, "BID"), tablet("oxycodone", 10, "QID"), tablet("oxycodone", 20, "QID")},
		{tablet("morphine", 15, "BID"), tablet("morphine", 30, "BID"), tablet("morphine", 45, "BID"), tablet("morphine", 60, "BID")},
		{tablet("hydrocodone", 5, "TID"), tablet("hydrocodone", 10, "TID"), tablet("hydrocodone", 10, "QID")},
	}
	benzodiazepines = []medicine{tablet("lorazepam", 0.5, "QHS"), tablet("clonazepam", 0.5, "BID"), tablet("diazepam", 5, "QHS")}
)

// treat generates the treatment.
func (c *course) treat() {
	first := nociceptive
	if c.neuropathic {
		first = neuropathic
	}
	c.prescribe(oneOf(c, first), c.enrolled, c.last, 90)
	if c.chance(30) {
		c.prescribe(oneOf(c, neuropathic), c.enrolled+14, c.last, 60)
	}
	if c.opioid = c.start > 5 && c.chance(42); c.opioid {
		c.titrate()
	}
	if c.chance(35) {
		c.intervene()
	}
}

// prescribe renews a medicine until a day, some days early or late.
func (c *course) prescribe(m medicine, from, until, days int) {
	for day := from; day <= until; day += days + c.IntN(9) - 2 {
		c.supply(m, day, days)
	}
}

// supply adds one prescription.
func (c *course) supply(m medicine, day, days int) {
	value := map[string]any{"days_supply": days, "prescriber_id": oneOf(c, []string{"dr-ng", "dr-okafor", "dr-silva"}), "indication": c.name}
	for name, v := range m {
		value[name] = v
	}
	c.add("medications", day, "clinician", value)
}

// titrate prescribes an opioid month by month: more while pain persists, less
// when it improves, and none when it is gone.
func (c *course) titrate() {
	steps, step := oneOf(c, opioids), 0
	benzodiazepine := c.chance(12)
	naloxone := false
	for day := c.enrolled + c.IntN(30); day <= c.last; day += 30 {
		switch level := c.painOn(day); {
		case level >= 6.5 && c.chance(55):
			step = min(step+1, len(steps)-1)
		case level < 2.5 && step == 0:
			return
		case level < 4:
			step = max(0, step-1)
		}
		c.supply(steps[step], day, 30)
		if benzodiazepine && c.chance(60) {
			c.supply(oneOf(c, benzodiazepines), day+c.IntN(10), 30)
		}
		if step >= 2 && !naloxone && c.chance(45) {
			naloxone = true
			c.supply(medicine{"name": "naloxone", "dose": 4.0, "dose_unit": "mg", "route": "nasal", "prn": true}, day, 365)
		}
		if c.chance(8) {
			c.add("adverse_events", day+5, "patient", map[string]any{"event": oneOf(c, []string{"constipation", "nausea", "sedation", "dizziness"}), "grade": 1 + c.IntN(2)})
		}
		if c.chance(12) {
			result := "positive"
			if c.chance(10) {
				result = "negative"
			}
			c.add("labs", day, "clinician", map[string]any{"analyte": steps[step]["name"], "method": "immunoassay", "result": result, "expected": "positive"})
		}
	}
}

// painOn returns the pain at the last visit up to a day.
func (c *course) painOn(day int) float64 {
	level := c.start
	for _, v := range c.seen {
		if v.day <= day {
			level = v.pain
		}
	}
	return level
}

// intervene records a procedure, or several of a course of therapy, with the
// pain before and after.
func (c *course) intervene() {
	what := oneOf(c, c.procedures)
	day := c.enrolled + 10 + c.IntN(60)
	for range 1 + c.IntN(2) {
		if day > c.last {
			return
		}
		before := rounded(c.painOn(day))
		after := max(0, before-c.IntN(4))
		value := map[string]any{"procedure_type": what, "body_site": c.site, "pre_score": before, "post_score": after}
		if before > 0 {
			value["relief_percent"] = 100 * (before - after) / before
		}
		c.add("procedures", day, "clinician", value)
		day += 60 + c.IntN(60)
	}
}

// finish sorts the records by time and removes those in the future.
func (c *course) finish(until time.Time) Patient {
	c.patient.Records = slices.DeleteFunc(c.patient.Records, func(r Record) bool { return r.At.After(until) })
	slices.SortStableFunc(c.patient.Records, func(a, b Record) int { return a.At.Compare(b.At) })
	return c.patient
}
