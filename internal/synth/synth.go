// Package synth generates patients with a year of pain treatment, for the
// demo, for benchmarks and for experiments. It is deterministic: the same
// seed, number and day always give the same patient.
//
// The courses are realistic enough that outcomes are neither flat nor perfect.
// A patient enrols some time in the year with a condition and a pain of 4 to
// 9, and follows one of five kinds of course (see Kinds): most improve, some a
// little, some not at all, some relapse, a few get worse. Pain is measured at
// visits two to five weeks apart; about one in eight is missed, and one
// patient in ten drops out. Treatment follows the condition: a first-line
// medicine; for a third an opioid, with a dose that is raised while pain
// persists and lowered when it improves; for some of those also a
// benzodiazepine, and naloxone for some with high doses; procedures and
// physiotherapy for a third, with pain before and after. Questionnaires and
// the impact of pain follow the pain, with noise of their own.
//
// The frequencies are not taken from a study: they are chosen so that every
// figure of the analytics has data.
package synth

import (
	"math/rand/v2"
	"time"

	"github.com/brianvoe/gofakeit/v7"
)

// Generator generates patients. Their year ends at Until.
type Generator struct {
	Seed  uint64
	Until time.Time
}

// Days is the length of the courses.
const Days = 365

// Patient is a synthetic patient with all records, sorted by time.
type Patient struct {
	Name        string
	DateOfBirth time.Time
	Gender      string
	Email       string
	Phone       string
	History     []Condition
	Records     []Record
}

// Condition is an entry of a medical history.
type Condition struct {
	Name, ICD10, Status, Category, Onset string
}

// Record is a clinical record in the format of the API.
type Record struct {
	Type   string
	At     time.Time
	Source string
	Value  map[string]any
}

// Patient generates the n-th patient.
func (g Generator) Patient(n int) Patient {
	random := rand.New(rand.NewPCG(g.Seed, uint64(n)))
	c := &course{
		Rand: random, person: gofakeit.NewFaker(random, false),
		first: g.Until.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-Days),
	}
	c.who(n)
	c.choose()
	c.visits()
	c.treat()
	c.impact() // last, so that what was generated before does not change
	return c.finish(g.Until)
}

// course is a patient being generated.
type course struct {
	*rand.Rand
	person  *gofakeit.Faker
	first   time.Time // day 0
	patient Patient
	condition
	kind Kind
	// enrolled and last are the days of the first and last visit.
	enrolled, last int
	start          float64 // pain at enrolment
	seen           []visit
	opioid         bool
}

// at returns a time on a day, in whole minutes within office hours.
func (c *course) at(day int) time.Time {
	return c.first.AddDate(0, 0, day).Add(8*time.Hour + time.Duration(c.IntN(9*60))*time.Minute)
}

// chance returns true with this probability.
func (c *course) chance(percent int) bool { return c.IntN(100) < percent }

func (c *course) add(kind string, day int, source string, value map[string]any) {
	c.patient.Records = append(c.patient.Records, Record{kind, c.at(day), source, value})
}

func oneOf[T any](c *course, list []T) T { return list[c.IntN(len(list))] }
