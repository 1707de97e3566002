package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// TestProgressInALog: without a terminal, a step prints one line, without
// control sequences.
func TestProgressInALog(t *testing.T) {
	var out bytes.Buffer
	show := Bar(&out)
	for n := range int64(1001) {
		show("filling", n, 1000)
	}
	show("filling", 1000, 1000)
	show("empty", 0, 0)
	want := "filling    [==============================] 100 %  1,000 of 1,000\n" +
		"empty      [==============================] 100 %  0 of 0\n"
	if out.String() != want {
		t.Errorf("got:\n%q\nwant:\n%q", out.String(), want)
	}
}

// TestProgressNowAndThen: long work leaves a line whenever its time has come.
func TestProgressNowAndThen(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out}
	p.show("reading", 1, 4)
	p.show("reading", 2, 4)
	if got := strings.Count(out.String(), "\n"); got != 2 {
		t.Errorf("%d lines:\n%s", got, out.String())
	}
}

// TestProgressOnATerminal: the bar grows in its place, and stays once it is
// full, however many show it.
func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, terminal: true}
	var group sync.WaitGroup
	for n := range int64(100) {
		group.Go(func() { p.show("patients", n, 100) })
	}
	group.Wait()
	p.show("patients", 100, 100)
	got := out.String()
	if !strings.HasPrefix(got, "\r\x1b[K") || strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "100 %  100 of 100\n") {
		t.Errorf("got %q", got)
	}
}
