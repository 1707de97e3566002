package fhirtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

func init() {
	tests["search"] = testSearch
	tests["refused searches"] = testRefusedSearches
	tests["forged cursors"] = testForgedCursors
	tests["hidden conditions"] = testHiddenConditions
	tests["everything"] = testEverything
	tests["large resources"] = testLargeResources
	tests["random searches"] = testRandomSearches
}

// clinic fills an organisation with patients and records of several types.
func clinic(c *caller, patients int) (ids []string) {
	names := []string{"Ada Lindqvist", "Åsa Berg", "Berta Finch", "Chidi Okafor", "Dora"}
	for i := range patients {
		p := c.patient(fmt.Sprintf(`{"name":%q,"date_of_birth":"19%d-0%d-02","gender":%q,"identifiers":[{"system":"http://north.example/mrn","value":"%d"}],"medical_history":[{"condition":"Low back pain","icd10_code":"M54.5","onset_date":"2020-0%d"}]}`,
			names[i%len(names)], 50+i, 1+i%9, []string{"female", "male", ""}[i%3], 100+i, 1+i%9))
		ids = append(ids, p)
		for n := range 6 {
			at := time.Date(2025, time.Month(1+(i+n)%12), 1+n, 8+n, 0, 0, 0, time.UTC).Format(time.RFC3339)
			c.record(p, `{"data_type":"pain_scores","value":{"score":`+strconv.Itoa(n+1)+`},"recorded_at":"`+at+`"}`)
			c.record(p, `{"data_type":"vitals","value":{"heart_rate":`+strconv.Itoa(60+n)+`,"systolic":120,"diastolic":80},"recorded_at":"`+at+`"}`)
		}
	}
	return ids
}

// testSearch tries parameters whose results are known.
func testSearch(t *testing.T, s *server) {
	c := s.caller(t, "north")
	ids := clinic(c, 3)
	first := c.search("Observation?code=72514-3&_sort=date&patient=" + ids[0])
	for query, want := range map[string]int{
		"Patient": 3, "Patient?name=ASA": 1, "Patient?name=berg": 1, "Patient?name:contains=ind": 1, "Patient?name:exact=ada": 0, "Patient?family=fin": 1, "Patient?given=ada,berta": 2,
		"Patient?gender=female": 1, "Patient?gender:not=female": 2, "Patient?birthdate=1950": 1, "Patient?birthdate=ge1951-01": 2, "Patient?birthdate=sa1951-02-01&birthdate=lt1952-01-01": 1,
		"Patient?identifier=http://north.example/mrn%7C100": 1, "Patient?identifier=100,101": 2, "Patient?identifier=%7C100": 0, "Patient?identifier=http://north.example/mrn%7C": 3,
		"Patient?_id=" + ids[0] + "," + ids[1]: 2, "Patient?identifier=pat_" + ids[2]: 1, "Patient?given:missing=true": 0,
		"Condition?code=M54.5": 3, "Condition?patient=" + ids[0]: 1, "Condition?onset-date=2020-01": 1, "Condition?clinical-status:missing=true": 3,
		"Observation?patient=" + ids[0] + "&code=72514-3": 6, "Observation?subject=Patient/" + ids[0] + "&code=http://loinc.org%7C72514-3": 6, "Observation?code=%7C72514-3": 0,
		"Observation?patient=" + ids[0] + "," + ids[1] + "&code=8867-4": 12, "Observation?code=8867-4,85354-9": 36, "Observation?category=vital-signs": 36, "Observation?category=survey": 18,
		"Observation?status=final": 54, "Observation?status:not=final": 0, "Observation?patient.identifier=http://north.example/mrn%7C101": 18, "Observation?subject:Patient.name=ada": 18,
		"Observation?patient.birthdate=lt1951": 18, "Observation?patient=" + ids[0] + "&patient=" + ids[1]: 0, "Observation?patient=01kf0k8y20a14c3emmv2g2jemj": 0,
		"Observation?_id=" + strings.TrimPrefix(first.ids[0], "Observation/"): 1, "Observation?identifier=rec_" + strings.TrimPrefix(first.ids[0], "Observation/"): 1,
		"Observation?subject=" + s.url + base + "/Patient/" + ids[0]: 18, "Observation?_lastUpdated=gt2100": 0, "Observation?unknown=1&patient=" + ids[0]: 18,
		"Procedure": 0, "MedicationRequest?intent=order": 0,
	} {
		separator := "?"
		if strings.Contains(query, "?") {
			separator = "&"
		}
		got := c.search(query + separator + "_total=accurate&_count=7")
		if len(got.ids) != want || got.total != float64(want) {
			t.Errorf("%s: %d found, total %v, want %d", query, len(got.ids), got.total, want)
		}
		if strings.Contains(got.self, "unknown") {
			t.Errorf("self is %s", got.self)
		}
	}
	var dates []string
	for _, r := range first.entries {
		dates = append(dates, r["effectiveDateTime"].(string))
	}
	if !slices.IsSorted(dates) || len(dates) != 6 {
		t.Errorf("sorted by date: %v", dates)
	}
	if got := c.search("Patient?_sort=-birthdate&_count=1"); got.entries[0]["birthDate"] != "1952-03-02" || len(got.ids) != 3 {
		t.Errorf("%v", got.ids)
	}
	if got := c.search("Observation?code=8867-4&_include=Observation:patient&_count=100"); len(got.include) != 3 {
		t.Errorf("included %v", got.include)
	}
	if got := c.get(base + "/Observation?_count=0").is(http.StatusOK).bundle(); got.total != 54 || len(got.ids) != 0 {
		t.Errorf("count 0: %v", got)
	}
	form := c.send("POST", base+"/Patient/_search", "name=ada&_count=1", "Content-Type", "application/x-www-form-urlencoded").is(http.StatusOK).bundle()
	if len(form.ids) != 1 {
		t.Errorf("form: %v", form)
	}
	c.get("/v1/audit?limit=100").is(http.StatusOK)
}

