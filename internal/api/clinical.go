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
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/strictjson"
)

// batchLimit is the largest body of clinical data: a batch has up to 1,000
// records.
const batchLimit = 8 << 20

// intake is what the rules need to know to take records in. A patient who is
// not there is no fault yet: what is wrong with the body is told first.
func (x *exchange) intake() (in pain.Intake, missing, err error) {
	in = pain.Intake{NewID: func() id.Record { return id.New[id.RecordKind](x.now) }, Now: x.now}
	if in.PatientID, missing = x.patientID(); missing != nil {
		return in, missing, nil
	}
	in.Birth, in.Aliases, err = x.org.Intake(x.ctx(), in.PatientID)
	if fault.Is(err, fault.NotFound) {
		return in, err, nil
	}
	return in, nil, err
}

// understood runs a write of records again when the organisation's aliases, by
// which it understood them, have changed before it was kept.
func (x *exchange) understood(write func() (answer, error)) (done answer, err error) {
	for range 5 {
		if done, err = write(); !store.AliasesChanged(err) {
			return done, err
		}
		x.buf = x.buf[:0]
	}
	return answer{}, fault.Away("The organisation's medicine aliases are being changed; try again.", err)
}

func (a *API) addClinicalData(x *exchange) (answer, error) {
	object, key, err := x.readPost(batchLimit)
	if err != nil {
		return answer{}, err
	}
	return x.understood(func() (answer, error) { return x.addRecords(object, key) })
}

func (x *exchange) addRecords(object *strictjson.Object, key *store.Once) (answer, error) {
	in, missing, err := x.intake()
	if err != nil {
		return answer{}, err
	}
	records, batch, err := pain.NewRecords(object, in)
	if err != nil {
		return answer{}, err
	}
	if missing != nil {
		return answer{}, missing
	}
	out := store.Outcome{Status: http.StatusCreated}
	if batch {
		x.buf = appendRecords(append(x.buf, `{"data":[`...), records)
		x.buf = append(x.buf, "]}"...)
	} else {
		x.buf = pain.AppendRecord(x.buf, &records[0])
		out.Location = recordPath(&records[0])
	}
	out.Body = x.buf
	change := store.Change{
		Audit:   x.line(audit.ClinicalCreate, in.PatientID.String()),
		Event:   event.ClinicalData(x.now, in.PatientID, recordIDs(records), typeNames(records)),
		Subject: in.PatientID,
	}
	change.Audit.Details = countOf(len(records))
	kept, err := x.org.AddRecords(x.ctx(), in.PatientID, records, change, key, x.now, out)
	if err != nil {
		return answer{}, err
	}
	return x.clinicalOutcome(kept, in.PatientID), nil
}

// clinicalOutcome is the answer to a change; one that is shown again leaves
// the line of a read.
func (x *exchange) clinicalOutcome(out store.Outcome, patientID id.Patient) answer {
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

// typeNames lists the types of some records, each once, in the contract's order.
func typeNames(records []pain.Record) (names []string) {
	var seen uint64
	for i := range records {
		seen |= 1 << records[i].Type
	}
	for _, t := range pain.DataTypes() {
		if seen&(1<<t.Type) != 0 {
			names = append(names, t.Type.String())
		}
	}
	return names
}

// countOf is the details of an audit line about several records.
func countOf(n int) []byte { return append(strconv.AppendInt([]byte(`{"count":`), int64(n), 10), '}') }

func (a *API) listClinicalData(x *exchange) (answer, error) {
	q := x.readQuery("page", "limit", "order", "start_date", "end_date", "data_type", "include_inactive")
	p := q.page()
	wanted := store.RecordQuery{
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

// besidesPage is what was asked apart from the page, for Link headers.
func (q *query) besidesPage() url.Values {
	rest := url.Values{}
	for name, values := range q.values {
		if name != "page" && name != "limit" {
			rest[name] = values
		}
	}
	return rest
}

// dataTypes reads a list of data types separated by commas.
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

// days reads two dates as the beginning of the first day and the end of the
// last, in UTC; zero when absent.
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

// recordPath reads both identifiers of a path that takes no parameters.
func (x *exchange) recordPath() (patientID id.Patient, recordID id.Record, err error) {
	if err = x.noQuery(); err != nil {
		return patientID, recordID, err
	}
	if patientID, err = x.patientID(); err != nil {
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
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	return x.understood(func() (answer, error) { return x.correctRecord(object, key) })
}

func (x *exchange) correctRecord(object *strictjson.Object, key *store.Once) (answer, error) {
	in, missing, err := x.intake()
	if err != nil {
		return answer{}, err
	}
	// A body that corrects no record at all is refused before the record is
	// looked for. Of which type its value must be, only the record can tell.
	if _, err := pain.NewCorrection(pain.Record{Status: pain.Final}, object, in); err != nil {
		return answer{}, err
	}
	if missing != nil {
		return answer{}, missing
	}
	recordID, err := x.recordID()
	if err != nil {
		return answer{}, err
	}
	kept, err := x.org.CorrectRecord(x.ctx(), in.PatientID, recordID, key, x.now, func(old pain.Record) (pain.Correction, store.Change, store.Outcome, error) {
		c, err := pain.NewCorrection(old, object, in)
		if err != nil {
			return c, store.Change{}, store.Outcome{}, err
		}
		stands := &c.Old
		changed := []id.Record{c.Old.ID}
		if c.Replaced {
			stands = &c.New
			changed = append(changed, c.New.ID)
		}
		change := store.Change{
			Audit:   x.line(audit.ClinicalCorrect, in.PatientID.String()),
			Event:   event.ClinicalData(x.now, in.PatientID, changed, []string{old.Type.String()}),
			Subject: in.PatientID,
		}
		change.Audit.Details = correctionDetails(&c)
		return c, change, store.Outcome{Status: http.StatusCreated, Location: recordPath(stands), Body: pain.AppendRecord(nil, stands)}, nil
	})
	if err != nil {
		return answer{}, err
	}
	return x.clinicalOutcome(kept, in.PatientID), nil
}

// correctionDetails says in the audit line what became of which record. The
// values stay in the records; the reason is the caller's text and may name
// somebody, so it is kept where values are.
func correctionDetails(c *pain.Correction) []byte {
	b := append(make([]byte, 0, 160), `{"record":"`...)
	b = c.Old.ID.Append(b)
	b = append(b, `","status":"`...)
	b = append(b, c.Old.Status...)
	b = append(b, '"')
	if c.Replaced {
		b = append(c.New.ID.Append(append(b, `,"replaced_by":"`...)), '"')
	}
	if c.Reason != "" {
		b = strictjson.AppendString(append(b, `,"reason":`...), c.Reason)
	}
	return append(b, '}')
}
