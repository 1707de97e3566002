package fhir

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// Selection is a saved selection of patients, which is a Group in FHIR.
type Selection struct {
	ID   id.Cohort
	Name string
	// Filters is a JSON object with parameters of the analytics, or "" for a
	// list of patients.
	Filters   string
	Patients  []id.Patient
	CreatedAt time.Time
	// Summary leaves out the members, of which there are Members.
	Summary bool
	Members int
}

// Group is a group of people.
type Group struct {
	domainResource
	Identifier []Identifier  `json:"identifier,omitempty"`
	Active     *bool         `json:"active,omitempty"`
	Type       string        `json:"type,omitempty"`
	Actual     bool          `json:"actual"`
	Name       string        `json:"name,omitempty"`
	Quantity   *int          `json:"quantity,omitempty"`
	Member     []GroupMember `json:"member,omitempty"`
}

// GroupMember is a member of a group.
type GroupMember struct {
	Entity   Reference `json:"entity"`
	Inactive bool      `json:"inactive,omitempty"`
}

// ResourceID returns the id of the resource of an identifier: the identifier
// without its prefix, which has a character that FHIR does not allow.
func ResourceID[K id.Kind](i id.ID[K]) string { return resourceID(i) }

// ExtensionURL returns the address of the extension for a field without a place
// in FHIR.
func (m Mapping) ExtensionURL(owner, field string) string { return m.extensionURL(owner, field) }

// filterURL is the extension with the filters of a group. It has an extension
// for each filter.
func (m *Mapping) filterURL() string { return m.extensionURL("cohort", "filters") }

// StoredGroup maps a selection to a Group, with what [Keep] returned of it.
func (m Mapping) StoredGroup(s *Selection, kept string) (Resource, error) {
	active, count := true, len(s.Patients)
	if s.Summary {
		count = s.Members
	}
	g := Group{
		domainResource: domainResource{ResourceType: "Group", ID: resourceID(s.ID), Meta: &Meta{LastUpdated: instant(s.CreatedAt)}},
		Identifier:     []Identifier{{System: m.base() + "/cohort", Value: s.ID.String()}},
		Active:         &active, Type: "person", Actual: true, Name: s.Name,
	}
	if s.Filters == "" {
		g.Quantity = &count
		for _, p := range s.Patients {
			g.Member = append(g.Member, GroupMember{Entity: Reference{Reference: "Patient/" + resourceID(p)}})
		}
	} else {
		var err error
		if g.Extension, err = m.filterExtensions(s.Filters); err != nil {
			return Resource{}, err
		}
	}
	if s.Summary {
		g.Meta.Tag = []Coding{{System: "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", Code: "SUBSETTED"}}
	}
	r, err := encode("Group", g.ID, &g)
	if err == nil && kept != "" {
		r.JSON = Restore(r.JSON, []byte(kept))
	}
	return r, err
}

func (m *Mapping) filterExtensions(filters string) ([]Extension, error) {
	var given map[string]any
	if err := json.Unmarshal([]byte(filters), &given); err != nil {
		return nil, err
	}
	all := Extension{URL: m.filterURL()}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		e := Extension{URL: name}
		switch value := given[name].(type) {
		case string:
			e.ValueString = value
		case float64:
			e.ValueInteger = json.Number(strconv.FormatFloat(value, 'f', -1, 64))
		}
		all.Extension = append(all.Extension, e)
	}
	return []Extension{all}, nil
}

// GroupDraft is a Group as the body of POST /v1/cohorts.
type GroupDraft struct {
	Body  json.RawMessage
	paths map[string]string
}

// Path is like [Draft.Path].
func (d *GroupDraft) Path(v1Path string) string {
	return (&Draft{Type: "Group", paths: d.paths}).Path(v1Path)
}

