package portal

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
)

// The page lists every aligned measure with what it is of.
func TestAnalyticsListMeasures(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("doctor@clinic.example", "default", access.Viewer)
		p := b.get("/portal/analytics")
		if p.status != http.StatusOK {
			t.Fatalf("%d\n%s", p.status, p.text)
		}
		text := html.UnescapeString(p.text)
		for _, m := range analytics.AlignedMeasures() {
			for _, want := range []string{m.Name, m.Numerator, m.Denominator} {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
		}
		if strings.Count(text, "(proxy)") != 1 || strings.Count(text, "(higher is better)") != 1 {
			t.Error("the page does not say which measure is a proxy, or of which higher is better")
		}
	})
}
