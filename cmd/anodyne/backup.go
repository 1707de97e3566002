package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/backup"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

func runBackup(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "backup", "backup FILE [flags]\n\nWrites a consistent backup of the database to a new file, while servers keep running. The file is read back and verified before it appears under its name.\nWith a database key, the backup is encrypted and contains the keys of the data directory; without one, it is authenticated with the audit key.")
	cfg.Store(fs)
	verify := fs.Bool("verify", false, "verify the checksums of an existing backup instead of writing one")
	file, sc, err := parseBackup(e, fs, args, &cfg)
	if err != nil {
		return err
	}
	defer boundGarbage(e, bulkSpareBytes)()
	show := cli.Bar(e.Stderr)
	if *verify {
		keys, err := restoreKeys(sc)
		if err != nil {
			return err
		}
		sum, err := backup.Verify(ctx, file, keys, show)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Stdout, "%s is intact: %s\n", file, inWords(sum))
		return nil
	}
	s, err := openExisting(ctx, sc)
	if err != nil {
		return err
	}
	sum, err := backup.Write(ctx, s.System(), backup.Keys{Database: sc.Key, Audit: s.System().KeyFiles()["audit.key"]}, file, version, time.Now(), show)
	if err == nil {
		if recordErr := s.System().RecordBackup(ctx, sum.MadeAt); recordErr != nil {
			fmt.Fprintf(e.Stderr, "anodyne: the backup is complete, but its time could not be stored in the database, so the metrics still show the previous backup: %v\n", recordErr)
		}
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "wrote and verified %s: %s\n", file, inWords(sum))
	if !sum.Encrypted {
		fmt.Fprintf(e.Stdout, "The backup is not encrypted. Keep audit.key and master.key of %s in a separate place: a restore needs them.\n", cfg.DataDir)
	}
	return nil
}

// parseBackup parses the command line of backup and restore: a file and the
// settings of the database.
func parseBackup(e cli.Env, fs *flag.FlagSet, args []string, cfg *config.Config) (file string, sc store.Config, err error) {
	words, err := cli.Parse(e, fs, args, 1)
	if err != nil {
		return "", sc, err
	}
	cfg.Finish()
	sc, err = cfg.Opening(commandLog())
	return words[0], sc, err
}

func inWords(s backup.Summary) string {
	state := "not encrypted"
	if s.Encrypted {
		state = "encrypted"
	}
	return fmt.Sprintf("%d rows in %d tables, %d bytes, schema %d, created at %s, %s", s.Rows, s.Tables, s.Bytes, s.Schema, s.MadeAt.Format(time.RFC3339), state)
}

func runRestore(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "restore", "restore FILE --database ADDRESS [flags]\n\nRestores a backup into a new or empty database, SQLite or PostgreSQL, whichever engine the backup came from.\nThe file is verified first, and the database is compared with it afterwards.\nThe restore is recorded in the audit logs. If the data directory has a record of seals from another database,\nthe restored logs are accepted in its place, for all nodes.\nPatients that were erased after the backup was made are erased again: those in the list of the data directory (DATA-DIR/erasures), and those of --erasures.")
	cfg.Store(fs)
	keyFile := fs.String("backup-key-file", "", "`file` with the key of the backup, if it differs from the key of the database")
	erasures := fs.String("erasures", "", "`file` with patients to erase after the restore, one identifier on each line, such as a copy of DATA-DIR/erasures from another node")
	file, sc, err := parseBackup(e, fs, args, &cfg)
	if err != nil {
		return err
	}
	erased, err := erasedSince(sc.DataDir, *erasures)
	if err != nil {
		return err
	}
	keys, err := restoreKeys(sc)
	if err != nil {
		return err
	}
	if *keyFile != "" {
		if keys.Database, err = config.ReadKey("backup-key-file", *keyFile); err != nil {
			return err
		}
	}
	defer boundGarbage(e, bulkSpareBytes)()
	_, err = backup.Restore(ctx, sc, keys, file, cli.Bar(e.Stderr), func(s store.System, sum backup.Summary) error {
		fmt.Fprintf(e.Stdout, "restored and verified: %s\n", inWords(sum))
		if err := noteRestore(ctx, s, sum); err != nil || len(erased) == 0 {
			return err
		}
		return eraseAgain(ctx, e, s, erased)
	})
	return err
}

// erasedSince reads the lists of erased patients, before anything is restored.
// Those of path are added to the list of the data directory, so that they are not
// forgotten if the restore is killed.
func erasedSince(dataDir, path string) (erased []patients.Erased, err error) {
	if path != "" {
		if erased, err = store.ReadErasures(path); err == nil {
			err = store.AddErasures(dataDir, erased)
		}
		if err != nil {
			return nil, err
		}
	}
	if erased, err = store.ReadErasures(store.ErasuresPath(dataDir)); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return erased, err
}

func eraseAgain(ctx context.Context, e cli.Env, s store.System, erased []patients.Erased) error {
	n, err := s.ApplyErasures(ctx, erased, cli.Bar(e.Stderr))
	if err != nil {
		return fmt.Errorf("the data was restored, but patients that were erased since are still in it; run anodyne restore again: %w", err)
	}
	fmt.Fprintf(e.Stdout, "erased again: %d of %d patients in the lists\n", n, len(erased))
	return nil
}

// noteRestore adds an entry to every audit log and makes nodes accept the
// restored logs in place of the heads they remember. If this data directory
// remembers no heads, there is nothing to accept, so a trial restore cannot
// pass for a restore of the service.
func noteRestore(ctx context.Context, s store.System, sum backup.Summary) error {
	_, err := s.AcceptSeals(ctx, journal.Accepting{
		Action: audit.DatabaseRestore, Reason: "restored from a backup created at " + sum.MadeAt.UTC().Format(time.RFC3339), OnlyLines: !s.Witnessed(),
	})
	if err != nil {
		err = fmt.Errorf("the data was restored, but its audit logs were not accepted (see anodyne seal accept --help): %w", err)
	}
	return err
}

// restoreKeys returns the keys available for reading a backup.
func restoreKeys(sc store.Config) (backup.Keys, error) {
	audit, err := store.AuditKey(sc.DataDir)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return backup.Keys{Database: sc.Key, Audit: audit}, err
}
