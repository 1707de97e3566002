package fhirwrite_test

import (
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/store/storetest"
)

// bundle returns the items of a transaction: patients, each with conditions and
// scores.
func bundle(round, size int) (items []fhirwrite.Item) {
	const each = 20 // resources of a patient
	for i := 0; len(items) < size; i++ {
		patient := fmt.Sprintf("urn:uuid:%d-%d", round, i)
		items = append(items,
			fhirwrite.Item{FullURL: patient, Body: fmt.Appendf(nil, `{"resourceType":"Patient","identifier":[{"system":"https://example.org/mrn","value":"%d-%d"}],"name":[{"family":"Nowak","given":["Ada"]}],"gender":"female","birthDate":"1984-05-17","maritalStatus":{"text":"married"}}`, round, i)},
			fhirwrite.Item{Body: fmt.Appendf(nil, backPain, patient)})
		for n := range each - 2 {
			items = append(items, fhirwrite.Item{FullURL: fmt.Sprint(patient, "-", n), Body: fmt.Appendf(nil, `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"survey"}]}],"code":{"coding":[{"system":"http://loinc.org","code":"72514-3","display":"Pain severity - 0-10 verbal numeric rating [Score] - Reported"}],"text":"Pain severity"},"subject":{"reference":%q},"encounter":{"reference":"urn:uuid:b1b6d2a0-0000-0000-0000-%012d"},"effectiveDateTime":"2025-%02d-15T10:30:00+01:00","issued":"2025-01-15T10:30:00.123+01:00","valueQuantity":{"value":%d,"unit":"{score}","system":"http://unitsofmeasure.org","code":"{score}"}}`, patient, n, n%12+1, n%11)})
		}
	}
	return items[:size]
}

// BenchmarkTransaction measures transactions of 1,000 resources on SQLite, from
// the resources to the commit.
func BenchmarkTransaction(b *testing.B) {
	const size = 1000
	s := storetest.Open(b, storetest.SQLite)
	who := storetest.Client(b, s, "General Hospital")
	o := s.For(&who)
	b.ReportAllocs()
	round := 0
	for b.Loop() {
		b.StopTimer()
		items := bundle(round, size)
		round++
		b.StartTimer()
		plan, err := writer(o).Plan(b.Context(), items)
		if err != nil || len(plan.Problems) > 0 {
			b.Fatal(err, plan.Problems)
		}
		if _, err := o.WriteAll(b.Context(), plan.Writes, time.Now(), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size*round)/b.Elapsed().Seconds(), "resources/s")
}
