package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/client"
)

// batch is records of one patient that are sent together. Its encounter is its
// own, so that its records are known whether or not there was an answer.
type batch struct {
	key, encounter string
	sent           []client.NewRecord
	// known is what was answered, or found after the answer was lost.
	known []client.Record
	// never says that it did not get in when its answer was lost.
	never bool
	// doses says that the first record brings the patient over a threshold,
	// which no other does.
	doses bool
}

// correction is a correction of a record that is not corrected again.
type correction struct {
	key  string
	of   client.Record
	sent client.Correction
	// done is set if it was acknowledged or found to be done; stands is the
	// resulting record, if any.
	done   bool
	stands *client.Record
	never  bool // as of a batch
}

// addBatch sends records, or sends them again.
func (l *ledger) addBatch(c *client.Client, r *record, b *batch) bool {
	r.touched = true
	added, err := c.AddRecords(l.tb.Context(), r.known.ID, b.sent, client.WithIdempotencyKey(b.key))
	if !l.answered("add records", err) {
		return false
	}
	if b.known != nil {
		if !reflect.DeepEqual(added, b.known) {
			l.tb.Errorf("a batch that is sent again with its key is answered in another way")
		}
		return true
	}
	if len(added) != len(b.sent) {
		l.tb.Errorf("%d of %d records were added", len(added), len(b.sent))
	}
	b.known = added
	return true
}

// correct corrects a record, or does so again with the same key.
func (l *ledger) correct(c *client.Client, r *record, k *correction) bool {
	r.touched = true
	stands, err := c.CorrectRecord(l.tb.Context(), r.known.ID, k.of.ID, k.sent, client.WithIdempotencyKey(k.key))
	if !l.answered("correct a record", err) {
		return false
	}
	if k.done && k.stands != nil && !reflect.DeepEqual(stands, k.stands) {
		l.tb.Errorf("a correction that is sent again with its key is answered in another way")
	}
	k.done, k.stands = true, nil
	if !k.sent.EnteredInError {
		k.stands = stands
	}
	return true
}

// batch makes a batch up.
func (w *writer) batch(r *record) *batch {
	w.names++
	b := &batch{key: noKey, encounter: fmt.Sprintf("enc %d/%d", w.number, w.names)}
	if w.random.IntN(2) == 0 {
		b.key = "batch " + b.encounter
	}
	if !r.dosed && w.random.IntN(4) == 0 {
		r.dosed, b.doses = true, true
		b.sent = append(b.sent, client.NewRecord{DataType: "medications", EncounterID: b.encounter, Value: map[string]any{
			"name": "morphine", "strength": 1, "strength_unit": "mg", "quantity": 600, "days_supply": 10, "start_date": time.Now().UTC().Format(time.DateOnly)}})
	}
	for range 1 + w.random.IntN(12) {
		b.sent = append(b.sent, client.NewRecord{DataType: "pain_scores", EncounterID: b.encounter, Value: w.random.IntN(11),
			RecordedAt: time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -w.random.IntN(300))})
	}
	r.batches = append(r.batches, b)
	return b
}

