package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/portal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
)

// demoState is what a demo needs when it is started again. It is stored beside
// the database.
type demoState struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Email        string `json:"email"`
	Password     string `json:"password"`
	// The webhook of the demo's own receiver.
	WebhookID     string `json:"webhook_id,omitempty"`
	WebhookSecret string `json:"webhook_secret,omitempty"`
	// Until is the end of the synthetic year. Seeded is set once all patients
	// exist; an interrupted demo is completed with the same Until.
	Until  time.Time `json:"until"`
	Seeded bool      `json:"seeded"`

	path string
}

// openDemoState reads the state, or creates it together with a client and a
// member.
func openDemoState(ctx context.Context, s store.System, dir string) (*demoState, error) {
	d := &demoState{path: filepath.Join(dir, "demo.json")}
	text, err := os.ReadFile(d.path)
	if err == nil {
		return d, json.Unmarshal(text, d)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	secret, hash := oauth.NewSecret()
	made, err := s.CreateClient(ctx, clients.NewClient{
		Org: demoOrganisation, Name: "Demonstration", Description: "Created by anodyne demo; has all scopes.",
		Tier: access.Enterprise, Scopes: access.AllScopes, SecretHash: hash,
	})
	if err != nil {
		return nil, err
	}
	d.ClientID, d.ClientSecret = made.ID.String(), secret
	d.Email, d.Password, d.Until = "demo@example.org", rand.Text(), time.Now().UTC().Truncate(time.Second)
	_, err = s.CreateAccount(ctx, demoOrganisation, accounts.NewAccount{
		Email: d.Email, Name: "Demo Administrator", Role: access.Administrator, PasswordHash: portal.HashPassword(d.Password),
	})
	if err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	return d, d.save()
}

// save writes the state atomically: after a crash, either the old or the new
// one is there.
func (d *demoState) save() error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(d.path+".new", d.path)
}
