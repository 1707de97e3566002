package api

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// storedResource is one version of a resource.
type storedResource struct {
	fhir.Resource
	patient id.Patient
	version int64
	updated time.Time
	// shifting is set if the contents may have changed within a version.
	shifting bool
}

func noSuchResource(resourceType, resourceID string) error {
	return fault.Missing(resourceType, clip(resourceID))
}

// parsePatientID returns the patient of a resource id.
func parsePatientID(resourceID string) (id.Patient, bool) {
	patientID, err := id.Parse[id.PatientKind]("pat_" + resourceID)
	return patientID, err == nil
}

// parseRecordID returns the first record of a resource id, which may end with a
// part.
func parseRecordID(resourceID string) (id.Record, bool) {
	ulid, _, _ := strings.Cut(resourceID, "-")
	root, err := id.Parse[id.RecordKind]("rec_" + ulid)
	return root, err == nil
}

// versions returns all versions of a resource that there are, oldest first. Of
// patients there is only the current one.
func (x *exchange) versions(resourceType, resourceID string) ([]storedResource, error) {
	read := x.patientVersions
	if fhirRecords[resourceType] != nil {
		read = x.recordVersions
	}
	list, err := read(resourceType, resourceID)
	if fault.Is(err, fault.NotFound) || err == nil && len(list) == 0 {
		return nil, noSuchResource(resourceType, resourceID)
	}
	return list, err
}

// recordVersions returns nothing if the identifier is not that of a record.
func (x *exchange) recordVersions(resourceType, resourceID string) ([]storedResource, error) {
	root, ok := parseRecordID(resourceID)
	if !ok {
		return nil, nil
	}
	chain, err := x.org.FHIRVersions(x.ctx(), root)
	if err != nil {
		return nil, err
	}
	return x.versionsOf(chain, resourceType, resourceID)
}

// patientVersions returns nothing if the identifier is not that of a resource
// of a patient.
func (x *exchange) patientVersions(resourceType, resourceID string) ([]storedResource, error) {
	patientID, ok := parsePatientID(strings.SplitN(resourceID, "-", 2)[0])
	if !ok {
		return nil, nil
	}
	p, err := x.org.FHIRPatient(x.ctx(), patientID)
	if err != nil {
		return nil, err
	}
	list, err := x.api.mapping.ofPatient(&p, resourceType)
	for _, r := range list {
		if r.ID == resourceID {
			return []storedResource{{Resource: r, patient: p.ID, version: p.Version, updated: p.UpdatedAt}}, err
		}
	}
	return nil, err
}

