package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/synth"
)

const (
	// demoPatients is the number of synthetic patients.
	demoPatients = 500
	demoSeed     = 2026
	// demoExample is a patient with a rich history, who is created first and
	// named in the printed commands.
	demoExample = 403
	// demoWriters is the number of concurrent writers; the server commits them
	// in groups.
	demoWriters = 16
)

// seedDemo creates the patients, each with a year of clinical data. It uses
// the API, with idempotency keys that make it safe to repeat after an
// interruption.
func seedDemo(ctx context.Context, w io.Writer, c *client.Client, until time.Time) error {
	people := synth.Generator{Seed: demoSeed, Until: until}
	draw := cli.Bar(w)
	draw("patients", 0, demoPatients)
	if err := addMadeUp(ctx, c, people.Patient(demoExample), demoKey(demoExample)); err != nil {
		return err
	}
	var mu sync.Mutex
	done := int64(0)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(demoWriters)
	for n := range demoPatients {
		group.Go(func() error {
			if err := addMadeUp(ctx, c, people.Patient(n), demoKey(n)); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			draw("patients", done, demoPatients)
			return nil
		})
	}
	return group.Wait()
}

func demoKey(n int) string { return fmt.Sprintf("demo-%d", n) }

func addMadeUp(ctx context.Context, c *client.Client, p synth.Patient, key string) error {
	body := client.NewPatient{
		Name: p.Name, DateOfBirth: p.DateOfBirth.Format(time.DateOnly), Gender: p.Gender, Contact: client.Contact{Email: p.Email, Phone: p.Phone},
	}
	for _, h := range p.History {
		body.MedicalHistory = append(body.MedicalHistory, client.HistoryEntry{
			Condition: h.Name, ICD10Code: h.ICD10, Status: h.Status, Category: h.Category, OnsetDate: h.Onset,
		})
	}
	made, err := c.CreatePatient(ctx, body, client.WithIdempotencyKey(key))
	if err != nil {
		return err
	}
	records := make([]client.NewRecord, 0, len(p.Records))
	for _, r := range p.Records {
		records = append(records, client.NewRecord{DataType: r.Type, RecordedAt: r.At, Source: r.Source, Value: r.Value})
	}
	_, err = c.AddRecords(ctx, made.ID, records, client.WithIdempotencyKey(key))
	return err
}
