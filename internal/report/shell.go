package report

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
)

// shell is a PDF file in parts.
type shell struct {
	header  []byte
	objects [][]byte // by number, starting at 1
	order   []int    // numbers in file order
	trailer []byte
}

// referenceSize is the size of a line in the cross-reference table.
const referenceSize = len("0000000000 00000 n \n")

var errShell = errors.New("the PDF library writes its files differently now")

// readShell splits a file written by the PDF library, using its
// cross-reference table.
func readShell(file []byte) (*shell, error) {
	tail := bytes.LastIndex(file, []byte("startxref\n"))
	if tail < 0 {
		return nil, errShell
	}
	at, _, _ := bytes.Cut(file[tail+len("startxref\n"):], []byte("\n"))
	table, ok := natural(at, tail)
	if !ok {
		return nil, errShell
	}
	rest, begins := bytes.CutPrefix(file[table:tail], []byte("xref\n0 "))
	size, lines, _ := bytes.Cut(rest, []byte("\n"))
	count, ok := natural(size, len(lines)/referenceSize)
	if !begins || !ok || count < 2 {
		return nil, errShell
	}
	s := &shell{objects: make([][]byte, count), trailer: lines[count*referenceSize:]}
	offsets := make([]int, count)
	for n := 1; n < count; n++ {
		if offsets[n], ok = natural(lines[n*referenceSize:][:10], table); !ok {
			return nil, errShell
		}
		s.order = append(s.order, n)
	}
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	s.header = file[:offsets[s.order[0]]]
	end := table
	for _, n := range slices.Backward(s.order) {
		s.objects[n] = file[offsets[n]:end]
		if !bytes.HasPrefix(s.objects[n], []byte(strconv.Itoa(n)+" 0 obj\n")) {
			return nil, errShell
		}
		end = offsets[n]
	}
	return s, nil
}

// natural parses a number from 0 to most.
func natural(digits []byte, most int) (n int, ok bool) {
	n, err := strconv.Atoi(string(digits))
	return n, err == nil && n >= 0 && n <= most
}
