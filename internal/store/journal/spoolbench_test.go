package journal

import (
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
)

// BenchmarkPack compresses the lines of a thousand reads by 64 clients.
func BenchmarkPack(b *testing.B) {
	clients := make([]id.Client, 64)
	for i := range clients {
		clients[i] = id.New[id.ClientKind](time.Now())
	}
	var lines [][]byte
	size := 0
	for i := range packLines {
		now := time.Now().Add(time.Duration(i) * time.Millisecond)
		e := audit.Entry{At: now, RequestID: id.New[id.RequestKind](now).String(), Actor: clients[i*7%64].String(), Action: audit.PatientRead,
			Resource: id.New[id.PatientKind](now.Add(-time.Duration(i*7919%100_000) * time.Second)).String(), Source: fmt.Sprintf("192.0.2.%d", i%5)}
		lines = append(lines, append(e.Append(nil), '\n'))
		size += len(lines[i])
	}
	packed := 0
	for b.Loop() {
		packed = len(pack(lines))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/packLines, "ns/line")
	b.ReportMetric(float64(packed)/float64(size), "of-the-size")
}
