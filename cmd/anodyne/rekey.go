package main

import (
	"context"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
)

func runRekey(ctx context.Context, e env, args []string) error {
	var cfg config.Config
	fs := flags(e, "rekey", "rekey --new-key-file FILE [flags]\n\nEncrypts a SQLite file, changes its key, or decrypts it with --remove-key. No server may have the file open.\nThe command writes a copy beside the file and verifies it before replacing the file, so it needs as much free disk space as the file uses.")
	cfg.Store(fs)
	keyFile := fs.String("new-key-file", "", "`file` with the new key: 64 hexadecimal digits, or a passphrase")
	remove := fs.Bool("remove-key", false, "decrypt the file")
	if _, err := parse(e, fs, args, 0); err != nil {
		return err
	}
	if (*keyFile == "") != *remove {
		return errors.New("give either --new-key-file or --remove-key")
	}
	sc, err := cfg.Opening(commandLog())
	if err != nil {
		return err
	}
	var fresh *seal.Key
	if *keyFile != "" {
		if fresh, err = config.ReadKey("new-key-file", *keyFile); err != nil {
			return err
		}
	}
	if err := store.Rekey(ctx, sc.Database, sc.Key, fresh, bar(e.stderr)); err != nil {
		return err
	}
	if *remove {
		fmt.Fprintln(e.stdout, "the database is no longer encrypted")
	} else {
		fmt.Fprintln(e.stdout, "the database is encrypted with the new key; earlier backups still need the old key")
	}
	return nil
}
