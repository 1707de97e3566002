package api

import (
	"fmt"
	"net/http"
	"strings"
)

// dataOf is the path of a patient's clinical data.
func dataOf(patientID string) string { return "/v1/patients/" + patientID + "/clinical-data" }

// correctionsOf is the path of a record's corrections.
func correctionsOf(patientID, recordID string) string {
	return dataOf(patientID) + "/" + recordID + "/corrections"
}

// add adds clinical data to a patient.
func (c *caller) add(patientID, body string, header ...string) *reply {
	c.tb.Helper()
	return c.post(dataOf(patientID), body, header...)
}

// score adds a current pain score and returns the record's identifier.
func (c *caller) score(patientID string, score int) string {
	c.tb.Helper()
	return c.add(patientID, fmt.Sprintf(`{"data_type":"pain_scores","value":%d}`, score)).is(http.StatusCreated).json()["id"].(string)
}

// scoreAt adds a pain score at a time and returns the record's identifier.
func (c *caller) scoreAt(patientID, at string) string {
	c.tb.Helper()
	return c.add(patientID, `{"data_type":"pain_scores","value":5,"recorded_at":`+quote(at)+`}`).is(http.StatusCreated).json()["id"].(string)
}

// batchOf is a body of several records.
func batchOf(records ...string) string { return `{"records":[` + strings.Join(records, ",") + `]}` }

// times are the clinical times in a list.
func (r *reply) times() (times []string) {
	r.tb.Helper()
	for _, item := range r.data() {
		times = append(times, item["recorded_at"].(string))
	}
	return times
}

// ids are the identifiers in a list.
func (r *reply) ids() (ids []string) {
	r.tb.Helper()
	for _, item := range r.data() {
		ids = append(ids, item["id"].(string))
	}
	return ids
}
