package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// batchLimit is the maximum size of a clinical data body, which holds up to
// 1,000 records.
const batchLimit = 8 << 20

// intake returns what the validation rules need to know about the patient. A
// missing patient is returned separately, because errors in the body take
// precedence.
func (x *exchange) intake() (in pain.Intake, missing, err error) {
	in = pain.Intake{NewID: func() id.Record { return id.New[id.RecordKind](x.now) }, Now: x.now}
	if in.PatientID, missing = x.patientID(); missing != nil {
		return in, missing, nil
	}
	in.Birth, in.Aliases, err = x.org.Intake(x.ctx(), in.PatientID)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.PatientMerged) {
		return in, err, nil
	}
	return in, nil, err
}

// replayable reports whether a request for a missing patient may have been
// answered before: one that was repeated after the patient was merged gets the
// outcome that is stored under its key.
func replayable(missing error, key *idempotency.Once) bool {
	return key != nil && fault.Is(missing, fault.PatientMerged)
}

// postRecords reads the body of a POST and writes the records in it, again if
// the organisation's aliases, which were used to derive them, have changed
// before the commit.
func (x *exchange) postRecords(limit int64, write func(*strictjson.Object, *idempotency.Once) (answer, error)) (done answer, err error) {
	object, key, err := x.readPost(limit)
	if err != nil {
		return answer{}, err
	}
	for range 5 {
		if done, err = write(object, key); !patients.AliasesChanged(err) {
			return done, err
		}
		x.buf = x.buf[:0]
	}
	return answer{}, fault.Away("The organisation's medicine aliases are being changed; try again.", err)
}

func (a *API) addClinicalData(x *exchange) (answer, error) {
	return x.postRecords(batchLimit, x.addRecords)
}

func (x *exchange) addRecords(object *strictjson.Object, key *idempotency.Once) (answer, error) {
	in, missing, err := x.intake()
	if err != nil {
		return answer{}, err
	}
	records, batch, err := pain.NewRecords(object, in)
	if err != nil {
		return answer{}, err
	}
	if missing != nil && !replayable(missing, key) {
		return answer{}, missing
	}
	out := idempotency.Outcome{Status: http.StatusCreated}
	if batch {
		x.buf = appendRecords(append(x.buf, `{"data":[`...), records)
		x.buf = append(x.buf, "]}"...)
	} else {
		x.buf = pain.AppendRecord(x.buf, &records[0])
		out.Location = recordPath(&records[0])
	}
	out.Body = x.buf
	change := journal.Change{
		Audit:   x.line(audit.ClinicalCreate, in.PatientID.String()),
		Event:   event.ClinicalData(x.now, in.PatientID, recordIDs(records), pain.TypeNames(records)),
		Subject: in.PatientID,
	}
	change.Audit.Details = countOf(len(records))
	kept, err := x.org.AddRecords(x.ctx(), in.PatientID, records, change, key, x.now, out)
	if err != nil {
		return answer{}, err
	}
	return x.clinicalOutcome(kept, in.PatientID), nil
}

// clinicalOutcome is the response to a change. A replayed response is audited
// as a read.
func (x *exchange) clinicalOutcome(out idempotency.Outcome, patientID id.Patient) answer {
	done := x.outcome(out)
	if out.Replayed {
		done.line = x.saw(audit.ClinicalRead, patientID.String())
	}
	return done
}

func recordPath(rec *pain.Record) string {
	return "/v1/patients/" + rec.PatientID.String() + "/clinical-data/" + rec.ID.String()
}

func appendRecords(b []byte, records []pain.Record) []byte {
	for i := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = pain.AppendRecord(b, &records[i])
	}
	return b
}

