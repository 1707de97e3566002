package api

import (
	"net/http"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/reporttype"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range fault.Codes() {
		if statusOf[code] < 400 {
			t.Errorf("%s has the status %d", code, statusOf[code])
		}
	}
	for code := range statusOf {
		if !slices.Contains(fault.Codes(), code) {
			t.Errorf("%s is no code", code)
		}
	}
}

// A report does not bypass the scopes of its data: every type requires some,
// and an unknown one is refused.
func TestEveryReportNeedsTheScopesOfItsData(t *testing.T) {
	t.Parallel()
	for _, kind := range reporttype.Types() {
		if declared, _ := reporttype.Of(kind); declared.Scopes == 0 {
			t.Errorf("a report of type %s needs no scope", kind)
		}
	}
	x := &exchange{route: &route{method: http.MethodPost, scope: access.ReportsWrite}, principal: &access.Principal{Scopes: access.AllScopes}}
	if err := x.mayRead("new_type"); err == nil {
		t.Error("a report of a type without scopes may be read")
	}
	for _, kind := range reporttype.Types() {
		if err := x.mayRead(kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
