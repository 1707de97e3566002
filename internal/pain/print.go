package pain

import (
	"time"

	"anodyne/internal/id"
	"anodyne/internal/strictjson"
)

// AppendDetail appends the patient in the detail shape.
func AppendDetail(b []byte, p *Patient) []byte {
	var day [len("YYYY-MM-DD")]byte
	b = appendCommon(b, p.ID, p.Name, string(p.DateOfBirth.Append(day[:0])), p.CreatedAt)
	b = append(b, `,"gender":`...)
	b = strictjson.AppendString(b, p.Gender)
	b = append(b, `,"contact":{"email":`...)
	b = strictjson.AppendString(b, p.Contact.Email)
	b = append(b, `,"phone":`...)
	b = strictjson.AppendString(b, p.Contact.Phone)
	b = append(b, `},"medical_history":`...)
	b = append(b, p.MedicalHistory.JSON()...)
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
