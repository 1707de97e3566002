package pgserver

import (
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

func TestPlace(t *testing.T) {
	want := ""
	if room(memory) >= memoryNeeded {
		want = memory
	}
	if got := place(Volatile); got != want {
		t.Errorf("a volatile cluster goes to %q, want %q", got, want)
	}
	if got := place(Durable); got != "" {
		t.Errorf("a durable cluster goes to %q", got)
	}
	if room(t.TempDir()) == 0 {
		t.Error("no room in a temporary folder")
	}
	if got := room(filepath.Join(t.TempDir(), "missing")); got != 0 {
		t.Errorf("%d bytes free in a folder that does not exist", got)
	}
}

func TestVolatileServerIsInMemory(t *testing.T) {
	testneed.Long(t, "PostgreSQL")
	if err := Available(); err != nil {
		testneed.Skip(t, err.Error())
	}
	s, err := Launch(Volatile, "")
	if err != nil {
		t.Fatal(err)
	}
	if in := place(Volatile); !strings.HasPrefix(s.Dir(), in) {
		t.Errorf("its files are in %s, not in %s", s.Dir(), in)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
}