func testRefusedSearches(t *testing.T, s *server) {
	c := s.caller(t, "north")
	for _, query := range []string{
		"Patient?name:fuzzy=x", "Patient?birthdate=x", "Patient?birthdate=ap2020", "Patient?birthdate=2020-13-01", "Patient?_sort=nothing", "Patient?_include=Patient:link", "Patient?_total=exact",
		"Patient?_summary=true", "Patient?_cursor=x", "Patient?_count=-1", "Patient?_count=1&_count=2", "Patient?gender=", "Patient?gender:missing=maybe", "Observation?patient=Group/1", "Observation?code=a%7Cb%7Cc",
		"Observation?patient.patient.name=x", "Observation?subject:Group.name=x", "Observation?_include=Observation:device", "Patient?name=%ff", "Patient?name=%zz",
	} {
		c.get(base + "/" + query).is(http.StatusBadRequest)
	}
	c.get(base+"/Patient?colour=red", "Prefer", "handling=strict").is(http.StatusBadRequest).says("http.colour")
	c.get(base+"/Observation?patient.colour=red", "Prefer", "handling=strict").is(http.StatusBadRequest)
	c.get(base + "/Patient?colour=red").is(http.StatusOK)
	c.send("POST", base+"/Patient/_search", "{}").is(http.StatusUnsupportedMediaType)
}

// testForgedCursors sends cursors that no next link has. A search from a place
// after the last patient ends at once.
func testForgedCursors(t *testing.T, s *server) {
	c := s.caller(t, "north")
	clinic(c, 1)
	for cursor, want := range map[string]int{
		"s 9223372036854775807 ~": http.StatusBadRequest, "s 9223372036854775800 ~": http.StatusBadRequest, "s 9007199254740993 ~": http.StatusBadRequest,
		"s -1 ~": http.StatusBadRequest, "l 1 ~": http.StatusBadRequest, "o -1": http.StatusBadRequest, "s 9007199254740992 ~": http.StatusOK,
	} {
		if got := c.get(base + "/Observation?_cursor=" + base64.RawURLEncoding.EncodeToString([]byte(cursor))); got.status != want {
			t.Errorf("%s: %d %s", cursor, got.status, got.body)
		}
	}
}

// testHiddenConditions searches by what the token may not read, which would
// tell it.
func testHiddenConditions(t *testing.T, s *server) {
	c := s.caller(t, "north")
	clinic(c, 1)
	filtered := c.send("POST", "/v1/cohorts", `{"name":"Back pain","filters":{"condition":"M54"}}`).is(http.StatusCreated).id()
	filtered = base + "/Group/" + strings.TrimPrefix(filtered, "coh_") + "/$export"
	narrow := s.caller(t, "north")
	observations, patients := narrow.asking("system/Observation.rs"), narrow.asking("system/Observation.rs system/Patient.rs system/Group.rs")
	observations.get(base + "/Observation").is(http.StatusOK)
	for _, query := range []string{"patient.name=ada", "subject:Patient.birthdate=1950", "patient.identifier=100"} {
		observations.get(base + "/Observation?" + query).is(http.StatusForbidden).says("system/Patient.s")
		patients.get(base + "/Observation?" + query).is(http.StatusOK)
	}
	patients.get(filtered, "Prefer", "respond-async").is(http.StatusForbidden).says("system/Condition.r")
	export := c.get(filtered+"?_type=Patient", "Prefer", "respond-async").is(http.StatusAccepted).header.Get("Content-Location")
	patients.get(export).is(http.StatusForbidden)
	c.get(export).is(http.StatusAccepted)
	// The log has the number of searches, not what they look for.
	c.get(base+"/$export?_type=Patient&_typeFilter="+escape("Patient?name=lindqvist"), "Prefer", "respond-async").is(http.StatusAccepted)
	log := c.get("/v1/audit?action=export.create").is(http.StatusOK).says(`"type_filters":1`)
	if strings.Contains(string(log.body), "lindqvist") {
		t.Errorf("%s", log.body)
	}
}

