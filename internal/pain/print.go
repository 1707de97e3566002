package pain

import (
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// AppendDetail appends the patient in the detail shape.
func AppendDetail(b []byte, p *Patient) []byte {
	var day [len("YYYY-MM-DD")]byte
	return AppendRow(b, &Row[string]{
		ID: p.ID, CreatedAt: p.CreatedAt, Name: p.Name, DateOfBirth: string(p.DateOfBirth.Append(day[:0])), Gender: p.Gender,
		Email: p.Contact.Email, Phone: p.Contact.Phone, MedicalHistory: p.MedicalHistory.JSON(),
	})
}

// Row is a patient whose texts are as the database has them: DateOfBirth is
// YYYY-MM-DD and MedicalHistory what [History.JSON] gave.
type Row[Text ~string | ~[]byte] struct {
	ID                                                      id.Patient
	Version                                                 int64
	CreatedAt                                               time.Time
	Name, DateOfBirth, Gender, Email, Phone, MedicalHistory Text
}

// AppendRow appends a patient in the detail shape, from what was read, as it
// was read.
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

// AppendListItem appends a patient in the shape of a list item. It takes the
// columns as they come from the database, since a page has many of them;
// dateOfBirth is YYYY-MM-DD.
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
