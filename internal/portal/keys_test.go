package portal

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// checkURI stands for reading an address: one has keys, others have not.
func checkURI(uri string) (int, error) {
	if uri != "https://ehr.example/jwks.json" {
		return 0, errors.New("the receiver returned 404 Not Found")
	}
	return 1, nil
}

// publicKey is a valid key on P-384.
const publicKey = `{"kty":"EC","crv":"P-384","kid":"ehr <1>","use":"sig","alg":"ES384","x":"jDmo2tjsqU72yNA8lNfgqETcYxnnK7uPx9aoSQRI8DUgTjsZgfxr2snOgtw4jjVa","y":"xMHgSi4veYapCwTIXEzeJRl6WfNc7r-g_Jn9Qy_GsckjGl5S5Od18HzE_28tAVtS"}`

func TestKeysOfAnApplication(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		dev := h.signedIn("dev@clinic.example", "default", access.Developer)
		other := h.signedIn("other@clinic.example", "default", access.Developer)
		viewer := h.signedIn("viewer@clinic.example", "default", access.Viewer)
		path := "/portal/applications/" + dev.post("/portal/applications", "name", "EHR", "scope", "webhooks:read").find(t, `cli_[0-9a-z]{26}`)

		for _, bad := range []string{"", "x", strings.Replace(publicKey, `"x":`, `"d":"AAAA","x":`, 1)} {
			if p := dev.post(path+"/keys", "jwks", bad); p.status != http.StatusBadRequest || !strings.Contains(p.text, "The keys were not added") {
				t.Errorf("%.20q: %d", bad, p.status)
			}
		}
		forms := [][]string{{"/keys", "jwks", publicKey}, {"/keys/remove", "kid", "ehr <1>"}, {"/jwks-uri", "jwks_uri", "https://ehr.example/jwks.json"}}
		for _, form := range forms {
			for who, b := range map[string]*browser{"another developer": other, "a viewer": viewer} {
				if p := b.post(path+form[0], form[1:]...); p.status != http.StatusForbidden {
					t.Errorf("%s at %s: %d", who, form[0], p.status)
				}
			}
		}
		if p := dev.post(path+"/keys", "jwks", publicKey); p.status != http.StatusSeeOther {
			t.Fatalf("adding: %d\n%s", p.status, p.text)
		}
		for who, b := range map[string]*browser{"its developer": dev, "a viewer": viewer} {
			p := b.get(path)
			for _, want := range []string{"ehr &lt;1&gt;", "ES384", "15 Jan 2026"} {
				if !strings.Contains(p.text, want) {
					t.Errorf("%s does not see %s", who, want)
				}
			}
			if offered := strings.Contains(p.text, "/keys/remove"); offered != (b == dev) {
				t.Errorf("%s is offered to remove it: %v", who, offered)
			}
		}
		if p := dev.post(path+"/jwks-uri", "jwks_uri", "https://ehr.example/other"); p.status != http.StatusBadRequest || !strings.Contains(p.text, "404 Not Found") {
			t.Errorf("an address without keys: %d", p.status)
		}
		if p := dev.post(path+"/jwks-uri", "jwks_uri", "https://ehr.example/jwks.json"); p.status != http.StatusSeeOther || !strings.Contains(dev.get(path).text, "https://ehr.example/jwks.json") {
			t.Errorf("an address: %d", p.status)
		}
		if p := dev.post(path+"/jwks-uri", "jwks_uri", ""); p.status != http.StatusSeeOther || strings.Contains(dev.get(path).text, "https://ehr.example/jwks.json") {
			t.Errorf("removing the address: %d", p.status)
		}
		if p := dev.post(path+"/keys/remove", "kid", "ehr <1>"); p.status != http.StatusSeeOther || strings.Contains(dev.get(path).text, "ehr &lt;1&gt;") {
			t.Errorf("removing: %d", p.status)
		}
		if p := dev.post(path+"/keys/remove", "kid", "ehr <1>"); p.status != http.StatusNotFound {
			t.Errorf("removing what is gone: %d", p.status)
		}
		storetest.Settle(t, h.store)
		org := h.store.For(&access.Principal{Org: 1})
		for action, want := range map[audit.Action]int{audit.ClientKeyAdd: 1, audit.ClientKeyRemove: 1, audit.ClientKeysURI: 2} {
			lines := storetest.AuditLines(t, org, journal.AuditFilter{Action: action})
			if len(lines) != want {
				t.Errorf("%d entries %s, want %d", len(lines), action, want)
			}
		}
	})
}
