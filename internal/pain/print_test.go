package pain

import (
	"testing"
	"time"
)

func TestAppendDetail(t *testing.T) {
	p := create(t, `{"name":"Zoë \"Z\" <b>","date_of_birth":"1961-03-14","contact":{"email":"z@x.se"},"medical_history":["Gout"]}`)
	want := `x{"id":"` + testID.String() + `","name":"Zoë \"Z\" <b>","date_of_birth":"1961-03-14","created_at":"2026-03-02T00:30:15Z",` +
		`"gender":"","contact":{"email":"z@x.se","phone":""},"medical_history":[{"condition":"Gout"}]}`
	if got := string(AppendDetail([]byte("x"), &p)); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	bare := create(t, `{"name":"A","date_of_birth":"2000-01-01"}`)
	want = `{"id":"` + testID.String() + `","name":"A","date_of_birth":"2000-01-01","created_at":"2026-03-02T00:30:15Z",` +
		`"gender":"","contact":{"email":"","phone":""},"medical_history":[]}`
	if got := string(AppendDetail(nil, &bare)); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestAppendListItem(t *testing.T) {
	want := `{"id":"` + testID.String() + `","name":"A\\B","date_of_birth":"1961-03-14","created_at":"2026-03-02T00:30:15Z"}`
	if got := string(AppendListItem(nil, testID, `A\B`, "1961-03-14", testNow)); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if got := string(AppendListItem(nil, testID, []byte(`A\B`), []byte("1961-03-14"), testNow)); got != want {
		t.Fatalf("from bytes: %s", got)
	}
}

func BenchmarkAppendListItem(b *testing.B) {
	at := time.Date(2026, 3, 2, 0, 30, 15, 0, time.UTC)
	buffer := make([]byte, 0, 1000)
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendListItem(buffer[:0], testID, "Margarethe Öhlund", "1961-03-14", at)
	}
}

func BenchmarkAppendDetail(b *testing.B) {
	p := create(b, patched)
	buffer := make([]byte, 0, 1000)
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendDetail(buffer[:0], &p)
	}
}

func BenchmarkNewPatient(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		create(b, patched)
	}
}
