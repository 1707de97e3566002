package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/private"
)

// erasuresFile lists the erased patients in the data directory, so that a backup
// from before can be restored without them. Each line has a patient, its
// organisation and the time.
const erasuresFile = "erasures"

// ErasuresPath returns the path of the list of a data directory.
func ErasuresPath(dataDir string) string { return filepath.Join(dataDir, erasuresFile) }

// ReadErasures reads a list of erased patients: one on each line, as an
// identifier that may be followed by that of the organisation. Empty lines and
// those that begin with # are ignored.
func ReadErasures(path string) (list []patients.Erased, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		var e patients.Erased
		if e.Patient, err = id.Parse[id.PatientKind](fields[0]); err != nil {
			return nil, fmt.Errorf("%s: line %d does not begin with a patient's identifier", path, n)
		}
		if len(fields) > 1 {
			if e.Org, err = id.Parse[id.OrgKind](fields[1]); err != nil {
				return nil, fmt.Errorf("%s: line %d: the second word is not an organisation's identifier", path, n)
			}
		}
		if len(fields) > 2 {
			e.At, _ = time.Parse(time.RFC3339, fields[2]) // for people
		}
		list = append(list, e)
	}
	return list, lines.Err()
}

// listErasures adds the erased patients of the database to the list in the data
// directory.
func (s System) listErasures(ctx context.Context) error {
	erased, err := s.ErasedPatients(ctx)
	if len(erased) == 0 {
		return err
	}
	return errors.Join(err, AddErasures(s.dataDir, erased))
}

// AddErasures adds patients to the list in a data directory. It writes only if
// some are missing.
func AddErasures(dataDir string, erased []patients.Erased) error {
	path := ErasuresPath(dataDir)
	list, err := ReadErasures(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	known := map[id.Patient]bool{}
	for _, e := range list {
		known[e.Patient] = true
	}
	before := len(list)
	for _, e := range erased {
		if !known[e.Patient] {
			list = append(list, e)
		}
	}
	if len(list) == before {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("# Patients that were erased. anodyne restore erases them again from older backups.\n")
	for _, e := range list {
		fmt.Fprint(&b, e.Patient)
		if !e.Org.IsZero() {
			fmt.Fprintf(&b, " %s %s", e.Org, e.At.UTC().Format(time.RFC3339))
		}
		b.WriteByte('\n')
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	temp, err := private.WriteBeside(path, b.Bytes())
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return private.SyncDir(path)
}

// EndRestore lets others open the database, after [System.ApplyErasures].
func (s System) EndRestore(ctx context.Context) error { return s.db.EndRestore(ctx) }

// ApplyErasures erases the patients of a list that are in the database, as they
// are after a backup from before was restored. It returns how many. In a data
// directory that remembers no seals, as that of a trial restore, it stores
// nothing that the nodes of the service would accept.
func (s System) ApplyErasures(ctx context.Context, list []patients.Erased, progress func(step string, done, total int64)) (erased int, err error) {
	orgs, err := s.organizations(ctx)
	if err != nil {
		return 0, err
	}
	alone := !s.Witnessed()
	for i, e := range list {
		progress("erasing", int64(i), int64(len(list)))
		for _, org := range orgs {
			if !e.Org.IsZero() && e.Org != org.OrgID {
				continue
			}
			reason := "erased before; erased again after a backup was restored"
			if !e.At.IsZero() {
				reason = "erased on " + e.At.UTC().Format(time.DateOnly) + "; erased again after a backup was restored"
			}
			err := s.For(&org).erasePatient(ctx, e.Patient, reason, audit.Entry{At: s.db.Now(), Actor: audit.Operator}, alone)
			switch fault.CodeOf(err) {
			case "":
				erased++
			case fault.NotFound, fault.PatientMerged: // not in this backup, or erased with the other one
			default:
				return erased, err
			}
		}
	}
	progress("erasing", int64(len(list)), int64(len(list)))
	return erased, s.FinishErasures(ctx)
}