func recordIDs(records []pain.Record) []id.Record {
	ids := make([]id.Record, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	return ids
}

// countOf returns the details of an audit entry about n records.
func countOf(n int) []byte { return append(strconv.AppendInt([]byte(`{"count":`), int64(n), 10), '}') }

func (a *API) listClinicalData(x *exchange) (answer, error) {
	q := x.readQuery("page", "limit", "order", "start_date", "end_date", "data_type", "include_inactive")
	p := q.page()
	wanted := patients.RecordQuery{
		Page: p.number, Limit: p.limit, Types: q.dataTypes("data_type"), Inactive: q.flag("include_inactive"),
		Descending: q.word("order", "asc", "asc", "desc") == "desc",
	}
	wanted.From, wanted.Before = q.days("start_date", "end_date")
	if err := q.err(); err != nil {
		return answer{}, err
	}
	patientID, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	b, shown := append(x.buf, `{"data":[`...), 0
	total, err := x.org.Records(x.ctx(), patientID, wanted, func(rec *pain.Record) {
		if shown > 0 {
			b = append(b, ',')
		}
		shown++
		b = pain.AppendRecord(b, rec)
	})
	if err != nil {
		return answer{}, err
	}
	x.buf = p.appendPagination(b, total)
	line := x.saw(audit.ClinicalRead, patientID.String())
	line.Details = countOf(shown)
	return answer{status: http.StatusOK, body: x.buf, link: p.link(x.r.URL.EscapedPath(), total, q.besidesPage()), line: line}, nil
}

// besidesPage returns the parameters other than page, for Link headers.
func (q *query) besidesPage() url.Values {
	rest := url.Values{}
	for name, values := range q.values {
		if name != "page" && name != "limit" {
			rest[name] = values
		}
	}
	return rest
}

// dataTypes parses a comma-separated list of data types.
func (q *query) dataTypes(name string) (types []pain.DataType) {
	text, given := q.text(name)
	if !given {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		t, err := pain.ParseDataType(name, strings.TrimSpace(word))
		if f, wrong := errors.AsType[*fault.Error](err); wrong {
			q.fields.Add(name, clip(text), f.Message)
			return nil
		}
		types = append(types, t)
	}
	return types
}

// days parses two dates and returns the start of the first day and the end of
// the last, in UTC. An absent date is returned as the zero time.
func (q *query) days(first, last string) (from, before time.Time) {
	start, hasStart := q.date(first)
	end, hasEnd := q.date(last)
	if hasStart {
		from = midnight(start)
	}
	if hasEnd {
		before = midnight(end).AddDate(0, 0, 1)
	}
	if hasStart && hasEnd && end.Before(start) {
		q.fields.Add(first, start.String(), first+" must not be after "+last+".")
	}
	return from, before
}

func midnight(d pain.Date) time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

func (a *API) getClinicalRecord(x *exchange) (answer, error) {
	patientID, recordID, err := x.recordPath()
	if err != nil {
		return answer{}, err
	}
	rec, err := x.org.Record(x.ctx(), patientID, recordID)
	if err != nil {
		return answer{}, err
	}
	x.buf = pain.AppendRecord(x.buf, &rec)
	line := x.saw(audit.ClinicalRead, patientID.String())
	line.Details = countOf(1)
	return answer{status: http.StatusOK, body: x.buf, line: line}, nil
}

// recordPath reads both identifiers of a path without parameters.
func (x *exchange) recordPath() (patientID id.Patient, recordID id.Record, err error) {
	if patientID, err = x.onPatient(); err != nil {
		return patientID, recordID, err
	}
	recordID, err = x.recordID()
	return patientID, recordID, err
}

func (a *API) listCorrections(x *exchange) (answer, error) {
	patientID, recordID, err := x.recordPath()
	if err != nil {
		return answer{}, err
	}
	chain, err := x.org.History(x.ctx(), patientID, recordID)
	if err != nil {
		return answer{}, err
	}
	x.buf = append(appendRecords(append(x.buf, `{"data":[`...), chain), "]}"...)
	line := x.saw(audit.ClinicalRead, patientID.String())
	line.Details = countOf(len(chain))
	return answer{status: http.StatusOK, body: x.buf, line: line}, nil
}

func (a *API) correctClinicalRecord(x *exchange) (answer, error) {
	return x.postRecords(bodyLimit, x.correctRecord)
}

func (x *exchange) correctRecord(object *strictjson.Object, key *idempotency.Once) (answer, error) {
	in, missing, err := x.intake()
	if err != nil {
		return answer{}, err
	}
	// A body that is invalid for any record is rejected before the record is
	// looked up. The type of its value depends on the record.
	if _, err := pain.NewCorrection(pain.Record{Status: pain.Final}, object, in); err != nil {
		return answer{}, err
	}
	if missing != nil && !replayable(missing, key) {
		return answer{}, missing
	}
	recordID, err := x.recordID()
	if err != nil {
		return answer{}, err
	}
	kept, err := x.org.CorrectRecord(x.ctx(), in.PatientID, recordID, key, x.now, func(old pain.Record) (pain.Correction, journal.Change, idempotency.Outcome, error) {
		c, err := pain.NewCorrection(old, object, in)
		if err != nil {
			return c, journal.Change{}, idempotency.Outcome{}, err
		}
		stands := &c.Old
		changed := []id.Record{c.Old.ID}
		if c.Replaced {
			stands = &c.New
			changed = append(changed, c.New.ID)
		}
		change := journal.Change{
			Audit:   x.line(audit.ClinicalCorrect, in.PatientID.String()),
			Event:   event.ClinicalData(x.now, in.PatientID, changed, []string{old.Type.String()}),
			Subject: in.PatientID,
		}
		change.Audit.Details = audit.Correction(c.Old.ID, string(c.Old.Status), c.New.ID, c.Reason)
		return c, change, idempotency.Outcome{Status: http.StatusCreated, Location: recordPath(stands), Body: pain.AppendRecord(nil, stands)}, nil
	})
	if err != nil {
		return answer{}, err
	}
	return x.clinicalOutcome(kept, in.PatientID), nil
}
