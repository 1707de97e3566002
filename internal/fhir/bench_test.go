package fhir

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the CPU time of the process, which unlike the wall clock does
// not depend on what else the machine does.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRecord maps the records of a synthetic patient.
func BenchmarkRecord(b *testing.B) {
	c := syntheticChart(b, 1)
	var m Mapping
	resources, size := 0, 0
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		for i := range c.records {
			list, err := m.Record(&c.records[i], Version{Root: c.records[i].ID, Number: 1, LastUpdated: testNow})
			if err != nil {
				b.Fatal(err)
			}
			for _, r := range list {
				resources, size = resources+1, size+len(r.JSON)
			}
		}
	}
	b.ReportMetric(float64(resources)/(cpuTime(b)-start).Seconds(), "resources/CPU-s")
	b.ReportMetric(float64(size)/float64(resources), "B/resource")
}

// BenchmarkPainScore maps a pain score, the most frequent record.
func BenchmarkPainScore(b *testing.B) {
	rec := newRecord(b, `{"data_type":"pain_scores","value":{"score":7,"aspect":"average","recall":"24h","body_site":"lower back"},"source":"patient"}`)
	var m Mapping
	resources := 0
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		if _, err := m.Record(&rec, Version{Root: rec.ID, Number: 1, LastUpdated: testNow}); err != nil {
			b.Fatal(err)
		}
		resources++
	}
	b.ReportMetric(float64(resources)/(cpuTime(b)-start).Seconds(), "resources/CPU-s")
}

// BenchmarkRead reads the resources of a synthetic patient.
func BenchmarkRead(b *testing.B) {
	c := syntheticChart(b, 1)
	list := c.resources(b)
	var m Mapping
	resources := 0
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		for i := range list {
			if _, issues := m.Read(list[i].JSON); len(issues) > 0 {
				b.Fatal(issues)
			}
			resources++
		}
	}
	b.ReportMetric(float64(resources)/(cpuTime(b)-start).Seconds(), "resources/CPU-s")
}
