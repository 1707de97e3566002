package lists

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The checked-in files must match the declarations.
func TestGeneratedPartsAreUpToDate(t *testing.T) {
	t.Parallel()
	files, err := Files("../..")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		have, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is out of date: run make generate, and change the declaration instead of what is generated", path)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	of := map[string]func() []string{
		"a": func() []string { return []string{"x: 1", "", "y: 2"} },
		"b": func() []string { return []string{"[1, 2]"} },
	}
	have, err := fill("top\n  # generated: a\n  old\n  # end generated\nenum: [0] # generated: b\nend\n", of)
	if want := "top\n  # generated: a\n  x: 1\n\n  y: 2\n  # end generated\nenum: [1, 2] # generated: b\nend\n"; err != nil || string(have) != want {
		t.Errorf("%v\n%s", err, have)
	}
	for _, bad := range []string{
		"enum: [0] # generated: b\n", // a is missing
		"# generated: a\n# end generated\n# generated: a\n# end generated\nenum: [0] # generated: b\n", // a occurs twice
		"enum: [0] # generated: b\n# generated: a\n",                                                   // a does not end
		"# generated: c\n# end generated\n",                                                            // there is no c
	} {
		if have, err := fill(bad, of); err == nil {
			t.Errorf("%s", have)
		}
	}
}
