package server

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// An output that blocks delays no request: lines are dropped and counted.
// Buffered lines are written when it continues.
func TestLogThatIsNotReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	b := newLineBuffer(writer, prometheus.NewRegistry())
	line := []byte(strings.Repeat("x", 1023) + "\n")
	const lines = 3 * linesMost / 1024
	for range lines {
		if n, err := b.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	var dropped dto.Metric
	if err := b.dropped.Write(&dropped); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	var text []byte
	read.Go(func() { text, _ = io.ReadAll(reader) })
	b.close()
	b.close() // twice is safe
	<-b.done  // close does not wait for ever
	_ = writer.Close()
	read.Wait()
	written := bytes.Count(text, []byte("\n"))
	if written+int(dropped.Counter.GetValue()) != lines || written < linesMost/1024 || len(text) != written*1024 {
		t.Errorf("%d of %d lines written (%d bytes), %v dropped", written, lines, len(text), dropped.Counter.GetValue())
	}
}

// Lines of many at once stay whole, and none is lost when the buffer is closed.
func TestLinesStayWhole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := newLineBuffer(&out, prometheus.NewRegistry())
	var writers sync.WaitGroup
	for i := range 8 {
		line := []byte(strings.Repeat(string(rune('a'+i)), 100) + "\n")
		writers.Go(func() {
			for range 500 {
				_, _ = b.Write(line)
			}
		})
	}
	writers.Wait()
	b.close()
	<-b.done // close does not wait for ever
	counts := map[string]int{}
	for line := range strings.Lines(out.String()) {
		counts[line]++
	}
	if len(counts) != 8 {
		t.Errorf("%d kinds of lines", len(counts))
	}
	for line, n := range counts {
		if n != 500 {
			t.Errorf("%d times %.3s", n, line)
		}
	}
}