// versionsOf returns the versions of one resource of a record. A record entered
// in error has two versions: the last one before, and the retraction. A resource
// that a correction removed, such as one vital sign, was entered in error.
func (x *exchange) versionsOf(chain []patients.FHIRRecord, resourceType, resourceID string) (list []storedResource, err error) {
	show := func(rec patients.FHIRRecord) (shown bool, err error) {
		resources, err := x.api.mapping.ofRecord(&rec)
		for _, r := range resources {
			if r.Type == resourceType && r.ID == resourceID {
				list = append(list, storedResource{r, rec.PatientID, rec.Number, rec.UpdatedAt, rec.Rederived()})
				shown = true
			}
		}
		return shown, err
	}
	var last *patients.FHIRRecord // the latest with the resource, unless it was removed
	add := func(rec patients.FHIRRecord) error {
		shown, err := show(rec)
		switch {
		case shown:
			last = &rec
		case err == nil && last != nil:
			removed := *last
			removed.Number, removed.UpdatedAt, removed.Kept, removed.Status = rec.Number, rec.UpdatedAt, rec.Kept, pain.EnteredInError
			_, err = show(removed)
			last = nil
		}
		return err
	}
	for _, rec := range chain {
		if rec.Status == pain.EnteredInError {
			before := rec
			before.Number, before.UpdatedAt, before.Status = rec.Number-1, rec.CreatedAt, pain.Superseded // shown as it was
			if err := add(before); err != nil {
				return nil, err
			}
		}
		if rec.Status == pain.Superseded {
			rec.UpdatedAt = rec.CreatedAt
		}
		if err := add(rec); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// fhirMapping makes resources of what the store has.
type fhirMapping struct{ fhir.Mapping }

// ofPatient returns the resources of a type that are made of a patient.
func (m fhirMapping) ofPatient(p *patients.FHIRPatient, resourceType string) ([]fhir.Resource, error) {
	if resourceType == "Condition" {
		return p.Conditions(m.Mapping)
	}
	r, err := p.Resource(m.Mapping)
	return []fhir.Resource{r}, err
}

// ofRecord returns the resources of a record.
func (m fhirMapping) ofRecord(rec *patients.FHIRRecord) ([]fhir.Resource, error) {
	return rec.Resources(m.Mapping)
}

// sawResources returns the audit entry of a read about one patient.
func (x *exchange) sawResources(resourceType string, patient id.Patient, count int) *audit.Entry {
	if fhirRecords[resourceType] == nil {
		return x.saw(audit.PatientRead, patient.String())
	}
	line := x.saw(audit.ClinicalRead, patient.String())
	line.Details = countOf(count)
	return line
}

func (a *API) readFHIR(x *exchange) (answer, error) {
	values, err := x.fhirQuery("_summary", "_elements")
	if err != nil {
		return answer{}, err
	}
	t := x.resourceType()
	if t == questionnaire {
		return x.readQuestionnaire()
	}
	list, err := x.versions(t, x.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return x.showResource(t, &list[len(list)-1], elementsOf(values.Get("_elements")))
}

func (a *API) vreadFHIR(x *exchange) (answer, error) {
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	t := x.resourceType()
	list, err := x.versions(t, x.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	for i := range list {
		if strconv.FormatInt(list[i].version, 10) == x.r.PathValue("version") {
			return x.showResource(t, &list[i], nil)
		}
	}
	return answer{}, refuse(http.StatusNotFound, "not-found", "", "The resource has no such version, or it is not kept: of patients there is only the current one.")
}

// showResource responds with one version of a resource.
func (x *exchange) showResource(t string, r *storedResource, elements []string) (answer, error) {
	x.modified(r.updated)
	out := answer{status: http.StatusOK, etag: weakTag(r.version), body: r.JSON}
	if !r.shifting && x.unchanged(r.version, r.updated) {
		return answer{status: http.StatusNotModified, etag: out.etag}, nil
	}
	if elements != nil {
		out.body = subset(r.JSON, elements)
	}
	out.line = x.sawResources(t, r.patient, 1)
	return x.asFHIR(out), nil
}

// historyFHIR responds with all versions of a resource, latest first.
func (a *API) historyFHIR(x *exchange) (answer, error) {
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	t := x.resourceType()
	list, err := x.versions(t, x.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	self := x.fhirURL() + "/" + t + "/" + list[0].ID
	b := bundle{kind: "history", total: len(list), now: x.now}
	b.link("self", self+"/_history")
	for i := len(list) - 1; i >= 0; i-- {
		r := &list[i]
		method, address, status := "PUT", t+"/"+r.ID, "200 OK"
		if r.version == 1 {
			method, address, status = "POST", t, "201 Created"
		}
		b.entry(self, r.JSON, `"request":{"method":"`+method+`","url":"`+address+`"},"response":{"status":"`+status+`","etag":"W/\"`+
			strconv.FormatInt(r.version, 10)+`\"","lastModified":"`+r.updated.UTC().Format("2006-01-02T15:04:05.000Z")+`"}`)
	}
	x.buf = b.append(x.buf)
	return x.asFHIR(answer{status: http.StatusOK, body: x.buf, line: x.sawResources(t, list[0].patient, len(list))}), nil
}

// bundle is a Bundle being written.
type bundle struct {
	kind    string
	total   int // -1 if unknown
	now     time.Time
	links   []byte
	entries bytes.Buffer
	count   int
}

// link adds a link. The address has no characters that JSON escapes.
func (b *bundle) link(relation, address string) {
	if b.links != nil {
		b.links = append(b.links, ',')
	}
	b.links = append(append(append(append(append(b.links, `{"relation":"`...), relation...), `","url":"`...), address...), `"}`...)
}

// entry adds a resource. more is the rest of the entry.
func (b *bundle) entry(fullURL string, resource []byte, more string) {
	if b.count++; b.count > 1 {
		b.entries.WriteByte(',')
	}
	b.entries.WriteString(`{"fullUrl":"` + fullURL + `","resource":`)
	b.entries.Write(resource)
	b.entries.WriteString(`,` + more + `}`)
}

func (b *bundle) append(to []byte) []byte {
	to = append(to, `{"resourceType":"Bundle","meta":{"lastUpdated":"`...)
	to = b.now.UTC().AppendFormat(to, "2006-01-02T15:04:05.000Z")
	to = append(append(append(to, `"},"type":"`...), b.kind...), '"')
	if b.total >= 0 {
		to = strconv.AppendInt(append(to, `,"total":`...), int64(b.total), 10)
	}
	if b.links != nil {
		to = append(append(append(to, `,"link":[`...), b.links...), ']')
	}
	if b.count > 0 {
		to = append(append(append(to, `,"entry":[`...), b.entries.Bytes()...), ']')
	}
	return append(to, '}')
}
