package importer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Long lines wait for others of their patient, share a chunk and share a
// transaction only up to a size, however few they are.
func TestLongLinesDoNotPileUp(t *testing.T) {
	s := storetest.Open(t, storetest.Engines[0])
	storetest.Client(t, s, "Ours")
	org, err := s.System().Organization(t.Context(), "Ours")
	if err != nil {
		t.Fatal(err)
	}
	const line = chunkBytes / 8
	people := make([]id.Patient, heldBytes/line+1) // as many as may wait, and one more
	for i := range people {
		people[i] = id.New[id.PatientKind](time.Now())
	}
	score := storetest.Record(t, people[0], `{"data_type":"pain_scores","recorded_at":"2026-01-15","value":5}`)
	var chunks []recordChunk
	b := newRecordBuilder(t.Context(), &job{Config: &Config{Org: org, Now: time.Now}}, &pain.Aliases{}, func(c chunk) error {
		chunks = append(chunks, c.(recordChunk))
		return nil
	})
	next := 0
	add := func(patient id.Patient) {
		t.Helper()
		next++
		score.PatientID = patient
		if err := b.add(next, patients.HashOf([]byte{byte(next)}, []byte{byte(next >> 8)}), score, line); err != nil {
			t.Fatal(err)
		}
		if b.size >= heldBytes {
			t.Fatalf("%d bytes wait", b.size)
		}
	}
	for range 8 {
		add(people[0])
	}
	if b.held != 0 || b.size != 0 {
		t.Errorf("%d lines with %d bytes of one patient wait, want none", b.held, b.size)
	}
	for i, patient := range people {
		if add(patient); i == len(people)-2 && b.held != 0 {
			t.Errorf("%d lines wait, although they have %d bytes", b.held, heldBytes)
		}
	}
	if b.held != 1 || b.size != line {
		t.Errorf("%d lines with %d bytes wait, want the last one", b.held, b.size)
	}
	if err := b.finish(nil); err != nil {
		t.Fatal(err)
	}
	lines := int64(0)
	queue := make(chan chunk, len(chunks))
	for _, c := range chunks {
		if lines += c.lines(); c.bytes() > chunkBytes || c.bytes() != int(c.lines())*line {
			t.Errorf("a chunk of %d lines has %d bytes", c.lines(), c.bytes())
		}
		queue <- c
	}
	if lines != int64(next) {
		t.Errorf("%d lines in chunks, want %d", lines, next)
	}
	close(queue)
	if c := gather(<-queue, queue, 8000); c.bytes() != joinedBytes {
		t.Errorf("a transaction has %d bytes, want %d", c.bytes(), joinedBytes)
	}
}

// The same holds for patients.
func TestLongPatientsDoNotPileUp(t *testing.T) {
	some := patientChunk{rows: make([]row, 10), patients: make([]patients.ImportedPatient, 10), external: make([]bool, 10), size: chunkBytes}
	queue := make(chan chunk, 100)
	for range cap(queue) {
		queue <- some
	}
	close(queue)
	if c := gather(<-queue, queue, 8000); c.bytes() != joinedBytes || c.lines() != 10*joinedBytes/chunkBytes {
		t.Errorf("a transaction has %d lines with %d bytes, want %d bytes", c.lines(), c.bytes(), joinedBytes)
	}
	var sizes []int
	b := &patientBuilder{job: &job{Config: &Config{Now: time.Now}, people: &people{}, repeats: repeats{counts: map[patients.ImportHash]uint32{}}}, send: func(c chunk) error {
		sizes = append(sizes, c.bytes())
		return nil
	}}
	skipped := strings.Repeat("x", chunkBytes) // the row is kept, to be able to reject it
	if err := b.take(row{line: 1, fields: []string{"Ada Nowak", "1984-05-17", skipped}}, entry{body: []byte(`{"name":"Ada Nowak","date_of_birth":"1984-05-17"}`)}); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 1 || slices.Max(sizes) < chunkBytes || len(b.chunk.rows) != 0 {
		t.Errorf("sent chunks of %d bytes, %d lines wait", sizes, len(b.chunk.rows))
	}
}
