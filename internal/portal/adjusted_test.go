package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestAnalyticsShowWhatIsAdjusted(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("ada@clinic.example", "ours", access.Viewer)
		ours := h.org("ours")
		for range 12 {
			storetest.AddPatient(t, ours, "Berit")
		}
		// Nobody of the twelve was ever scored, in either period.
		page := b.get("/portal/analytics?start_date=2024-01-01&compare_start_date=2023-01-01&standard=age&adjust=case_mix")
		for _, text := range []string{
			"Compared with 2023-01-01 to 2023-12-31", "<th scope=\"row\">no score in 90 days</th><td>100.0 % (75.8 to 100.0)</td><td>12</td><td>100.0 % (75.8 to 100.0)</td><td>12</td><td>0.00 points (−24.25 to 24.25)</td>",
			"<td>too few patients</td>", "Outcomes adjusted for the case mix", "Excluded: without PHQ-9 at baseline 0", "<td>no patients match</td>",
			"Rates standardised by gender and age", "<td>12 of 12</td><td>100.0 % (75.8 to 100.0)</td><td>100.00 % (75.75 to 100.00)</td>",
			`<option value="age" selected>`, `<option value="case_mix" selected>`, `name="compare_start_date" type="date" value="2023-01-01"`,
		} {
			if !strings.Contains(page.text, text) {
				t.Errorf("the page does not say %q", text)
			}
		}
		plain := b.get("/portal/analytics")
		if strings.Contains(plain.text, "Compared with 2") || strings.Contains(plain.text, "adjusted for the case mix") || !strings.Contains(plain.text, "Rates standardised") {
			t.Error("the page shows what nobody asked for")
		}
		if p := b.get("/portal/analytics?standard=female:1,male:3"); p.status != http.StatusOK || !strings.Contains(p.text, `<option value="female:1,male:3" selected>female:1,male:3</option>`) || !strings.Contains(p.text, "the one given in the request") {
			t.Errorf("weights: %d", p.status)
		}
		for _, bad := range []string{"?standard=x", "?adjust=x", "?compare_end_date=x", "?compare_end_date=2099-01-01"} {
			if p := b.get("/portal/analytics" + bad); p.status != http.StatusBadRequest {
				t.Errorf("%s: %d", bad, p.status)
			}
		}
	})
}
