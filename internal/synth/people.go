package synth

import (
	"fmt"
	"time"
)

// condition is a cause of pain with its attributes.
type condition struct {
	name, icd10 string
	site        string
	weight      int
	// neuropathic pain has a different first-line treatment.
	neuropathic bool
	procedures  []string
}

var conditions = []condition{
	{"Chronic low back pain", "M54.50", "lower back", 32, false, []string{"epidural_steroid", "facet_injection", "medial_branch_block", "radiofrequency_ablation", "physical_therapy"}},
	{"Osteoarthritis of the knee", "M17.11", "knee", 16, false, []string{"joint_injection", "physical_therapy", "nerve_block"}},
	{"Fibromyalgia", "M79.7", "widespread", 12, true, []string{"physical_therapy", "cbt", "acupuncture"}},
	{"Diabetic neuropathy", "E11.42", "foot", 10, true, []string{"nerve_block", "scs_trial"}},
	{"Cervicalgia", "M54.2", "neck", 10, false, []string{"facet_injection", "trigger_point", "physical_therapy"}},
	{"Chronic pain syndrome", "G89.4", "widespread", 8, false, []string{"cbt", "physical_therapy", "intrathecal_pump"}},
	{"Complex regional pain syndrome I", "G90.5", "hand", 5, true, []string{"nerve_block", "scs_trial", "scs_implant"}},
	{"Pain in the shoulder", "M25.51", "shoulder", 7, false, []string{"joint_injection", "nerve_block", "physical_therapy"}},
}

// others are comorbidities with their frequency in percent.
var others = []struct {
	Condition
	percent int
}{
	{Condition{"Major depressive disorder", "F33.1", "active", "psychiatric", ""}, 18},
	{Condition{"Essential hypertension", "I10", "active", "medical", ""}, 24},
	{Condition{"Obstructive sleep apnoea", "G47.33", "active", "medical", ""}, 9},
	{Condition{"Opioid dependence", "F11.20", "remission", "substance_use", ""}, 4},
	{Condition{"Malignant neoplasm of breast", "C50.919", "active", "medical", ""}, 2},
	{Condition{"Type 2 diabetes", "E11.9", "active", "medical", ""}, 12},
}

// given and family are names that English lists lack; a program that shows
// names must be able to show them.
var (
	given  = []string{"María", "José", "Aisha", "Zoë", "Björn", "Łukasz", "Priya", "Νίκος", "Ольга", "Élodie", "Tomás", "Mehmet", "Yuki", "Kwame"}
	family = []string{"García", "Nguyễn", "O’Brien", "Müller", "Kowalska", "Okafor", "Παπαδόπουλος", "Иванова", "Novák", "Yılmaz", "Sørensen", "Haddad"}
)

// who generates the person. E-mail addresses use a reserved domain.
func (c *course) who(n int) {
	c.condition = c.weighted()
	name := c.person.FirstName() + " " + c.person.LastName()
	if c.chance(22) {
		name = oneOf(c, given) + " " + oneOf(c, family)
	}
	age := 24 + c.IntN(40) + c.IntN(28) // mostly between 40 and 75
	c.patient = Patient{
		Name: name, DateOfBirth: time.Date(c.first.Year()-age, time.Month(1+c.IntN(12)), 1+c.IntN(28), 0, 0, 0, 0, time.UTC),
		Gender: oneOf(c, []string{"female", "female", "female", "female", "female", "female", "male", "male", "male", "male", "male", "non-binary", ""}),
		Email:  fmt.Sprintf("patient%d@example.org", n+1), Phone: fmt.Sprintf("+1-555-%07d", n+1),
		History: []Condition{{c.name, c.icd10, "active", "pain", c.onset()}},
	}
	for _, other := range others {
		if c.chance(other.percent) {
			other.Onset = c.onset()
			c.patient.History = append(c.patient.History, other.Condition)
		}
	}
}

func (c *course) onset() string {
	return fmt.Sprintf("%d-%02d", c.first.Year()-1-c.IntN(12), 1+c.IntN(12))
}

func (c *course) weighted() condition {
	total := 0
	for _, one := range conditions {
		total += one.weight
	}
	left := c.IntN(total)
	for _, one := range conditions {
		if left -= one.weight; left < 0 {
			return one
		}
	}
	return conditions[0]
}