// ReadGroup reads a Group: of people, with members or with our extension for
// filters. It is as [Mapping.Read] otherwise.
func (m Mapping) ReadGroup(body []byte) (*GroupDraft, []Issue) {
	if len(body) > MaxBytes || depth(body) > maxDepth {
		return nil, []Issue{{"error", TooLong, "", "The resource is larger than 4 MiB, or nested too deeply."}}
	}
	root, err := strictjson.Parse(body)
	if err != nil {
		return nil, []Issue{{"error", Structure, "", message(err)}}
	}
	resourceType, issue := typeOf(root)
	if issue != nil {
		return nil, []Issue{*issue}
	}
	if resourceType != "Group" {
		return nil, []Issue{{"error", Invalid, resourceType, "The resource must be a Group."}}
	}
	issues := validate(root, "Group", &m)
	if failed(issues) {
		return nil, issues
	}
	var g Group
	if err := json.Unmarshal(body, &g); err != nil {
		return nil, []Issue{{"error", Structure, "Group", "The resource cannot be read."}}
	}
	issues = append(issues, m.groupIssues(&g)...)
	if failed(issues) {
		return nil, issues
	}
	return m.draftGroup(&g), issues
}

// groupIssues returns what this service cannot take of a group.
func (m *Mapping) groupIssues(g *Group) (issues []Issue) {
	refuse := func(code, at, text string) { issues = append(issues, Issue{"error", code, at, text}) }
	if g.Type != "person" {
		refuse(NotSupported, "Group.type", "Only groups of type person are accepted.")
	}
	if !g.Actual {
		refuse(NotSupported, "Group.actual", "Must be true: the group has real members, by a list or by filters.")
	}
	if g.Active != nil && !*g.Active {
		refuse(NotSupported, "Group.active", "Must be true or absent.")
	}
	if g.Name == "" {
		refuse(Required, "Group.name", "A name is required.")
	}
	for i := range g.Member {
		at := "Group.member" + index(i)
		if g.Member[i].Inactive {
			refuse(NotSupported, at+".inactive", "Must be false or absent: leave out members who are no longer in the group.")
		}
		if _, ok := memberID(&g.Member[i].Entity); !ok {
			refuse(Value, at+".entity", "Must refer to a patient of this service, such as Patient/01kf0k8y20a14c3emmv2g2jemj.")
		}
	}
	return issues
}

// memberID returns the patient that a member refers to.
func memberID(r *Reference) (id.Patient, bool) {
	ulid, ok := strings.CutPrefix(r.Reference, "Patient/")
	if at := strings.LastIndex(r.Reference, "/fhir/R4/Patient/"); !ok && at >= 0 {
		ulid, ok = r.Reference[at+len("/fhir/R4/Patient/"):], true
	}
	if !ok {
		return id.Patient{}, false
	}
	patientID, err := id.Parse[id.PatientKind]("pat_" + strings.ToLower(ulid))
	return patientID, err == nil
}

func (m *Mapping) draftGroup(g *Group) *GroupDraft {
	d := &GroupDraft{paths: map[string]string{"name": "Group.name", "patients": "Group.member", "filters": "Group.extension"}}
	body := map[string]any{"name": g.Name}
	var members []string
	for i := range g.Member {
		patientID, _ := memberID(&g.Member[i].Entity)
		members = append(members, patientID.String())
		d.paths["patients"+index(i)] = "Group.member" + index(i) + ".entity"
	}
	if len(members) > 0 {
		body["patients"] = members
	}
	for i := range g.Extension {
		if g.Extension[i].URL != m.filterURL() {
			continue
		}
		filters := map[string]any{}
		for j, e := range g.Extension[i].Extension {
			d.paths["filters."+e.URL] = "Group.extension" + index(i) + ".extension" + index(j)
			switch {
			case e.ValueInteger != "":
				filters[e.URL] = e.ValueInteger
			default:
				text, _ := e.text()
				filters[e.URL] = text
			}
		}
		d.paths["filters"] = "Group.extension" + index(i)
		body["filters"] = filters
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	d.Body = text
	return d
}
