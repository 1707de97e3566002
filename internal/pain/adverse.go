package pain

// AdverseEvent is an adverse event, such as a side effect of a medicine.
type AdverseEvent struct {
	Event         string
	Grade         Number
	Serious       Flag
	SuspectedDrug string
	Onset         string // partial date: as much of it as is known
	Resolved      string
	Outcome       string
	Derived       AdverseEventDerived
}

// AdverseEventDerived holds the values derived from an adverse event.
type AdverseEventDerived struct {
	GradeWord string
}

var (
	adverseEventNames = []string{"constipation", "nausea", "sedation", "dizziness", "pruritus", "respiratory_depression", "fall",
		"overdose", "withdrawal", "infection", "other"}
	grades = []string{"mild", "moderate", "severe", "life-threatening", "death"} // 1 to 5, as in CTCAE
)

var adverseEvents = kind[AdverseEvent]{
	members: []member[AdverseEvent]{
		word("event", func(v *AdverseEvent) *string { return &v.Event }, adverseEventNames).must(),
		number("grade", func(v *AdverseEvent) *Number { return &v.Grade }, wholes(1, 5)).means("CTCAE-style grade: 1 mild to 5 death"),
		yesNo("serious", func(v *AdverseEvent) *Flag { return &v.Serious }),
		line("suspected_drug", func(v *AdverseEvent) *string { return &v.SuspectedDrug }, maxShort).with(Removed),
		partialDay("onset", func(v *AdverseEvent) *string { return &v.Onset }),
		partialDay("resolved", func(v *AdverseEvent) *string { return &v.Resolved }),
		line("outcome", func(v *AdverseEvent) *string { return &v.Outcome }, maxShort).with(Removed),
		nested("derived", func(v *AdverseEvent) *AdverseEventDerived { return &v.Derived }, []member[AdverseEventDerived]{
			word("grade_word", func(v *AdverseEventDerived) *string { return &v.GradeWord }, grades),
		}).derived(),
	},
	check: func(v *AdverseEvent, r *reading) {
		if v.Onset != "" && v.Resolved != "" && partialBefore(v.Resolved, v.Onset) {
			r.Fault("resolved", "must not be before onset.")
		}
	},
	derive: func(v *AdverseEvent) {
		if grade, ok := v.Grade.Get(); ok {
			v.Derived.GradeWord = grades[int(grade)-1]
		}
	},
}
