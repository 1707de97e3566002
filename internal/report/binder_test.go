package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Every reference of a file points at its object, and every page is compressed.
func TestBound(t *testing.T) {
	file := written(t, "bound", stewards(300))
	parts, err := readShell(file)
	if err != nil {
		t.Fatal(err)
	}
	tree := regexp.MustCompile(`/Count (\d+)`).FindSubmatch(parts.objects[1])
	if tree == nil {
		t.Fatalf("the pages are not listed: %s", parts.objects[1])
	}
	pages, _ := natural(tree[1], 1000)
	if pages < 20 {
		t.Fatalf("%d pages", pages)
	}
	for n := 1; n <= pages; n++ {
		if got := string(parts.objects[2*n+1]); !strings.Contains(got, "/Type /Page\n") || !strings.Contains(got, fmt.Sprintf("/Contents %d 0 R", 2*n+2)) {
			t.Errorf("page %d is %s", n, got)
		}
		if !bytes.Contains(parts.objects[2*n+2], []byte("<</Filter /FlateDecode /Length ")) {
			t.Errorf("page %d is not compressed", n)
		}
	}
}

// What a document holds until it is written does not grow with what is drawn
// on its pages, but with the file.
func TestHoldsLittle(t *testing.T) {
	const most = 12 << 10 // a page; some 40 kB are drawn on it
	d := stewards(2000)
	s := newSheet(&d.Head, "Opioid stewardship")
	p := stewardPages{s, d}
	draw := func() (held int64, pages int) {
		for _, l := range p.lists() {
			p.list(&l)
		}
		return live(), s.doc.PageCount()
	}
	before, first := draw() // fonts and compressors are there from now on
	after, pages := draw()
	pages -= first
	if got := (after - before) / int64(pages); pages < 100 || got > most {
		t.Errorf("%d pages, %d bytes held for each", pages, got)
	}
	if err := s.finish(io.Discard); err != nil {
		t.Fatal(err)
	}
}

func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// brokenAfter fails once so many bytes are written.
type brokenAfter struct{ left int }

var errFull = errors.New("full")

func (b *brokenAfter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestBindStops(t *testing.T) {
	for _, left := range []int{0, 100, 40_000} {
		if err := stewards(300).WritePDF(&brokenAfter{left}); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
}

func TestNoShell(t *testing.T) {
	const table = "xref\n0 2\n0000000000 65535 f \n"
	for name, file := range map[string]string{
		"empty":              "",
		"no place of table":  "startxref\n",
		"table beyond":       "startxref\n99\n%%EOF\n",
		"no table":           "%PDF\nstartxref\n0\n",
		"no object":          "xref\n0 1\n0000000000 65535 f \ntrailer\nstartxref\n0\n",
		"short table":        table + "startxref\n0\n",
		"negative":           table + "-000000001 00000 n \ntrailer\nstartxref\n0\n",
		"not at the object":  "%PDF\n1 0 obj\nendobj\n" + table + "0000000004 00000 n \ntrailer\nstartxref\n20\n",
		"beyond the objects": "%PDF\n1 0 obj\nendobj\n" + table + "0000000040 00000 n \ntrailer\nstartxref\n20\n",
	} {
		if _, err := readShell([]byte(file)); !errors.Is(err, errShell) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readShell([]byte("%PDF\n1 0 obj\nendobj\n" + table + "0000000005 00000 n \ntrailer\nstartxref\n20\n")); err != nil {
		t.Error(err)
	}
}
