package pain

import (
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// AppendDetail appends the JSON form of a patient with all details.
func AppendDetail(b []byte, p *Patient) []byte {
	var day [len("YYYY-MM-DD")]byte
	return AppendRow(b, &Row[string]{
		ID: p.ID, CreatedAt: p.CreatedAt, Name: p.Name, DateOfBirth: string(p.DateOfBirth.Append(day[:0])), Gender: p.Gender,
		Email: p.Contact.Email, Phone: p.Contact.Phone, MedicalHistory: p.MedicalHistory.JSON(),
	})
}

// Row is a patient with texts as stored in the database: DateOfBirth is
// YYYY-MM-DD, and MedicalHistory is the result of [History.JSON].
type Row[Text ~string | ~[]byte] struct {
	ID                                                      id.Patient
	Version                                                 int64
	CreatedAt                                               time.Time
	Name, DateOfBirth, Gender, Email, Phone, MedicalHistory Text
}

// AppendRow is like AppendDetail, without decoding the stored texts.
func AppendRow[Text ~string | ~[]byte](b []byte, p *Row[Text]) []byte {
	b = appendCommon(b, p.ID, p.Name, p.DateOfBirth, p.CreatedAt)
	b = append(b, `,"gender":`...)
	b = strictjson.AppendString(b, p.Gender)
	b = append(b, `,"contact":{"email":`...)
	b = strictjson.AppendString(b, p.Email)
	b = append(b, `,"phone":`...)
	b = strictjson.AppendString(b, p.Phone)
	b = append(b, `},"medical_history":`...)
	b = append(b, p.MedicalHistory...)
	return append(b, '}')
}

// AppendListItem appends the JSON form of a patient in a list. It takes the
// columns as stored, because a page has many patients; dateOfBirth is
// YYYY-MM-DD.
func AppendListItem[Text ~string | ~[]byte](b []byte, patientID id.Patient, name, dateOfBirth Text, createdAt time.Time) []byte {
	return append(appendCommon(b, patientID, name, dateOfBirth, createdAt), '}')
}

func appendCommon[Text ~string | ~[]byte](b []byte, patientID id.Patient, name, dateOfBirth Text, createdAt time.Time) []byte {
	b = append(b, `{"id":"`...)
	b = patientID.Append(b)
	b = append(b, `","name":`...)
	b = strictjson.AppendString(b, name)
	b = append(b, `,"date_of_birth":`...)
	b = strictjson.AppendString(b, dateOfBirth)
	b = append(b, `,"created_at":"`...)
	b = createdAt.UTC().AppendFormat(b, time.RFC3339)
	return append(b, '"')
}
