package bench

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/journal"
)

var (
	givenNames = []string{"Aisha", "Ana", "Björn", "Chen", "Dimitri", "Élodie", "Fatima", "Grace", "Ingrid", "José", "Kwame", "Liam",
		"María", "Mehmet", "Noah", "Priya", "Tomás", "Yuki", "Zoë"}
	familyStems = []string{"Ander", "Berg", "Castel", "Dahl", "Eriks", "Fern", "Gold", "Hart", "Ivan", "Jans"}
	familyEnds  = []string{"berg", "dottir", "feld", "hauser", "ini", "lund", "mann", "ova", "quist", "son"}
	genders     = []string{"female", "male", "female", "male", "non-binary"}
	histories   = []pain.History{
		pain.NewHistory(pain.HistoryEntry{Condition: "Chronic low back pain", ICD10Code: "M54.50", Status: "active"}),
		pain.NewHistory(pain.HistoryEntry{Condition: "Fibromyalgia", ICD10Code: "M79.7", Status: "active"}),
		pain.NewHistory(pain.HistoryEntry{Condition: "Chronic pain syndrome", ICD10Code: "G89.4", Status: "active"}),
	}
)

// familyName returns one of a hundred family names; about one patient in a
// hundred has each.
func familyName(n int) string {
	return familyStems[n%len(familyStems)] + familyEnds[n/len(familyStems)%len(familyEnds)]
}

// scatter deterministically scatters neighbouring numbers.
func scatter(n int) int { return int(uint32(n) * 2654435761 >> 4) }

func personName(n int) string {
	s := scatter(n)
	return givenNames[s%len(givenNames)] + " " + familyName(s/len(givenNames))
}

func birthday(n int) pain.Date {
	s := scatter(n)
	return pain.Date{Year: 1935 + s%70, Month: time.Month(1 + s%12), Day: 1 + s%28}
}

// person generates a patient, which is always the same for a number except for
// the identifier.
func person(n int, now time.Time) pain.Patient {
	return pain.Patient{
		ID: id.New[id.PatientKind](now), Name: personName(n), DateOfBirth: birthday(n), Gender: genders[n%len(genders)],
		Contact:        pain.Contact{Email: fmt.Sprintf("patient%d@example.org", n), Phone: fmt.Sprintf("+1-555-%07d", n)},
		MedicalHistory: histories[n%len(histories)], CreatedAt: now.UTC().Truncate(time.Second), Version: 1,
	}
}

// arrival returns the change that the API would record for a new patient.
func arrival(p *pain.Patient, client id.Client) journal.Change {
	return journal.Change{
		Audit: audit.Entry{At: p.CreatedAt, RequestID: id.New[id.RequestKind](p.CreatedAt).String(), Actor: client.String(),
			Action: audit.PatientCreate, Resource: p.ID.String(), Source: "127.0.0.1"},
		Event:   event.Patient(event.PatientCreated, p.CreatedAt, p.ID),
		Subject: p.ID,
	}
}

// creation is the request body of the specification, read by the baseline
// server and sent by the load.
type creation struct {
	Name        string `json:"name"`
	DateOfBirth string `json:"date_of_birth"`
	Gender      string `json:"gender"`
	Contact     struct {
		Email string `json:"email"`
	} `json:"contact"`
}

// bodyVariants is the number of different patients posted.
const bodyVariants = 4096

// arrivals are the bodies posted, rendered once for all paths.
var arrivals = sync.OnceValue(func() [][]byte { return creations(bodyVariants) })

// creations renders bodies that differ in all fields.
func creations(count int) [][]byte {
	bodies := make([][]byte, count)
	for n := range bodies {
		c := creation{Name: personName(n), DateOfBirth: birthday(n).String(), Gender: genders[n%len(genders)]}
		c.Contact.Email = fmt.Sprintf("arrival%d@example.org", n)
		body, err := json.Marshal(c)
		if err != nil {
			panic(err) // strings always marshal
		}
		bodies[n] = body
	}
	return bodies
}
