package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/private"
)

// witness is this node's record, outside the database, of how far every
// organisation's log is sealed: DATA-DIR/seal/witness, signed with the audit
// key. Somebody who alters the database cannot alter it too. It may be behind
// the seals, after a crash or while the node was stopped, but never ahead,
// because a seal is committed first.
//
// The folder gets its name together with its first file, so a folder without
// the file means that the file was removed.
type witness struct {
	dir string
	key []byte

	mu sync.Mutex
	// opened is set once the memory below is valid; lost is the reason why it
	// cannot be.
	opened bool
	lost   string
	memory
	patrol patrol
	// applied counts the acceptances that were applied.
	applied int
	// forged lists acceptances already reported as not authentic.
	forged map[int64]bool

	disk    []byte // the file as last read or written by this process
	dirty   bool
	written time.Time
}

// memory is the content of a witness.
type memory struct {
	acceptedAt int64
	logs       map[id.Org]*seenLog
	numbers    map[int64]id.Org
}

func newMemory() memory {
	return memory{logs: map[id.Org]*seenLog{}, numbers: map[int64]id.Org{}}
}

// add adds the record of a log. A number stays with the first organisation that
// had it.
func (m memory) add(seen audit.Witnessed) *seenLog {
	l := &seenLog{Witnessed: seen}
	m.logs[seen.Org] = l
	if _, taken := m.numbers[seen.No]; !taken {
		m.numbers[seen.No] = seen.Org
	}
	return l
}

func (m memory) remove(org id.Org) {
	if l := m.logs[org]; l != nil && m.numbers[l.No] == org {
		delete(m.numbers, l.No)
	}
	delete(m.logs, org)
}

// seenLog is the record of one organisation's log.
type seenLog struct {
	audit.Witnessed
	present bool // in the database at the last comparison
	// ahead is how far the entries between this record and a newer seal have
	// been verified.
	ahead SealedHead
	again bool      // whether that failed once
	told  time.Time // when Broken was last logged
}

const (
	witnessDir  = "seal"
	witnessFile = "witness"
)

var (
	errNoWitness   = errors.New("there is no witness")
	errWitnessGone = errors.New("the file was removed")
)

func newWitness(dataDir string, key []byte) *witness {
	return &witness{dir: filepath.Join(dataDir, witnessDir), key: key, forged: map[int64]bool{}}
}

func (w *witness) path() string { return filepath.Join(w.dir, witnessFile) }

// read returns the content on disk. errNoWitness means that this node never had
// a witness.
func (w *witness) read() (m memory, content []byte, err error) {
	m = newMemory()
	if content, err = w.load(); err != nil {
		return m, nil, err
	}
	document, err := audit.OpenWitness(w.key, content)
	if err != nil {
		return m, nil, fmt.Errorf("%s: %w", w.path(), err)
	}
	m.acceptedAt = document.AcceptedAt
	for _, l := range document.Logs {
		m.add(l)
	}
	return m, content, nil
}

func (w *witness) load() ([]byte, error) {
	content, err := os.ReadFile(w.path())
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(w.dir); errors.Is(err, os.ErrNotExist) {
			return nil, errNoWitness
		}
		return nil, fmt.Errorf("%s: %w", w.path(), errWitnessGone)
	}
	return content, err
}

// document returns the content to be signed.
func (m memory) document() audit.Witness {
	d := audit.Witness{AcceptedAt: m.acceptedAt, Logs: []audit.Witnessed{}}
	for _, l := range m.logs {
		if l.Pos > 0 || l.Broken != "" {
			d.Logs = append(d.Logs, l.Witnessed)
		}
	}
	slices.SortFunc(d.Logs, func(a, b audit.Witnessed) int { return bytes.Compare(a.Org.Bytes(), b.Org.Bytes()) })
	return d
}

// apply applies an acceptance. It returns false for that of an erasure of a log
// that had been altered before.
func (m *memory) apply(a audit.Acceptance) bool {
	if a.Whole {
		*m = newMemory()
	}
	m.acceptedAt = a.At
	for _, l := range a.Logs {
		if seen := m.logs[l.Org]; a.Before != nil && seen != nil && (seen.Broken != "" || !a.Continues(seen.Witnessed)) {
			return false
		}
		m.remove(l.Org)
	}
	for _, l := range a.Logs {
		if l.Broken = ""; l.Pos > 0 {
			m.add(l)
		}
	}
	return true
}

// merge adds what another process wrote to the same file.
func (m *memory) merge(other memory) {
	switch cmp.Compare(other.acceptedAt, m.acceptedAt) {
	case 1:
		*m = other
	case 0:
		for org, theirs := range other.logs {
			if ours := m.logs[org]; ours == nil || theirs.Pos > ours.Pos {
				m.add(theirs.Witnessed)
			}
		}
	}
}

// broken lists the logs that contradict the witness.
func (m memory) broken() (list []*seenLog) {
	for _, l := range m.logs {
		if l.Broken != "" {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b *seenLog) int { return bytes.Compare(a.Org.Bytes(), b.Org.Bytes()) })
	return list
}

// keepPace limits the bytes per second written for a witness that changes all
// the time, so that one with many organisations is written less often.
const keepPace = 512 << 10

// keep writes the memory to disk. If somebody else removed or altered the file,
// keep writes it again and returns a message about it in changed.
func (w *witness) keep(atOnce bool) (changed string, err error) {
	size, err := w.sync()
	switch {
	case errors.Is(err, errNoWitness) && w.disk == nil: // the first
	case errors.Is(err, errNoWitness):
		changed = w.dir + ": the folder was removed"
	case errors.Is(err, errWitnessGone), errors.Is(err, audit.ErrForged):
		changed = err.Error()
	case err != nil:
		return "", err
	}
	pause := time.Duration(size/keepPace) * time.Second
	if changed == "" && (!w.dirty || !atOnce && time.Since(w.written) < pause) {
		return "", nil
	}
	fresh := w.document().Sign(w.key)
	if err := w.replace(fresh); err != nil {
		return changed, fmt.Errorf("record of sealed heads: %w", err)
	}
	w.disk, w.dirty, w.written = fresh, false, time.Now()
	return changed, nil
}

// sync merges what another process of this node wrote, and returns the size of
// the file.
func (w *witness) sync() (size int, err error) {
	content, err := w.load()
	if err != nil || bytes.Equal(content, w.disk) {
		return len(content), err
	}
	m, content, err := w.read()
	if err == nil {
		w.merge(m)
		w.disk, w.dirty = content, !bytes.Equal(w.document().Sign(w.key), content)
	}
	return len(content), err
}

// replace replaces the file atomically and durably.
func (w *witness) replace(content []byte) error {
	if _, err := os.Lstat(w.dir); errors.Is(err, os.ErrNotExist) {
		if err := w.create(content); !errors.Is(err, os.ErrExist) {
			return err
		} // another process was faster
	}
	temp, err := private.WriteBeside(w.path(), content)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, w.path()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return private.SyncDir(w.path())
}

// create creates the folder with its first file.
func (w *witness) create(content []byte) error {
	temp, err := os.MkdirTemp(filepath.Dir(w.dir), witnessDir+".") // mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, witnessFile)
	if err := private.LinkBeside(path, content); err != nil {
		return err
	}
	if err := os.Rename(temp, w.dir); err != nil {
		return err
	}
	return private.SyncDir(w.dir)
}

// tidy removes files left by a killed process.
func (w *witness) tidy() {
	left, _ := filepath.Glob(w.path() + ".*")
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
}
