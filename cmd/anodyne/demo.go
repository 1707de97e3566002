package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"anodyne/client"
	"anodyne/internal/access"
	"anodyne/internal/config"
	"anodyne/internal/oauth"
	"anodyne/internal/server"
	"anodyne/internal/store"
)

// demoCredentials are kept beside the demonstration's database, so that it
// can be started again and print them again.
type demoCredentials struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

func runDemo(ctx context.Context, e env, args []string) error {
	var cfg config.Config
	fs := flags(e, "demo", "demo [flags]\n\nServes a demonstration in development mode, on a database of its own with made-up patients. Starting it again keeps the data.")
	cfg.Serve(fs)
	dir := fs.String("dir", "anodyne-demo", "`folder` of the demonstration's database")
	reset := fs.Bool("reset", false, "start over: delete the demonstration's data first")
	if _, err := parse(e, fs, args, 0); err != nil {
		return err
	}
	cfg.Dev = true
	cfg.Database, cfg.DataDir = "sqlite:"+filepath.Join(*dir, "anodyne.db"), ""
	cfg.Finish()
	if err := cfg.Validate(); err != nil {
		return err
	}
	if *reset {
		if err := removeDemo(*dir); err != nil {
			return err
		}
	}
	return serve(ctx, e, cfg, cfg.Logger(e.stderr), func(s *server.Server) error {
		creds, err := demoClient(ctx, s.Store().System(), filepath.Join(*dir, "credentials.json"))
		if err != nil {
			return err
		}
		patients, first, err := seedDemo(ctx, e, client.New(s.URL(), creds.ClientID, creds.ClientSecret))
		if err != nil {
			return fmt.Errorf("made-up patients: %w", err)
		}
		fmt.Fprintf(e.stdout, demoText, *dir, patients, s.URL(), creds.ClientID, creds.ClientSecret, first)
		return nil
	})
}

const demoText = `
Anodyne is running on made-up data in %[1]s/ (%[2]d patients). Ctrl-C stops it; starting it again keeps the data.

  API            %[3]s
  API document   %[3]s/openapi.yaml
  client_id      %[4]s
  client_secret  %[5]s

Paste these into another terminal:

  TOKEN=$(curl -s %[3]s/oauth/token -d grant_type=client_credentials -d client_id=%[4]s -d client_secret=%[5]s | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/patients?limit=5'
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/patients?search=jose'
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/patients/%[6]s/clinical-data?data_type=pain_scores,medications&limit=5'
  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' %[3]s/v1/patients -d '{"name":"Ada Nowak","date_of_birth":"1984-05-17","gender":"female","contact":{"email":"ada@example.org"}}'
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/events?limit=3'

`

// removeDemo deletes what a demonstration made, and nothing else.
func removeDemo(dir string) error {
	for _, name := range []string{"anodyne.db", "anodyne.db-wal", "anodyne.db-shm", "anodyne.db.d", "credentials.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// demoClient gives the demonstration's client, making it the first time.
func demoClient(ctx context.Context, s store.System, path string) (demoCredentials, error) {
	var creds demoCredentials
	text, err := os.ReadFile(path)
	if err == nil {
		return creds, json.Unmarshal(text, &creds)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return creds, err
	}
	secret, hash := oauth.NewSecret()
	made, err := s.CreateClient(ctx, store.NewClient{Org: "default", Name: "Demonstration", Tier: access.Enterprise, Scopes: access.AllScopes, SecretHash: hash})
	if err != nil {
		return creds, err
	}
	creds = demoCredentials{made.ID.String(), secret}
	if text, err = json.MarshalIndent(creds, "", "  "); err != nil {
		return creds, err
	}
	return creds, os.WriteFile(path, append(text, '\n'), 0o600)
}