// correction chooses a record of an acknowledged batch that was not corrected;
// nil when there is none.
func (w *writer) correction(r *record) *correction {
	var open []client.Record
	for _, b := range r.batches {
		for _, known := range b.known {
			if !slices.ContainsFunc(r.corrections, func(k *correction) bool { return k.of.ID == known.ID }) {
				open = append(open, known)
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	w.names++
	k := &correction{key: noKey, of: open[w.random.IntN(len(open))]}
	if w.random.IntN(2) == 0 {
		k.key = fmt.Sprintf("correction %d/%d", w.number, w.names)
	}
	if k.of.DataType == "medications" || w.random.IntN(2) == 0 {
		k.sent = client.Correction{EnteredInError: true, Reason: "another patient"}
	} else {
		k.sent = client.Correction{Value: w.random.IntN(11), Reason: "misread"}
	}
	r.corrections = append(r.corrections, k)
	return k
}

// readClinical compares all records of a patient with the ledger: batches are
// complete or absent, corrections are done or not, and there is nothing else.
func (l *ledger) readClinical(c *client.Client, r *record) {
	batches, made := map[string][]client.Record{}, map[string]client.Record{}
	status := map[string]string{}
	for rec, err := range c.AllRecords(l.tb.Context(), r.known.ID, client.RecordQuery{Limit: 100, IncludeInactive: true}) {
		if err != nil {
			l.tb.Errorf("the records cannot be read: %v", err)
			return
		}
		status[rec.ID] = rec.Status
		rec.Status = "final"
		if rec.Corrects != "" {
			rec.Status = "amended"
			made[rec.Corrects] = rec
		} else {
			batches[rec.EncounterID] = append(batches[rec.EncounterID], rec)
		}
	}
	for _, b := range r.batches {
		l.readBatch(r, b, batches[b.encounter])
		delete(batches, b.encounter)
	}
	for _, k := range r.corrections {
		stands, there := made[k.of.ID]
		l.readCorrection(r, k, stands, there, status)
		delete(made, k.of.ID)
	}
	if len(batches)+len(made) > 0 {
		l.tb.Errorf("patient %s has records that were never sent", r.known.ID)
	}
	for id, now := range status {
		if now != "final" && now != "amended" {
			l.tb.Errorf("record %s is %s, and nobody made it so", id, now)
		}
	}
}

func (l *ledger) readBatch(r *record, b *batch, got []client.Record) {
	if b.known == nil { // without an answer
		switch {
		case len(got) == 0:
		case len(got) != len(b.sent):
			l.tb.Errorf("patient %s: %d of the %d records of a batch are there", r.known.ID, len(got), len(b.sent))
		case b.never:
			l.tb.Errorf("patient %s: a batch is there that never got in", r.known.ID)
		default:
			b.known = got
			l.found.Add(1)
		}
		return
	}
	byID := func(a, b client.Record) int { return strings.Compare(a.ID, b.ID) }
	if want := slices.SortedFunc(slices.Values(b.known), byID); !reflect.DeepEqual(want, slices.SortedFunc(slices.Values(got), byID)) {
		l.tb.Errorf("patient %s: of a batch of %d records %d are as they were acknowledged, or not even those", r.known.ID, len(want), len(got))
	}
}

// readCorrection also removes the statuses that the correction explains.
func (l *ledger) readCorrection(r *record, k *correction, stands client.Record, made bool, status map[string]string) {
	became, want := status[k.of.ID], "superseded"
	if k.sent.EnteredInError {
		want = "entered-in-error"
	}
	delete(status, k.of.ID)
	done := became == want
	switch {
	case !done && became != k.of.Status, made != (done && !k.sent.EnteredInError):
		l.tb.Errorf("patient %s: a correction is half done: the record is %s", r.known.ID, became)
	case k.done && !done:
		l.tb.Errorf("patient %s: a correction was acknowledged and is lost", r.known.ID)
	case k.done && k.stands != nil && !reflect.DeepEqual(*k.stands, stands):
		l.tb.Errorf("patient %s: a correction is not as it was acknowledged", r.known.ID)
	case done && !k.done && k.never:
		l.tb.Errorf("patient %s: a correction is there that never got in", r.known.ID)
	case done && !k.done:
		k.done = true
		l.found.Add(1)
		if made {
			k.stands = &stands
		}
	}
}

// over reports whether the patient is over the threshold now.
func (r *record) over() bool {
	for _, b := range r.batches {
		if b.doses && b.known != nil {
			dose := slices.IndexFunc(b.known, func(rec client.Record) bool { return rec.DataType == "medications" })
			return !slices.ContainsFunc(r.corrections, func(k *correction) bool { return k.done && k.of.ID == b.known[dose].ID })
		}
	}
	return false
}

// told returns how often the patient's records must have caused each event,
// and the numbers of audit entries for batches and corrections.
func (r *record) told() (events map[string]int, batches, corrections int) {
	events = map[string]int{}
	for _, b := range r.batches {
		if b.known == nil {
			continue
		}
		var ids []string
		for _, rec := range b.known {
			ids = append(ids, rec.ID)
		}
		events[clinicalEvent(ids)]++
		if b.doses {
			events[doseAlert]++
		}
		batches++
	}
	for _, k := range r.corrections {
		if !k.done {
			continue
		}
		ids := []string{k.of.ID}
		if k.stands != nil {
			ids = append(ids, k.stands.ID)
		}
		events[clinicalEvent(ids)]++
		corrections++
	}
	return events, batches, corrections
}

// doseAlert is how the log of events has a patient's alert.
const doseAlert = "system.alert high_dose_opioid 50"

// clinicalEvent is how it has a change of records.
func clinicalEvent(ids []string) string {
	return "clinical_data.updated " + strings.Join(slices.Sorted(slices.Values(ids)), " ")
}

// kindOf says in the words of above what an event is about.
func kindOf(e client.Event) (about, kind string, err error) {
	var data struct {
		Patient   string   `json:"patient_id"`
		Client    string   `json:"client_id"`
		Report    string   `json:"report_id"`
		Records   []string `json:"record_ids"`
		Kind      string   `json:"kind"`
		Threshold int      `json:"threshold"`
	}
	err = json.Unmarshal(e.Data, &data)
	about, kind = data.Patient+data.Client+data.Report, string(e.Type)
	switch e.Type {
	case client.EventClinicalDataUpdated:
		kind = clinicalEvent(data.Records)
	case client.EventSystemAlert:
		kind = fmt.Sprint(e.Type, " ", data.Kind, " ", data.Threshold)
	}
	if err == nil && about == "" {
		err = fmt.Errorf("event %s is about nothing: %s", e.ID, e.Data)
	}
	return about, kind, err
}
