package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
)

// Secret is a flag with a value that is never printed.
type Secret string

// String hides the value.
func (s *Secret) String() string {
	if *s == "" {
		return ""
	}
	return "(hidden)"
}

// Set sets the value.
func (s *Secret) Set(value string) error {
	*s = Secret(value)
	return nil
}

// Key returns the database key, or nil if there is none.
func (c *Config) Key() (*seal.Key, error) {
	switch {
	case c.DatabaseKeyFile != "" && c.DatabaseKey != "":
		return nil, errors.New("--database-key-file: ANODYNE_DATABASE_KEY is also set; use only one of them")
	case c.DatabaseKeyFile != "":
		return ReadKey("database-key-file", c.DatabaseKeyFile)
	case c.DatabaseKey != "":
		key, err := seal.ParseKey([]byte(c.DatabaseKey))
		if err != nil {
			return nil, fmt.Errorf("ANODYNE_DATABASE_KEY: %w", err)
		}
		return key, nil
	}
	return nil, nil
}

// ReadKey reads the key file given by a flag.
func ReadKey(flag, path string) (*seal.Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	key, err := seal.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %s: %w", flag, path, err)
	}
	return key, nil
}

// Opening returns the configuration for opening the database.
func (c *Config) Opening(log *slog.Logger) (store.Config, error) {
	key, err := c.Key()
	return store.Config{Database: c.Database, Key: key, DataDir: c.DataDir, Wait: c.DatabaseWait, Log: log}, err
}
