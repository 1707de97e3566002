package pain

import (
	"time"

	"anodyne.example/anodyne/internal/strictjson"
)

// AppendRecord appends the JSON form of a record.
func AppendRecord(b []byte, r *Record) []byte {
	b = append(b, `{"id":"`...)
	b = r.ID.Append(b)
	b = append(b, `","patient_id":"`...)
	b = r.PatientID.Append(b)
	b = append(b, `","data_type":"`...)
	b = append(b, r.Type.String()...)
	b = append(b, `","recorded_at":`...)
	b = appendMoment(b, r.RecordedAt)
	b = append(b, `,"value":`...)
	b = append(b, r.Value.json...)
	b = append(b, `,"notes":`...)
	b = strictjson.AppendString(b, r.Notes)
	b = append(b, `,"source":`...)
	b = strictjson.AppendString(b, r.Source)
	b = append(b, `,"author":`...)
	b = strictjson.AppendString(b, r.Author)
	b = append(b, `,"encounter_id":`...)
	b = strictjson.AppendString(b, r.EncounterID)
	b = append(b, `,"status":"`...)
	b = append(b, r.Status...)
	b = append(b, `","corrects":"`...)
	if !r.Corrects.IsZero() {
		b = r.Corrects.Append(b)
	}
	b = append(b, `","created_at":"`...)
	b = r.CreatedAt.UTC().AppendFormat(b, time.RFC3339)
	return append(b, '"', '}')
}
