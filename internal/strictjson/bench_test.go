package strictjson

import (
	"encoding/json"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

const patientBody = `{
  "name": "Margarethe Öhlund-Fernández",
  "date_of_birth": "1961-03-14",
  "gender": "female",
  "contact": {"email": "margarethe.oehlund@example.org", "phone": "+46 8 123 456 78"},
  "medical_history": [
    {"condition": "Chronic low back pain", "icd10_code": "M54.50", "onset_date": "2019-06", "status": "active", "category": "pain", "notes": "after lifting injury; see \"letter\""},
    "Hypertension"
  ]
}`

type sink struct {
	Name        string `json:"name"`
	DateOfBirth string `json:"date_of_birth"`
	Gender      string `json:"gender"`
	Contact     struct {
		Email string `json:"email"`
		Phone string `json:"phone"`
	} `json:"contact"`
	MedicalHistory []json.RawMessage `json:"medical_history"`
}

func BenchmarkParseAndRead(b *testing.B) {
	body := []byte(patientBody)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		o, err := Parse(body)
		if err != nil {
			b.Fatal(err)
		}
		var s sink
		var fields fault.Fields
		r := Read(o, &fields)
		s.Name, _ = r.Required("name")
		s.DateOfBirth, _ = r.Required("date_of_birth")
		s.Gender, _ = r.String("gender")
		if contact, ok := r.Object("contact"); ok {
			c := Read(contact, &fields)
			s.Contact.Email, _ = c.String("email")
			s.Contact.Phone, _ = c.String("phone")
			c.Done()
		}
		history, _ := r.Array("medical_history")
		s.MedicalHistory = make([]json.RawMessage, 0, history.Len())
		for _, v := range history.All() {
			s.MedicalHistory = append(s.MedicalHistory, v.raw())
		}
		r.Done()
		if err := fields.Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnmarshal is the measure: the standard library into a struct, with
// none of the checks.
func BenchmarkUnmarshal(b *testing.B) {
	body := []byte(patientBody)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var s sink
		if err := json.Unmarshal(body, &s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	buffer := make([]byte, 0, 100)
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendString(buffer[:0], "Margarethe Öhlund-Fernández")
	}
}
