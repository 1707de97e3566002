package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"anodyne.example/anodyne/internal/store/engine"
)

const (
	// measureEvery is how often KeepMeasured measures. A scrape itself reads
	// neither the database nor the disk, however frequent it is.
	measureEvery = 5 * time.Second
	// measureRest is how often the database is measured while another node is
	// elected for background work.
	measureRest = time.Minute
	// measureLeading is how often the elected node measures it.
	measureLeading = 20 * time.Second
	// sizeEvery is how often PostgreSQL is asked for the size of the database,
	// for which it examines all of its files.
	sizeEvery = time.Minute
	// pendingMost bounds the number of entries without a position that are
	// counted, so that a stuck journal is not read over and over.
	pendingMost = 10_000
)

// KeepMeasured updates the metrics of the journal, the spool, the last backup,
// the database and the disk, until the context ends. It is a separate worker,
// so that it can show that another one hangs.
func (s System) KeepMeasured(ctx context.Context) error {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	poll := s.db.NewPoll(measureRest).Leading(measureLeading)
	var sized time.Time
	for {
		due := poll.Due()
		err := s.measure(ctx, due)
		if err != nil {
			poll.Again()
		}
		if err == nil && due && time.Since(sized) >= sizeEvery {
			if err = s.measureSize(ctx); err == nil {
				sized = time.Now()
			}
		}
		if ctx.Err() == nil {
			s.metrics.measures.Done(engine.IgnorePart(err))
			if err != nil && !errors.Is(err, engine.ErrPart) { // which the engine logs
				s.db.Log.Warn("could not update journal and disk metrics", "error", err)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// measure measures once, in the database too if polled. If something fails, it
// still updates the other metrics.
func (s System) measure(ctx context.Context, polled bool) error {
	var err error
	if polled {
		err = s.measureJournal(ctx)
	}
	if polled || s.Degraded() { // to notice soon that it no longer is
		err = errors.Join(err, s.measureWorkers(ctx))
	}
	return errors.Join(err, s.measureSpool(), s.measureFiles())
}

// unsealed finds the oldest entry after the seal of each organisation, by
// position. If the entry is missing, the time of the seal counts.
const unsealed = `SELECT CAST(coalesce(sum(n), 0) AS BIGINT), coalesce(min(since), 0) FROM (
		SELECT h.pos - coalesce(s.pos, 0) AS n, coalesce((SELECT j.at FROM journal j WHERE j.org_no = h.org_no AND j.pos = coalesce(s.pos, 0) + 1 /*AND j.org_no = ANY($1)*/),
			s.sealed_at, 0) AS since
		FROM journal_head h LEFT JOIN journal_seal s ON s.org_no = h.org_no /*AND s.org_no = ANY($1)*/ WHERE h.pos > coalesce(s.pos, 0)
		/*AND h.org_no = ANY($1)*/) AS behind`

// waiting counts entries that wait for something, and has the time of the oldest.
type waiting struct{ n, since int64 }

func (w *waiting) add(n, since int64) {
	if n > 0 && (w.n == 0 || since < w.since) {
		w.since = since
	}
	w.n += n
}

func (s System) measureJournal(ctx context.Context) error {
	var pending, behind waiting
	var backup int64
	err := s.db.EachPart(ctx, func(ctx context.Context, p engine.Part) error {
		var partPending, partBehind waiting
		err := s.db.Read(ctx, func(tx engine.Tx) error {
			backup = 0
			return tx.Many(
				engine.Stmt{SQL: p.SQL(s.db.Dialect().Pending), Args: p.Args(int64(pendingMost)), Each: func(r engine.Row) error {
					partPending = waiting{r.Int(0), r.Int(1)}
					return nil
				}},
				engine.Stmt{SQL: p.SQL(unsealed), Args: p.Args(), Each: func(r engine.Row) error {
					partBehind = waiting{r.Int(0), r.Int(1)}
					return nil
				}},
				engine.Stmt{SQL: `SELECT value FROM setting WHERE name = $1`, Args: []any{backupSetting}, Each: func(r engine.Row) (err error) {
					backup, err = strconv.ParseInt(string(r.Raw(0)), 10, 64)
					return err
				}},
			)
		})
		if err == nil {
			pending.add(partPending.n, partPending.since)
			behind.add(partBehind.n, partBehind.since)
		}
		return err
	})
	if err != nil && !errors.Is(err, engine.ErrPart) {
		return err
	}
	s.metrics.pending.Set(float64(pending.n))
	s.metrics.pendingAge.Set(s.age(pending))
	s.metrics.unsealed.Set(float64(behind.n))
	s.metrics.unsealedAge.Set(s.age(behind))
	s.metrics.backup.Set(float64(backup) / 1000)
	return err
}

// age returns the age of the oldest entry in seconds, or 0 if there is none.
func (s System) age(w waiting) float64 {
	if w.n == 0 {
		return 0
	}
	return max(0, s.db.Now().Sub(engine.FromMillis(w.since)).Seconds())
}

func (s System) measureSpool() error {
	bytes, segments, oldest, err := s.journal.Spooled()
	if err != nil {
		return err
	}
	age := 0.0
	if segments > 0 {
		age = max(0, time.Since(oldest).Seconds())
	}
	s.metrics.spoolBytes.Set(float64(bytes))
	s.metrics.spoolSegments.Set(float64(segments))
	s.metrics.spoolAge.Set(age)
	return nil
}

// measureFiles measures the files and their disks.
func (s System) measureFiles() error {
	errs := []error{s.measureDisk("data", s.dataDir)}
	if files := s.db.Files(); files.Database != "" {
		errs = append(errs, measureFile(files.Database, s.metrics.databaseBytes.Set), measureFile(files.Log, s.metrics.walBytes.Set),
			s.measureDisk("database", filepath.Dir(files.Database)))
	}
	return errors.Join(errs...)
}

func measureFile(path string, set func(float64)) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) { // there is no log if nobody has the file open
		set(0)
		return nil
	}
	if err == nil {
		set(float64(info.Size()))
	}
	return err
}

func (s System) measureDisk(volume, path string) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil {
		return &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	s.metrics.diskFree.WithLabelValues(volume).Set(float64(disk.Bavail) * float64(disk.Bsize))
	s.metrics.diskSize.WithLabelValues(volume).Set(float64(disk.Blocks) * float64(disk.Bsize))
	return nil
}

// measureSize reads the size of a database whose files are elsewhere.
func (s System) measureSize(ctx context.Context) error {
	if s.db.Files().Database != "" {
		return nil
	}
	bytes, err := s.db.Size(ctx)
	if err == nil {
		s.metrics.databaseBytes.Set(float64(bytes))
	}
	return err
}

// backupSetting stores when the latest backup was made, as digits that sort as
// text.
const backupSetting = "backup_made_at"

// RecordBackup stores when a backup was made, so that every node can show the
// age of the latest one.
func (s System) RecordBackup(ctx context.Context, madeAt time.Time) error {
	value := fmt.Appendf(nil, "%020d", engine.Millis(madeAt))
	return s.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`INSERT INTO setting AS s (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE s.value < excluded.value`, backupSetting, value)
		return err
	})
}
