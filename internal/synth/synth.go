// Package synth makes up patients with a year of pain treatment, for the
// demonstration, for benchmarks and for trying things out. It is pure: the
// same seed, number and day always give the same patient.
//
// The courses are made so that outcomes are neither flat nor magic. A patient
// enrols some time in the year with a condition and a pain of 4 to 9, and
// belongs to one of five kinds of course (see Kinds): most improve, some a
// little, some not at all, some relapse, a few get worse. Pain is measured at
// visits two to five weeks apart; about one in eight is missed, and one patient
// in ten stops coming. Treatment follows the condition: a first-line medicine,
// for a third an opioid whose dose is raised while pain stays and lowered when
// it goes, for some of those a benzodiazepine as well, naloxone for some with
// high doses; procedures and physiotherapy for a third, with pain before and
// after. Questionnaires, and how often pain was there and limited life or work,
// follow the pain with noise of their own.
//
// None of the shares is taken from a study: they are chosen so that every
// figure of the analytics has something to show.
package synth

import (
	"math/rand/v2"
	"time"

	"github.com/brianvoe/gofakeit/v7"
)

// Generator makes up patients. Their year ends at Until: nothing is later.
type Generator struct {
	Seed  uint64
	Until time.Time
}

// Days is how long the courses go back.
const Days = 365

// Patient is a made-up person with all that was recorded of them, by time.
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

// Record is a clinical record in the API's words.
type Record struct {
	Type   string
	At     time.Time
	Source string
	Value  map[string]any
}

// Patient makes up the n-th patient.
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
	c.impact() // last: what is made up before stays as it was
	return c.finish(g.Until)
}

// course is a patient in the making.
type course struct {
	*rand.Rand
	person  *gofakeit.Faker
	first   time.Time // day 0
	patient Patient
	condition
	kind Kind
	// enrolled and last are the days of the first and the last visit.
	enrolled, last int
	start          float64 // pain on enrolment
	seen           []visit
	opioid         bool
}

// at is a time of a day, in whole minutes within office hours.
func (c *course) at(day int) time.Time {
	return c.first.AddDate(0, 0, day).Add(8*time.Hour + time.Duration(c.IntN(9*60))*time.Minute)
}

// chance is true so often out of a hundred.
func (c *course) chance(percent int) bool { return c.IntN(100) < percent }

func (c *course) add(kind string, day int, source string, value map[string]any) {
	c.patient.Records = append(c.patient.Records, Record{kind, c.at(day), source, value})
}

func oneOf[T any](c *course, list []T) T { return list[c.IntN(len(list))] }
