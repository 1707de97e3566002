package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/server"
)

// demoOrganisation is the organisation of the demo's patients.
const demoOrganisation = "Demo Pain Clinic"

func runDemo(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "demo", "demo [flags]\n\nServes a demo in development mode, on its own database with synthetic patients. The data is kept between runs.")
	cfg.Serve(fs)
	dir := fs.String("dir", "anodyne-demo", "`directory` of the demo database")
	reset := fs.Bool("reset", false, "delete the demo data and start over")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
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
	receiver, err := receive(e.Stdout)
	if err != nil {
		return err
	}
	defer receiver.close()
	return serve(ctx, e, cfg, cfg.Logger(e.Stderr), func(s *server.Server) error {
		state, err := openDemoState(ctx, s.Store().System(), *dir)
		if err != nil {
			return err
		}
		c := client.New(s.URL(), state.ClientID, state.ClientSecret)
		defer c.CloseIdleConnections()
		if !state.Seeded {
			if err := seedDemo(ctx, e.Stderr, c, state.Until); err != nil {
				return fmt.Errorf("synthetic patients: %w", err)
			}
			state.Seeded = true
			if err := state.save(); err != nil {
				return err
			}
		}
		if err := receiver.subscribe(ctx, c, state); err != nil {
			return err
		}
		page, err := c.Patients(ctx, client.PatientQuery{Limit: 1})
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Stdout, demoText, *dir, page.Pagination.Total, s.URL(), state.ClientID, state.ClientSecret, page.Data[0].ID, state.Email, state.Password)
		return nil
	})
}

const demoText = `
Anodyne is running with synthetic data in %[1]s/ (%[2]d patients). Press Ctrl-C to stop; the data is kept.

  Portal         %[3]s/portal
    sign in as     %[7]s
    password       %[8]s
  Documentation  %[3]s/docs
  API            %[3]s
    client_id      %[4]s
    client_secret  %[5]s

Paste these commands into another terminal. The one for Ada Nowak creates a patient; its signed webhook appears in this terminal.

  TOKEN=$(curl -s %[3]s/oauth/token -d grant_type=client_credentials -d client_id=%[4]s -d client_secret=%[5]s | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/patients?search=jose&limit=5'
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/patients/%[6]s/clinical-data?data_type=pain_scores,medications&limit=5'
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/analytics/outcomes?condition=M54'
  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' %[3]s/v1/patients -d '{"name":"Ada Nowak","date_of_birth":"1984-05-17","gender":"female","contact":{"email":"ada@example.org"}}'
  curl -s -H "Authorization: Bearer $TOKEN" '%[3]s/v1/events?limit=3'

`

// removeDemo deletes the files of a demo and nothing else.
func removeDemo(dir string) error {
	for _, name := range []string{"anodyne.db", "anodyne.db-wal", "anodyne.db-shm", "anodyne.db.lock", "anodyne.db.key-check", "anodyne.db.d", "credentials.json", "demo.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
