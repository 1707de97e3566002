package pain

import (
	"regexp"

	"anodyne.example/anodyne/internal/id"
)

// Sleep is one night's sleep.
type Sleep struct {
	Hours            Number
	Quality          Number
	Awakenings       Number
	PainInterference Number
}

var sleeps = kind[Sleep]{
	optional: true,
	members: []member[Sleep]{
		number("hours", func(v *Sleep) *Number { return &v.Hours }, between(0, 24)),
		number("quality", func(v *Sleep) *Number { return &v.Quality }, between(0, 10)),
		number("awakenings", func(v *Sleep) *Number { return &v.Awakenings }, wholes(0, 50)),
		number("pain_interference", func(v *Sleep) *Number { return &v.PainInterference }, between(0, 10)),
	},
}

// Mood is a score, or a reference to an assessment of mood.
type Mood struct {
	Score        Number
	AssessmentID string
}

var moods = kind[Mood]{
	optional: true,
	members: []member[Mood]{
		number("score", func(v *Mood) *Number { return &v.Score }, between(0, 10)),
		assessmentLink(),
	},
}

func assessmentLink() member[Mood] {
	m := pattern("assessment_id", func(v *Mood) *string { return &v.AssessmentID }, regexp.MustCompile(`^rec_[0-7][0-9a-hjkmnp-tv-z]{25}$`), "")
	m = m.with(Pseudonymous)
	m.about = "the identifier of a record of type assessments"
	m.read = func(r *reading, v *Mood) {
		s, ok := r.String("assessment_id")
		if !ok {
			return
		}
		if _, err := id.Parse[id.RecordKind](s); err != nil {
			r.Fault("assessment_id", "must be the identifier of a record.")
			return
		}
		v.AssessmentID = s
	}
	return m
}

// Activity is one day's physical activity.
type Activity struct {
	Steps         Number
	ActiveMinutes Number
}

var activities = kind[Activity]{
	optional: true,
	members: []member[Activity]{
		number("steps", func(v *Activity) *Number { return &v.Steps }, wholes(0, 100_000)),
		number("active_minutes", func(v *Activity) *Number { return &v.ActiveMinutes }, between(0, 1440)),
	},
}

// Note is free text.
type Note struct {
	Text     string
	NoteType string
}

// maxNoteText is the maximum length of a note and of the notes of a record.
const maxNoteText = 20_000

var notes = kind[Note]{
	members: []member[Note]{
		text("text", func(v *Note) *string { return &v.Text }, maxNoteText, func(s string) string { return textProblem(s, maxNoteText) }).must().with(Removed),
		line("note_type", func(v *Note) *string { return &v.NoteType }, maxLabel).with(Removed),
	},
}
