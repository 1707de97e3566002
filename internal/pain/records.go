package pain

import (
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// maxRecords is the maximum number of records in a batch.
const maxRecords = 1000

// NewRecords creates records from a body with a single record, or with a batch
// in its field records. It succeeds for all records or none; the error is an
// INVALID_PARAMETER fault that lists everything that is wrong.
func NewRecords(body *strictjson.Object, in Intake) (records []Record, batch bool, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if batch, _ = r.Has("records"); !batch {
		record := newRecord(&r, &fields, in)
		if err := fields.Err(); err != nil {
			return nil, false, err
		}
		return []Record{record}, false, nil
	}
	list, ok := r.Array("records")
	switch {
	case ok && (list.Len() < 1 || list.Len() > maxRecords):
		r.Fault("records", "must have from 1 to 1000 records.")
	case ok:
		records = make([]Record, 0, list.Len())
		in.Known = KnownValues{}
		for _, v := range list.All() {
			if o, isObject := v.AsObject(); isObject {
				one := strictjson.Read(o, &fields)
				records = append(records, newRecord(&one, &fields, in))
			} else {
				v.Fault(&fields, "must be an object.")
			}
		}
	default:
		if _, null := r.Has("records"); null {
			r.Fault("records", "must have from 1 to 1000 records.")
		}
	}
	r.Done()
	if err := fields.Err(); err != nil {
		return nil, true, err
	}
	return records, true, nil
}

// TypeNames lists the distinct types of some records, in the order of the
// contract.
func TypeNames(records []Record) (names []string) {
	var seen uint64
	for i := range records {
		seen |= 1 << records[i].Type
	}
	for _, t := range dataTypes {
		if seen&(1<<t.Type) != 0 {
			names = append(names, t.Name)
		}
	}
	return names
}
