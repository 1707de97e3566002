package storetest

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// Client creates a client with all scopes, and its organisation if there is
// none of that name.
func Client(tb testing.TB, s *store.Store, org string) access.Principal {
	tb.Helper()
	secret := sha256.Sum256([]byte("secret of " + org))
	c, err := s.System().CreateClient(context.Background(), clients.NewClient{
		Org: org, Name: "test", Tier: access.Standard, Scopes: access.AllScopes, SecretHash: secret[:]})
	if err != nil {
		tb.Fatal(err)
	}
	return access.Principal{Org: c.Org, OrgID: c.OrgID, Client: c.No, ClientID: c.ID, Scopes: c.Scopes, Tier: c.Tier}
}

// Patient returns a patient that is not stored yet.
func Patient(name string) pain.Patient {
	now := time.Now().UTC().Truncate(time.Second)
	return pain.Patient{
		ID: id.New[id.PatientKind](now), Name: name, DateOfBirth: pain.Date{Year: 1961, Month: time.March, Day: 14}, Gender: "female",
		Contact:        pain.Contact{Email: "a@example.org", Phone: "+46 8 1"},
		MedicalHistory: pain.NewHistory(pain.HistoryEntry{Condition: "Low back pain", ICD10Code: "M54.50"}),
		CreatedAt:      now, Version: 1,
	}
}

// Created returns the change for a new patient.
func Created(p pain.Patient) journal.Change {
	return change(p, audit.PatientCreate, event.PatientCreated)
}

// Updated returns the change for an updated patient.
func Updated(p pain.Patient) journal.Change {
	return change(p, audit.PatientUpdate, event.PatientUpdated)
}

func change(p pain.Patient, action audit.Action, kind event.Type) journal.Change {
	return journal.Change{
		Audit:   audit.Entry{At: p.CreatedAt, Actor: "test", Action: action, Resource: p.ID.String()},
		Event:   event.Patient(kind, p.CreatedAt, p.ID),
		Subject: p.ID,
	}
}

// AddPatient stores a new patient.
func AddPatient(tb testing.TB, o store.Org, name string) pain.Patient {
	tb.Helper()
	p := Patient(name)
	if _, err := o.CreatePatient(context.Background(), &p, Created(p), nil, idempotency.Outcome{}); err != nil {
		tb.Fatal(err)
	}
	return p
}

// AddPatients stores many new patients concurrently, so that the store batches
// them.
func AddPatients(tb testing.TB, o store.Org, count int, name func(i int) string) {
	tb.Helper()
	var next atomic.Int64
	var adding sync.WaitGroup
	for range 16 {
		adding.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				p := Patient(name(i))
				if _, err := o.CreatePatient(context.Background(), &p, Created(p), nil, idempotency.Outcome{}); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	adding.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
}

// TryPatient stores a new patient, and returns the error if that fails.
func TryPatient(t *testing.T, o store.Org) (pain.Patient, error) {
	t.Helper()
	p := Patient("A")
	_, err := o.CreatePatient(t.Context(), &p, Created(p), nil, idempotency.Outcome{})
	return p, err
}

// ClientOf finds a client in the list of all clients.
func ClientOf(t *testing.T, s *store.Store, clientID id.Client) clients.Client {
	t.Helper()
	for _, c := range Must[[]clients.Client](t)(s.System().Clients(t.Context())) {
		if c.ID == clientID {
			return c
		}
	}
	t.Fatalf("there is no client %s", clientID)
	return clients.Client{}
}

// Merge merges a patient into another one.
func Merge(ctx context.Context, o store.Org, from, into id.Patient) error {
	_, err := o.MergePatient(ctx, from, into, audit.Entry{At: time.Now(), Actor: "test"}, nil, func(*pain.Patient) idempotency.Outcome { return idempotency.Outcome{} })
	return err
}
