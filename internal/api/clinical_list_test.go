package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

// fillCourse adds 25 scores in random order, some at the same time, and
// returns their identifiers by clinical time, then by identifier.
func (c *caller) fillCourse(patientID string) (inOrder []string) {
	c.tb.Helper()
	var records []string
	for i := range 25 {
		records = append(records, fmt.Sprintf(`{"data_type":"pain_scores","value":%d,"recorded_at":"2024-03-%02d"}`, i%11, 1+i*7%12))
	}
	var keys []string
	for _, record := range c.add(patientID, batchOf(records...)).is(http.StatusCreated).json()["data"].([]any) {
		record := record.(map[string]any)
		keys = append(keys, record["recorded_at"].(string)+" "+record["id"].(string))
	}
	slices.Sort(keys)
	for _, key := range keys {
		_, id, _ := strings.Cut(key, " ")
		inOrder = append(inOrder, id)
	}
	return inOrder
}

func TestRecordsAreInClinicalOrder(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		want := c.fillCourse(id)
		for _, query := range []string{"", "&order=asc", "&order=desc"} {
			if query == "&order=desc" {
				slices.Reverse(want)
			}
			if got := c.get(dataOf(id) + "?limit=100" + query).ids(); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
			if got := c.walk(dataOf(id)+"?limit=4"+query, func() {}); !slices.Equal(got, want) {
				t.Errorf("%s by pages: %v, want %v", query, got, want)
			}
		}
	})
}

func TestPagesOfRecords(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		c.fillCourse(id)
		r := c.get(dataOf(id) + "?limit=10&page=2&data_type=pain_scores,notes&start_date=2024-03-01&end_date=2024-03-31&order=desc&include_inactive=true")
		if got := r.pagination(); got != [3]int{2, 10, 25} || len(r.data()) != 10 {
			t.Errorf("%v, %d records", got, len(r.data()))
		}
		for relation, page := range map[string]string{"first": "1", "prev": "1", "next": "3", "last": "3"} {
			link, err := url.Parse(r.links()[relation])
			if err != nil {
				t.Fatal(err)
			}
			want := url.Values{"page": {page}, "limit": {"10"}, "data_type": {"pain_scores,notes"}, "start_date": {"2024-03-01"},
				"end_date": {"2024-03-31"}, "order": {"desc"}, "include_inactive": {"true"}}
			if link.Path != dataOf(id) || link.Query().Encode() != want.Encode() {
				t.Errorf("%s is %s, want %s", relation, link, want.Encode())
			}
		}
		if r := c.get(dataOf(id) + "?page=2147483647&limit=100"); r.data() == nil || len(r.data()) != 0 || r.pagination()[2] != 25 {
			t.Errorf("past the end: %s", r.body)
		}
		for query, wrong := range map[string][2]string{
			"page=0": {"page", "0"}, "limit=101": {"limit", "101"}, "limit=x": {"limit", "x"}, "order=up": {"order", "up"}, "order=": {"order", ""},
			"include_inactive=1": {"include_inactive", "1"}, "include_inactive=TRUE": {"include_inactive", "TRUE"},
			"type=pain_scores": {"type", "pain_scores"}, "start_date=2024-01-01&start_date=2024-01-02": {"start_date", "2024-01-01,2024-01-02"},
		} {
			c.get(dataOf(id)+"?"+query).wrong(wrong[0], wrong[1])
		}
		if got := fmt.Sprint(c.get(dataOf(id) + "?start_date=x&end_date=y&data_type=z&order=up&page=0").errors()); got != "[page data_type order start_date end_date]" {
			t.Errorf("faults %s", got)
		}
	})
}

func TestOneRecord(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id, other := c.create("Arlo Finch"), c.create("Berta Finch")
		record := c.score(id, 5)
		if got := c.get(dataOf(id) + "/" + record).is(http.StatusOK).json(); got["id"] != record || got["patient_id"] != id {
			t.Errorf("%v", got)
		}
		if r := c.send("HEAD", dataOf(id)+"/"+record, "").is(http.StatusOK); len(r.body) != 0 || r.number("Content-Length") == 0 {
			t.Errorf("HEAD: %v %s", r.header, r.body)
		}
		for _, path := range []string{dataOf(id), correctionsOf(id, record), "/v1/reference/data-types"} {
			c.send("HEAD", path, "").is(http.StatusOK)
		}
		// A record of another patient is none of this one's.
		missing := map[string]any{"resource": "clinical record", "id": record}
		c.get(dataOf(other)+"/"+record).details(http.StatusNotFound, fault.NotFound, missing)
		c.get(correctionsOf(other, record)).details(http.StatusNotFound, fault.NotFound, missing)
		c.post(correctionsOf(other, record), `{"value":4}`).details(http.StatusNotFound, fault.NotFound, missing)
		for _, unknown := range []string{"rec_01kf0k8y20a14c3emmv2g2jemj", "rec_1", "x%20y", id} {
			want := map[string]any{"resource": "clinical record", "id": unescaped(unknown)}
			c.get(dataOf(id)+"/"+unknown).details(http.StatusNotFound, fault.NotFound, want)
			c.get(correctionsOf(id, unknown)).details(http.StatusNotFound, fault.NotFound, want)
			c.post(correctionsOf(id, unknown), `{"value":4}`).details(http.StatusNotFound, fault.NotFound, want)
		}
		c.get(dataOf("nobody")+"/"+record).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": "nobody"})
		c.get(dataOf(id)+"/"+record+"?fields=id").wrong("fields", "id")
		c.get(correctionsOf(id, record)+"?page=1").wrong("page", "1")
		c.post(dataOf(id)+"?x=1", `{"data_type":"pain_scores","value":5}`).wrong("x", "1")
		c.post(correctionsOf(id, record)+"?x=1", `{"value":4}`).wrong("x", "1")
		for _, method := range []string{"PUT", "PATCH", "DELETE"} {
			r := c.send(method, dataOf(id)+"/"+record, `{}`)
			if r.fault(http.StatusMethodNotAllowed, fault.MethodNotAllowed); r.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s: Allow %q", method, r.header.Get("Allow"))
			}
		}
	})
}