func testEverything(t *testing.T, s *server) {
	c := s.caller(t, "north")
	ids := clinic(c, 2)
	all := c.search("Patient/" + ids[0] + "/$everything?_count=5")
	if len(all.ids) != 20 || all.total != 20 || all.ids[0] != "Patient/"+ids[0] || !strings.HasPrefix(all.ids[1], "Condition/") {
		t.Errorf("%d of %v: %v", len(all.ids), all.total, all.ids)
	}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(all.ids)))); distinct != 20 {
		t.Errorf("%d distinct resources", distinct)
	}
	for query, want := range map[string]int{"_type=Patient,Condition": 2, "_since=2100-01-01": 0, "_type=Observation&start=2025-06-01": 3, "_type=Observation&start=2025-07": 0, "_type=Observation&end=2025-01": 3} {
		if got := c.search("Patient/" + ids[0] + "/$everything?" + query); len(got.ids) != want {
			t.Errorf("%s: %d, want %d", query, len(got.ids), want)
		}
	}
	c.get(base + "/Patient/" + ids[0] + "/$everything?_type=Nothing").is(http.StatusBadRequest)
}

// testLargeResources searches resources that together are too large for a page.
func testLargeResources(t *testing.T, s *server) {
	testneed.Long(t, "a page of nine megabytes")
	c := s.caller(t, "north")
	p := c.patient(`{"name":"Ada","date_of_birth":"1970-05-17"}`)
	large := strings.Replace(score(p, "7"), `"status"`, `"text":{"status":"additional","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">`+strings.Repeat("x", 900<<10)+`</div>"},"status"`, 1)
	for range 11 {
		c.send("POST", base+"/Observation", large).is(http.StatusCreated)
	}
	for _, path := range []string{"Observation?patient=" + p, "Observation", "Patient/" + p + "/$everything?_type=Observation"} {
		first := c.get(base + "/" + path).is(http.StatusOK)
		if page := first.bundle(); len(first.body) > 9<<20 || len(page.ids) != 9 || page.next == "" {
			t.Errorf("%s: %d bytes, %d resources, next %q", path, len(first.body), len(page.ids), page.next)
		}
		if all := c.search(path); len(slices.Compact(slices.Sorted(slices.Values(all.ids)))) != 11 {
			t.Errorf("%s: %d resources", path, len(all.ids))
		}
	}
	if !strings.Contains(t.Name(), storetest.SQLite) { // the engine makes no difference to a batch
		return
	}
	batch := c.send("POST", base, `{"resourceType":"Bundle","type":"batch","entry":[`+strings.Repeat(`{"request":{"method":"GET","url":"Observation?_count=9"}},`, 27)+`{"request":{"method":"GET","url":"Observation"}}]}`).is(http.StatusOK)
	if refused := strings.Count(string(batch.body), "too-costly"); refused < 5 {
		t.Errorf("%d bytes, %d refused", len(batch.body), refused)
	}
}

// condition is a random condition with an independent definition of what it
// means.
type condition struct {
	query string
	holds func(r, patient map[string]any) bool
}

