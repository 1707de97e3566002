package api

import (
	"net/http"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestETagAndIfNoneMatch(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		path := "/v1/patients/" + c.create("Arlo Finch")
		tag := c.get(path).is(http.StatusOK).header.Get("ETag")
		for _, given := range []string{tag, "W/" + tag, "*", `"0", ` + tag, `"a",W/` + tag + `,"b"`} {
			r := c.get(path, "If-None-Match", given).is(http.StatusNotModified)
			if len(r.body) != 0 || r.header.Get("ETag") != tag {
				t.Errorf("%s: %q, ETag %s", given, r.body, r.header.Get("ETag"))
			}
		}
		c.get(path, "If-None-Match", `"0"`, "If-None-Match", tag).is(http.StatusNotModified)
		c.send("HEAD", path, "", "If-None-Match", tag).is(http.StatusNotModified)
		for _, given := range []string{`"0"`, "", "1", `"`, `""`} {
			c.get(path, "If-None-Match", given).is(http.StatusOK)
		}
		changed := c.send("PATCH", path, `{"gender":"x"}`).is(http.StatusOK).header.Get("ETag")
		if changed == tag {
			t.Errorf("the tag is %s before and after a change", tag)
		}
		c.get(path, "If-None-Match", tag).is(http.StatusOK)
		c.get(path, "If-None-Match", changed).is(http.StatusNotModified)
	})
}

func TestIfMatchGuardsAChange(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		path := "/v1/patients/" + c.create("Arlo Finch")
		tag := c.get(path).is(http.StatusOK).header.Get("ETag")
		second := c.send("PATCH", path, `{"gender":"one"}`, "If-Match", tag).is(http.StatusOK).header.Get("ETag")
		for _, given := range []string{tag, "W/" + second, `"99"`, "", `"`} {
			c.send("PATCH", path, `{"gender":"two"}`, "If-Match", given).
				details(http.StatusPreconditionFailed, fault.PreconditionFailed, map[string]any{"etag": second})
		}
		if got := c.get(path).is(http.StatusOK).json()["gender"]; got != "one" {
			t.Errorf("a refused change was made: %v", got)
		}
		third := c.send("PATCH", path, `{"gender":"two"}`, "If-Match", `"99", `+second).is(http.StatusOK).header.Get("ETag")
		c.send("PATCH", path, `{"gender":"three"}`, "If-Match", "*").is(http.StatusOK)
		c.send("PATCH", path, `{"gender":"four"}`).is(http.StatusOK)
		c.send("PATCH", path, `{"gender":"five"}`, "If-Match", third).is(http.StatusPreconditionFailed)
	})
}

// Of many who change one version, one does.
func TestIfMatchInParallel(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		path := "/v1/patients/" + c.create("Arlo Finch")
		tag := c.get(path).is(http.StatusOK).header.Get("ETag")
		other := c.at(n.another())
		got := statuses(parallel(32, func(i int) *reply {
			return []*caller{c, other}[i%2].send("PATCH", path, `{"contact":{"phone":"`+string(rune('a'+i%26))+string(rune('a'+i/26))+`"}}`, "If-Match", tag)
		}))
		if got[http.StatusOK] != 1 || got[http.StatusPreconditionFailed] != 31 {
			t.Errorf("%v", got)
		}
	})
}

func TestPatchMerges(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.post("/v1/patients", fullPatient).is(http.StatusCreated)
		path := r.header.Get("Location")
		if same := c.send("PATCH", path, `{"gender":"woman"}`).is(http.StatusOK); string(same.body) != string(r.body) || same.header.Get("ETag") != r.header.Get("ETag") {
			t.Errorf("no change gave %s", same.body)
		}
		got := c.send("PATCH", path, `{"date_of_birth":"1961-04-13","gender":null,"contact":{"email":null},"medical_history":["Gout"]}`).is(http.StatusOK)
		want := r.json()
		want["date_of_birth"], want["gender"] = "1961-04-13", ""
		want["contact"] = map[string]any{"email": "", "phone": "+46 8 123"}
		want["medical_history"] = []any{map[string]any{"condition": "Gout"}}
		if g, w := quoteAny(got.json()), quoteAny(want); g != w {
			t.Errorf("patched to %s, want %s", g, w)
		}
		if read := c.get(path).is(http.StatusOK); string(read.body) != string(got.body) {
			t.Errorf("read %s after %s", read.body, got.body)
		}
		c.send("PATCH", path, `{"name":null}`).wrong("name", nil)
		c.send("PATCH", path, `{"date_of_birth":""}`).wrong("date_of_birth", "")
		c.send("PATCH", path, `{"gendr":"x"}`).wrong("gendr", "x")
	})
}
