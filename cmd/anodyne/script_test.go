package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdJSON is "json VARIABLE FIELD": the last command must have printed exactly
// one JSON object; its field is stored in the variable. With "-" as the
// variable, the document may be anything.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json - | json VARIABLE MEMBER")
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile("stdout"))))
	var document any
	ts.Check(decoder.Decode(&document))
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("there is more than JSON")
	}
	if args[0] == "-" {
		return
	}
	object, ok := document.(map[string]any)
	if !ok || len(args) != 2 || object[args[1]] == nil {
		ts.Fatalf("no member %v in %v", args[1:], document)
	}
	ts.Setenv(args[0], fmt.Sprint(object[args[1]]))
}

// cmdExits is "exits CODE COMMAND...": exec with an exact exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
