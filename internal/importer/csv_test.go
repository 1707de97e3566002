package importer

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// readCSV reads everything, one text for each row.
func readCSV(t *testing.T, text string) (rows []row) {
	t.Helper()
	reader := &csvReader{lines: newLines(strings.NewReader(text)), comma: ','}
	for {
		r, err := reader.next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
}

func TestCSVRows(t *testing.T) {
	good := func(line int, fields ...string) row { return row{line: line, fields: fields} }
	bad := func(line int, text, problem string) row { return row{line: line, text: text, problem: problem} }
	for name, c := range map[string]struct {
		text string
		want []row
	}{
		"plain":                            {"a,b\nc,d\n", []row{good(1, "a", "b"), good(2, "c", "d")}},
		"no end of line":                   {"a,b", []row{good(1, "a", "b")}},
		"windows":                          {"a,b\r\nc,d\r\n", []row{good(1, "a", "b"), good(2, "c", "d")}},
		"empty fields":                     {",\n,,\n", []row{good(1, "", ""), good(2, "", "", "")}},
		"empty lines":                      {"\n \na\n\r\nb\n", []row{good(3, "a"), good(5, "b")}},
		"quotes":                           {`"a,b","say ""x""",""` + "\n", []row{good(1, "a,b", `say "x"`, "")}},
		"line breaks in quotes":            {"\"a\r\nb\n\nc\",d\ne,f\n", []row{good(1, "a\nb\n\nc", "d"), good(5, "e", "f")}},
		"spaces stay":                      {" a , b \n", []row{good(1, " a ", " b ")}},
		"bare quote":                       {"a\"b,c\nd,e\n", []row{bad(1, `a"b,c`, problemBare), good(2, "d", "e")}},
		"text after a quote":               {"\"a\"b,c\nd,e\n", []row{bad(1, `"a"b,c`, problemAfter), good(2, "d", "e")}},
		"open quote at the end":            {"a,\"b\nc,d\ne,f\n", []row{bad(1, `a,"b`, problemOpen), good(2, "c", "d"), good(3, "e", "f")}},
		"open quote before a quoted field": {"a,\"b\n\"c\",d\n", []row{bad(1, `a,"b`, problemAfter), good(2, "c", "d")}},
		"not UTF-8":                        {"a\xff,b\nc,d\n", []row{{line: 1, fields: []string{"a\xff", "b"}, problem: problemEncoding}, good(2, "c", "d")}},
		"NUL":                              {"a\x00,b\nc,d\n", []row{{line: 1, fields: []string{"a\x00", "b"}, problem: problemNUL}, good(2, "c", "d")}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := readCSV(t, c.text); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

//test:norace
func TestCSVRowsAreBounded(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	rows := readCSV(t, long+"\n"+long+"x\n"+long+long+long+"\na,b\n")
	if len(rows) != 4 || rows[0].problem != "" || rows[1].problem != problemTooLong || rows[2].problem != problemTooLong || rows[3].line != 4 || rows[3].problem != "" {
		for _, r := range rows {
			t.Errorf("line %d: %d fields, %q", r.line, len(r.fields), r.problem)
		}
	}
	if kept := len(rows[2].text); kept > maxLine+2 {
		t.Errorf("%d bytes of a line are kept", kept)
	}
	// An open quote before more than may be looked at again.
	rows = readCSV(t, "\"open\n"+strings.Repeat("a,b\n", maxLine/2))
	if len(rows) != 1+maxLine/2 || rows[0].problem != problemOpen || rows[len(rows)-1].line != len(rows) {
		t.Errorf("%d rows, the first %q", len(rows), rows[0].problem)
	}
	// Each line is put back once.
	rows = readCSV(t, strings.Repeat("\"a\"b,\"\n", 100_000))
	if len(rows) != 100_000 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestSniffComma(t *testing.T) {
	for header, want := range map[string]byte{"a,b": ',', "a;b": ';', "a\tb": '\t', "a": ',', `"a,b,c";d`: ';', "a;b,c;d": ';'} {
		if got := sniffComma(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
