package pain

import (
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// AppendDetail appends the JSON form of a patient with all details.
func AppendDetail(b []byte, p *Patient) []byte {
	var day [len("YYYY-MM-DD")]byte
	row := Row[string]{ID: p.ID, CreatedAt: p.CreatedAt, Name: p.Name, DateOfBirth: string(p.DateOfBirth.Append(day[:0])), MedicalHistory: p.MedicalHistory.JSON(), Identifiers: p.Identifiers.JSON()}
	for i := range textFields {
		row.Texts[i] = *textFields[i].at(p)
	}
	return AppendRow(b, &row)
}

// Row is a patient with texts as stored in the database: DateOfBirth is
// YYYY-MM-DD, MedicalHistory is the result of [History.JSON], and Identifiers
// that of [Identifiers.JSON].
type Row[Text ~string | ~[]byte] struct {
	ID                                id.Patient
	Version                           int64
	CreatedAt                         time.Time
	Name, DateOfBirth, MedicalHistory Text
	Identifiers                       Text
	Texts                             [len(textFields)]Text
}

// AppendRow is like AppendDetail, without decoding the stored texts.
func AppendRow[Text ~string | ~[]byte](b []byte, p *Row[Text]) []byte {
	b = appendCommon(b, p.ID, p.Name, p.DateOfBirth, p.CreatedAt)
	for i := range p.Texts {
		b = append(b, beforeText[i]...)
		b = strictjson.AppendString(b, p.Texts[i])
	}
	b = append(b, beforeText[len(textFields)]...)
	b = append(b, p.MedicalHistory...)
	if len(p.Identifiers) > 0 {
		b = append(b, `,"identifiers":`...)
		b = append(b, p.Identifiers...)
	}
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
