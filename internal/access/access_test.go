package access

import (
	"errors"
	"strings"
	"testing"
)

func TestScopesRoundTrip(t *testing.T) {
	all, err := ParseScopes(AllScopes.String())
	if err != nil || all != AllScopes {
		t.Fatalf("ParseScopes(all) = %v, %v", all, err)
	}
	if n := len(AllScopes.Names()); n != 14 {
		t.Fatalf("%d scopes, want the 14 of the contract", n)
	}
	some, err := ParseScopes("  audit:read   patients:read ")
	if err != nil || some.String() != "patients:read audit:read" {
		t.Fatalf("ParseScopes = %q, %v; want the order of the list", some, err)
	}
	if !AllScopes.Has(some) || some.Has(AllScopes) || some.Has(PatientsWrite) {
		t.Fatal("Has is not the subset relation")
	}
}

func TestUnknownScopeIsNamed(t *testing.T) {
	_, err := ParseScopes("patients:read patients:destroy")
	if unknown, ok := errors.AsType[UnknownScopeError](err); !ok || unknown != "patients:destroy" {
		t.Fatalf("error %v, want the unknown word", err)
	}
	if !strings.Contains(err.Error(), "events:read") {
		t.Fatalf("error %q does not list the scopes", err)
	}
}

func TestTiers(t *testing.T) {
	for name, limit := range map[string]int64{"standard": 1_000, "professional": 10_000, "enterprise": 100_000} {
		tier, err := ParseTier(name)
		if err != nil || tier.Limit() != limit || tier.String() != name {
			t.Errorf("tier %s: %v, limit %d, error %v; want limit %d", name, tier, tier.Limit(), err, limit)
		}
	}
	if _, err := ParseTier("gold"); err == nil || !strings.Contains(err.Error(), "professional") {
		t.Errorf("ParseTier(gold): %v, want an error that names the tiers", err)
	}
}

func TestRoles(t *testing.T) {
	for _, role := range Roles() {
		if parsed, err := ParseRole(role.String()); err != nil || parsed != role {
			t.Errorf("role %s: %v, %v", role, parsed, err)
		}
		if !role.Scopes().Has(role.Grants()) || !Administrator.Grants().Has(role.Scopes()) {
			t.Errorf("%s may give more than it has, or has more than an administrator", role)
		}
	}
	if Viewer.Scopes()&(PatientsWrite|ClinicalDataWrite|ReportsWrite|WebhooksWrite|AuditRead) != 0 {
		t.Error("a viewer may write, or read the audit log")
	}
	if Developer.Scopes() != WebhooksRead|WebhooksWrite|EventsRead || Developer.Grants() != Developer.Scopes() {
		t.Error("a developer has more than webhooks and events, or cannot give them")
	}
	if Viewer.Grants() != 0 || Administrator.Grants() != AllScopes {
		t.Error("a viewer can give something, or an administrator not everything")
	}
	if !Administrator.Has(Viewer) || Viewer.Has(Developer) {
		t.Error("Has is not the order of the roles")
	}
	if _, err := ParseRole("root"); err == nil || !strings.Contains(err.Error(), "administrator") {
		t.Errorf("ParseRole(root): %v, want an error that names the roles", err)
	}
}
