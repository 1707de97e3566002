package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"anodyne/client"
)

// demoPatients is how many patients the demonstration makes up.
const demoPatients = 60

var (
	demoGiven   = []string{"María", "José", "Aisha", "Liam", "Zoë", "Björn", "Łukasz", "Priya", "Chen", "Fatima", "Noah", "Ingrid", "Kwame", "Yuki", "Élodie", "Dimitri", "Ana", "Tomás", "Grace", "Mehmet"}
	demoFamily  = []string{"García", "Nguyen", "O’Brien", "Müller", "Kowalska", "Okafor", "Tanaka", "Svensson", "Haddad", "Ivanova", "Silva", "Novák", "Papadopoulos", "Singh", "Dubois", "Jensen", "Rossi", "Yılmaz"}
	demoGenders = []string{"female", "male", "female", "male", "non-binary", ""}
	demoHistory = []client.HistoryEntry{
		{Condition: "Chronic low back pain", ICD10Code: "M54.50", Status: "active", Category: "pain"},
		{Condition: "Fibromyalgia", ICD10Code: "M79.7", Status: "active", Category: "pain"},
		{Condition: "Chronic pain syndrome", ICD10Code: "G89.4", Status: "active", Category: "pain"},
		{Condition: "Complex regional pain syndrome I", ICD10Code: "G90.5", Status: "active", Category: "pain"},
		{Condition: "Sleep apnoea", ICD10Code: "G47.33", Status: "active", Category: "medical"},
	}
)

// seedDemo makes the patients up, always the same ones, each with a year of
// clinical data, and gives their number and the first of them. A second call
// finds them there. It goes through the API, like everybody.
func seedDemo(ctx context.Context, e env, c *client.Client) (total int, first string, err error) {
	defer c.CloseIdleConnections()
	page, err := c.Patients(ctx, client.PatientQuery{Limit: 1})
	if err != nil {
		return 0, "", err
	}
	if page.Pagination.Total > 0 {
		return page.Pagination.Total, page.Data[0].ID, nil
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	for i := range demoPatients {
		p := client.NewPatient{
			Name:        pick(demoGiven) + " " + pick(demoFamily),
			DateOfBirth: time.Date(1935+random.IntN(70), time.Month(1+random.IntN(12)), 1+random.IntN(28), 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			Gender:      pick(demoGenders),
			Contact:     client.Contact{Email: fmt.Sprintf("patient%02d@example.org", i+1), Phone: fmt.Sprintf("+1-555-01%02d", i)},
		}
		for range 1 + random.IntN(2) {
			entry := demoHistory[random.IntN(len(demoHistory))]
			entry.OnsetDate = fmt.Sprintf("%d-%02d", 2008+random.IntN(16), 1+random.IntN(12))
			p.MedicalHistory = append(p.MedicalHistory, entry)
		}
		made, err := c.CreatePatient(ctx, p, client.WithIdempotencyKey(fmt.Sprintf("demo-%d", i)))
		if err != nil {
			return 0, "", err
		}
		if err := addCourse(ctx, c, made.ID, fmt.Sprintf("demo-course-%d", i), random, time.Now()); err != nil {
			return 0, "", err
		}
		if i == 0 {
			first = made.ID
		}
		fmt.Fprintf(e.stderr, "\rmaking up patients: %d of %d ", i+1, demoPatients)
	}
	fmt.Fprintln(e.stderr)
	return demoPatients, first, nil
}
