package main

import (
	"context"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/engine"
)

func runRekey(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "rekey", "rekey --new-key-file FILE [flags]\n\nEncrypts a SQLite file, changes its key, or decrypts it with --remove-key. No server may have the file open.\nThe command writes a copy beside the file and verifies it before replacing the file, so it needs as much free disk space as the file uses.")
	cfg.Store(fs)
	keyFile := fs.String("new-key-file", "", "`file` with the new key: 64 hexadecimal digits, or a passphrase")
	remove := fs.Bool("remove-key", false, "decrypt the file")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	if (*keyFile == "") != *remove {
		return errors.New("give either --new-key-file or --remove-key")
	}
	sc, err := cfg.Opening(commandLog())
	if err != nil {
		return err
	}
	if engine.MustExist(sc.Database) != nil {
		return noDatabase(sc)
	}
	var fresh *seal.Key
	if *keyFile != "" {
		if fresh, err = config.ReadKey("new-key-file", *keyFile); err != nil {
			return err
		}
	}
	if err := engine.Rekey(ctx, sc.Database, sc.Key, fresh, cli.Bar(e.Stderr)); err != nil {
		return err
	}
	if *remove {
		fmt.Fprintln(e.Stdout, "the database is no longer encrypted")
	} else {
		fmt.Fprintln(e.Stdout, "the database is encrypted with the new key; earlier backups still need the old key")
	}
	return nil
}