// Random searches find what a plain filter over everything finds.
func testRandomSearches(t *testing.T, s *server) {
	c := s.caller(t, "north")
	ids := clinic(c, 6)
	byID := map[string]map[string]any{} // patients
	var everything []map[string]any
	for _, id := range ids {
		for _, r := range c.search("Patient/" + id + "/$everything").entries {
			everything = append(everything, r)
			if r["resourceType"] == "Patient" {
				byID[id] = r
			}
		}
	}
	count := 600
	if s.store.Engine() == storetest.Postgres || testing.Short() {
		count = 150
	}
	random := rand.New(rand.NewPCG(7, 11))
	for i := range count {
		kind := []string{"Observation", "Observation", "Patient", "Condition"}[random.IntN(4)]
		var conditions []condition
		for range 1 + random.IntN(3) {
			conditions = append(conditions, randomCondition(random, kind, ids))
		}
		query := kind + "?_count=" + strconv.Itoa(1+random.IntN(60))
		for _, one := range conditions {
			query += "&" + one.query
		}
		if random.IntN(4) == 0 {
			query += "&_sort=" + []string{"_id", "-_lastUpdated", "identifier"}[random.IntN(3)]
		}
		want := map[string]bool{}
		for _, r := range everything {
			patient := r
			if subject, ok := r["subject"].(map[string]any); ok {
				patient = byID[strings.TrimPrefix(subject["reference"].(string), "Patient/")]
			}
			holds := r["resourceType"] == kind
			for _, one := range conditions {
				holds = holds && one.holds(r, patient)
			}
			if holds {
				want[kind+"/"+r["id"].(string)] = true
			}
		}
		got := c.search(query)
		if found := slices.Sorted(slices.Values(got.ids)); !slices.Equal(found, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("search %d: %s found %d of %d: %v", i, query, len(found), len(want), found)
		}
	}
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

// hasCode reports whether one of the codings of an element has a code.
func hasCode(element any, code string) bool {
	list, isList := element.([]any)
	if !isList {
		list = []any{element}
	}
	for _, concept := range list {
		object, _ := concept.(map[string]any)
		codings, _ := object["coding"].([]any)
		for _, coding := range codings {
			if coding.(map[string]any)["code"] == code {
				return true
			}
		}
	}
	return false
}

// compares is what the prefixes mean for times in UTC and partial dates, as
// texts.
var compares = map[string]func(time, value string) bool{
	"": func(a, b string) bool { return a == b }, "eq": func(a, b string) bool { return a == b }, "ne": func(a, b string) bool { return a != b },
	"gt": func(a, b string) bool { return a > b }, "sa": func(a, b string) bool { return a > b }, "lt": func(a, b string) bool { return a < b }, "eb": func(a, b string) bool { return a < b },
	"ge": func(a, b string) bool { return a >= b }, "le": func(a, b string) bool { return a <= b },
}

func dateCondition(random *rand.Rand, name, element string, values ...string) condition {
	prefix, value := pick(random, "", "eq", "ne", "gt", "lt", "ge", "le", "sa", "eb"), pick(random, values...)
	return condition{name + "=" + prefix + value, func(r, _ map[string]any) bool {
		text, ok := r[element].(string)
		return ok && compares[prefix](text[:min(len(text), len(value))], value)
	}}
}

func randomCondition(random *rand.Rand, kind string, ids []string) condition {
	if kind == "Patient" {
		switch random.IntN(4) {
		case 0:
			value := pick(random, "ada", "berg", "Lind", "fin", "dora", "x")
			return condition{"name=" + value, func(r, _ map[string]any) bool { return nameStarts(r, value) }}
		case 1:
			value := pick(random, "male", "female", "unknown")
			return condition{"gender=" + value, func(r, _ map[string]any) bool { return r["gender"] == value }}
		case 2:
			value := ids[random.IntN(len(ids))]
			return condition{"_id=" + value + ",x", func(r, _ map[string]any) bool { return r["id"] == value }}
		}
		return dateCondition(random, "birthdate", "birthDate", "1951", "1952-03", "1953-04-02")
	}
	switch random.IntN(5) {
	case 0:
		value := ids[random.IntN(len(ids))]
		return condition{pick(random, "patient=", "subject=Patient/", "patient._id=", "subject:Patient=") + value, func(r, patient map[string]any) bool { return patient["id"] == value }}
	case 1:
		value := pick(random, "ada", "berg", "Lind", "fin", "dora")
		return condition{"patient.name=" + value, func(_, patient map[string]any) bool { return nameStarts(patient, value) }}
	case 2:
		value := pick(random, "72514-3", "8867-4", "85354-9", "M54.5", "none")
		other := pick(random, "8867-4", "none")
		return condition{"code=" + value + "," + other, func(r, _ map[string]any) bool { return hasCode(r["code"], value) || hasCode(r["code"], other) }}
	case 3:
		value := pick(random, "survey", "vital-signs", "problem-list-item")
		if random.IntN(2) == 0 {
			return condition{"category:not=" + value, func(r, _ map[string]any) bool { return !hasCode(r["category"], value) }}
		}
		return condition{"category=" + value, func(r, _ map[string]any) bool { return hasCode(r["category"], value) }}
	}
	if kind == "Condition" {
		return condition{"onset-date:missing=true", func(r, _ map[string]any) bool { return r["onsetDateTime"] == nil }}
	}
	return dateCondition(random, "date", "effectiveDateTime", "2025", "2025-03", "2025-04-02", "2025-06-03T10:00")
}

// nameStarts reports whether a part of a name starts with a text. The names
// need no other folding.
func nameStarts(patient map[string]any, text string) bool {
	var parts []string
	for _, name := range patient["name"].([]any) {
		object := name.(map[string]any)
		for _, element := range []string{"text", "family"} {
			if part, ok := object[element].(string); ok {
				parts = append(parts, part)
			}
		}
		given, _ := object["given"].([]any)
		for _, one := range given {
			parts = append(parts, one.(string))
		}
	}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(strings.ToLower(part), strings.ToLower(text)) })
}
