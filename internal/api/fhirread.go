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
	"anodyne.example/anodyne/internal/store/patients"
)

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

// versions returns all stored versions of a resource, oldest first. For
// patients there is only the current one.
func (x *exchange) versions(resourceType, resourceID string) ([]patients.FHIRVersion, error) {
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
func (x *exchange) recordVersions(resourceType, resourceID string) ([]patients.FHIRVersion, error) {
	root, ok := parseRecordID(resourceID)
	if !ok {
		return nil, nil
	}
	chain, err := x.org.FHIRVersions(x.ctx(), root)
	if err != nil {
		return nil, err
	}
	return patients.VersionsOf(x.api.mapping.Mapping, chain, resourceType, resourceID)
}

// patientVersions returns nothing if the identifier is not that of a resource
// of a patient.
func (x *exchange) patientVersions(resourceType, resourceID string) ([]patients.FHIRVersion, error) {
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
			return []patients.FHIRVersion{{Resource: r, Patient: p.ID, Number: p.Version, UpdatedAt: p.UpdatedAt}}, err
		}
	}
	return nil, err
}

// fhirMapping maps stored data to resources.
type fhirMapping struct{ fhir.Mapping }

// ofPatient returns the resources of a type that a patient maps to.
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

// removed returns the retractions of resources that corrections removed from
// the records of a chart.
func (m fhirMapping) removed(c *patients.FHIRChart) (list []fhir.Resource, err error) {
	versions, err := c.Removed(m.Mapping)
	for _, v := range versions {
		list = append(list, v.Resource)
	}
	return list, err
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

// allVersions returns the versions of the resource in the path of a request
// without search parameters, and its type.
func (x *exchange) allVersions() (t string, list []patients.FHIRVersion, err error) {
	t = x.resourceType()
	if _, err = x.fhirQuery(); err == nil {
		list, err = x.versions(t, x.r.PathValue("id"))
	}
	return t, list, err
}

func (a *API) vreadFHIR(x *exchange) (answer, error) {
	t, list, err := x.allVersions()
	if err != nil {
		return answer{}, err
	}
	for i := range list {
		if strconv.FormatInt(list[i].Number, 10) == x.r.PathValue("version") {
			return x.showResource(t, &list[i], nil)
		}
	}
	return answer{}, refuse(http.StatusNotFound, "not-found", "", "The resource has no such version. For patients and their conditions, only the current version is available.")
}

// showResource responds with one version of a resource.
func (x *exchange) showResource(t string, r *patients.FHIRVersion, elements []string) (answer, error) {
	x.modified(r.UpdatedAt)
	out := answer{status: http.StatusOK, etag: weakTag(r.Number), body: r.JSON}
	if !r.Shifting && x.unchanged(r.Number, r.UpdatedAt) {
		return answer{status: http.StatusNotModified, etag: out.etag}, nil
	}
	if elements != nil {
		out.body = subset(r.JSON, elements)
	}
	out.line = x.sawResources(t, r.Patient, 1)
	return x.asFHIR(out), nil
}

// historyFHIR responds with all versions of a resource, latest first.
func (a *API) historyFHIR(x *exchange) (answer, error) {
	t, list, err := x.allVersions()
	if err != nil {
		return answer{}, err
	}
	self := x.fhirURL() + "/" + t + "/" + list[0].ID
	b := bundle{kind: "history", total: len(list), now: x.now}
	b.link("self", self+"/_history")
	for i := len(list) - 1; i >= 0; i-- {
		r := &list[i]
		method, address, status := "PUT", t+"/"+r.ID, "200 OK"
		if r.Number == 1 {
			method, address, status = "POST", t, "201 Created"
		}
		b.entry(self, r.JSON, `"request":{"method":"`+method+`","url":"`+address+`"},"response":{"status":"`+status+`","etag":"W/\"`+
			strconv.FormatInt(r.Number, 10)+`\"","lastModified":"`+r.UpdatedAt.UTC().Format("2006-01-02T15:04:05.000Z")+`"}`)
	}
	x.buf = b.append(x.buf)
	return x.asFHIR(answer{status: http.StatusOK, body: x.buf, line: x.sawResources(t, list[0].Patient, len(list))}), nil
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
