package report

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// poppler runs a tool of an independent reader of PDF on a file; "FILE" among
// the arguments is its path.
func poppler(t *testing.T, tool string, file []byte, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		testneed.Skip(t, "poppler-utils is not installed")
	}
	path := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range args {
		args[i] = strings.Replace(args[i], "FILE", path, 1)
	}
	var complaint bytes.Buffer
	cmd := exec.Command(tool, args...)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil || complaint.Len() > 0 {
		t.Fatalf("%s: %v\n%s", tool, err, &complaint)
	}
	return out
}

// pages are the texts of a file, with one space between words.
func pages(t *testing.T, file []byte) (list []string) {
	t.Helper()
	text := poppler(t, "pdftotext", file, "-layout", "-enc", "UTF-8", "FILE", "-")
	for page := range strings.SplitSeq(strings.TrimSuffix(string(text), "\f"), "\f") {
		list = append(list, strings.Join(strings.Fields(page), " "))
	}
	return list
}

// says checks that a text has all of some others.
func says(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("there is no %q in:\n%s", w, text)
		}
	}
}

// word is one as it lies on a page, in points from the top left.
type word struct {
	Left   float64 `xml:"xMin,attr"`
	Top    float64 `xml:"yMin,attr"`
	Right  float64 `xml:"xMax,attr"`
	Bottom float64 `xml:"yMax,attr"`
	Text   string  `xml:",chardata"`
}

// wordsOf is where the words of each page lie.
func wordsOf(t *testing.T, file []byte) (list [][]word) {
	t.Helper()
	var doc struct {
		Pages []struct {
			Words []word `xml:"word"`
		} `xml:"body>doc>page"`
	}
	decoder := xml.NewDecoder(bytes.NewReader(poppler(t, "pdftotext", file, "-bbox", "-enc", "UTF-8", "FILE", "-")))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	if err := decoder.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Pages {
		list = append(list, p.Words)
	}
	return list
}

// tidy checks that no word of a file leaves its page or lies on another.
func tidy(t *testing.T, file []byte) {
	t.Helper()
	all := wordsOf(t, file)
	if len(all) == 0 || len(all[0]) == 0 {
		t.Fatal("no words were found")
	}
	for n, page := range all {
		for i, w := range page {
			if w.Left < margin-1 || w.Right > pageWidth-margin+1 || w.Top < 20 || w.Bottom > pageHeight-8 {
				t.Errorf("page %d: %q is beyond the margin: %.1f to %.1f, %.1f to %.1f", n+1, w.Text, w.Left, w.Right, w.Top, w.Bottom)
			}
			for _, o := range page[:i] {
				// A box is as high as the tallest letter of the font.
				const slack = 2.6
				if w.Left+slack/2 < o.Right && o.Left+slack/2 < w.Right && w.Top+slack < o.Bottom && o.Top+slack < w.Bottom {
					t.Errorf("page %d: %q lies on %q", n+1, w.Text, o.Text)
				}
			}
		}
	}
}
