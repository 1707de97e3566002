package engine

import (
	"errors"
	"io/fs"
	"os"

	"anodyne.example/anodyne/internal/fault"
)

var errReplaced = errors.New("the file at the database's path is not the one that is open")

// replaced returns an error if the database file was moved or replaced:
// anything written now would be lost at the next start.
func (e *sqliteEngine) replaced() error {
	now, err := os.Stat(e.path)
	if err == nil && os.SameFile(now, e.opened) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fault.Away("The database file was moved or replaced while the server was running; nothing was changed. Restart the server.", errReplaced)
}

func (e *sqliteEngine) failing() error {
	if err := e.replaced(); err != nil {
		return err
	}
	return e.stuck.now()
}
