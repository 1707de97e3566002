package importer

import (
	"strconv"
	"testing"

	"anodyne.example/anodyne/internal/store/patients"
)

// Beyond the lines that are all counted, only those are that may have duplicates,
// so that memory does not grow with the file.
func TestUniqueLinesAreNotCounted(t *testing.T) {
	CountLines(t, 100)
	var lines []entry
	for i := range 10_000 {
		lines = append(lines, entry{known: []byte(strconv.Itoa(i))})
		if i%1000 == 500 {
			lines = append(lines, entry{known: []byte(strconv.Itoa(i))}, entry{known: []byte(strconv.Itoa(i / 100))})
		}
	}
	next, calls := 0, 0
	r := repeats{counts: map[patients.ImportHash]uint32{}}
	r.lookAhead = func() error {
		calls++
		r.expect(1 << 20)
		for i := next; i < len(lines); i++ {
			r.note(&lines[i])
		}
		return nil
	}
	seen := map[string]uint32{}
	for next = range lines {
		content := contentOf(Clinical, &lines[next])
		got, err := r.number(&lines[next], content)
		if want := nth(content, seen[string(lines[next].known)]); got != want || err != nil {
			t.Fatalf("line %d: %x, %v, want %x", next, got, err, want)
		}
		seen[string(lines[next].known)]++
	}
	if most := countedLines + 2*20; calls != 1 || len(r.counts) < countedLines || len(r.counts) > most {
		t.Errorf("looked ahead %d times, %d contents are counted, want %d to %d", calls, len(r.counts), countedLines, most)
	}
}
