package journal

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Spooled returns the size of the spool, the number of its segments, and the
// time of its oldest line. It includes segments of processes that died.
func (s *Journal) Spooled() (bytes int64, segments int, oldest time.Time, err error) {
	return s.spool.waiting()
}

// SpoolFiles returns the files of the spool in a data directory.
func SpoolFiles(dir string) []string {
	segments, _ := filepath.Glob(filepath.Join(dir, spoolFolder, "*"+segmentSuffix+"*")) // the pattern is valid
	return segments
}

// waiting returns the size of the spool, the number of its segments, and the
// time of its oldest line. It includes segments of processes that died.
func (sp *spool) waiting() (bytes int64, segments int, oldest time.Time, err error) {
	note := func(size int64, since time.Time) {
		bytes += size
		segments++
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	sp.mu.Lock()
	own := sp.seg.path
	if sp.end > 0 {
		note(sp.end, sp.since)
	}
	sp.mu.Unlock()
	paths, err := filepath.Glob(filepath.Join(sp.dir, "*"+segmentSuffix))
	if err != nil {
		return 0, 0, time.Time{}, err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist): // shipped in the meantime
		case err != nil:
			return 0, 0, time.Time{}, err
		case path != own && info.Size() > 0:
			note(info.Size(), info.ModTime())
		}
	}
	return bytes, segments, oldest, nil
}
