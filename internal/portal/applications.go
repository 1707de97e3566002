package portal

import (
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/clients"
)

type applicationsPage struct {
	Clients []clients.Client
	// Waiting lists the applications that wait for an administrator, oldest
	// request first.
	Waiting []clients.Client
}

func (p *Portal) applications(v *visit) error {
	apps, err := v.org.Clients(v.r.Context())
	if err != nil {
		return err
	}
	page := applicationsPage{Clients: apps}
	for _, c := range apps {
		if c.Requested != 0 && c.RevokedAt.IsZero() {
			page.Waiting = append(page.Waiting, c)
		}
	}
	slices.SortStableFunc(page.Waiting, func(a, b clients.Client) int { return a.RequestedAt.Compare(b.RequestedAt) })
	return v.show("applications", "Applications", page)
}

type newApplicationPage struct {
	Name, Description string
	Choices           []scopeChoice
	Tier              access.Tier
	Wrong             []string
	wanted            access.Scopes
}

func (p *Portal) newApplication(v *visit) error {
	page := newApplicationPage{wanted: access.WebhooksRead | access.EventsRead}
	if v.may(access.Administrator) {
		page.wanted = access.PatientsRead | access.ClinicalDataRead
	}
	return v.showNewApplication(page)
}

func (v *visit) showNewApplication(page newApplicationPage) error {
	page.Choices = choices(access.AllScopes, page.wanted, v.member.Role.Grants())
	return v.show("application-new", "Register an application", page)
}

// registered is the page that shows a client secret, once.
type registered struct {
	Client       clients.Client
	Secret, Curl string
	// Rotated is set if the client had a secret before, which remains valid for
	// this long.
	Rotated bool
	Overlap string
}

func (p *Portal) registerApplication(v *visit) error {
	page, err := v.readApplication()
	if err != nil {
		return err
	}
	if len(page.Wrong) > 0 {
		v.status = http.StatusUnprocessableEntity
		return v.showNewApplication(page)
	}
	secret, hash := p.NewSecret()
	made, err := v.org.CreateClient(v.r.Context(), clients.NewClient{
		Name: page.Name, Description: page.Description, Tier: page.Tier, Scopes: page.wanted, SecretHash: hash,
	}, v.line())
	if err != nil {
		return err
	}
	v.status = http.StatusCreated
	return v.show("secret", "Application registered", registered{Client: made, Secret: secret, Curl: v.tokenCurl(made.ID, secret)})
}

func (v *visit) readApplication() (page newApplicationPage, err error) {
	if err := v.r.ParseForm(); err != nil {
		return page, fault.New(fault.InvalidBody, "The form could not be read.")
	}
	page = newApplicationPage{Name: v.form("name"), Description: v.form("description")}
	if n := utf8.RuneCountInString(page.Name); n < 1 || n > 100 || !utf8.ValidString(page.Name) {
		page.Wrong = append(page.Wrong, "The name must have 1 to 100 characters.")
	}
	if utf8.RuneCountInString(page.Description) > 500 || !utf8.ValidString(page.Description) {
		page.Wrong = append(page.Wrong, "The description must have at most 500 characters.")
	}
	if page.wanted, err = v.scopes(); err != nil || page.wanted == 0 {
		page.Wrong = append(page.Wrong, "Choose at least one scope: what the application may do.")
	}
	// Only administrators can choose the tier.
	if v.may(access.Administrator) && v.form("tier") != "" {
		if page.Tier, err = access.ParseTier(v.form("tier")); err != nil {
			page.Wrong = append(page.Wrong, "The tier is unknown.")
		}
	}
	return page, nil
}

// tokenCurl returns a command that gets a token, ready to paste.
func (v *visit) tokenCurl(clientID id.Client, secret string) string {
	return fmt.Sprintf("curl -s %s/oauth/token \\\n  -d grant_type=client_credentials \\\n  -d client_id=%s \\\n  -d client_secret=%s", v.baseURL(), clientID, secret)
}

// baseURL returns the base URL of the service.
func (v *visit) baseURL() string { return v.Base(v.r) }

type applicationPage struct {
	Client clients.Client
	Keys   clients.Keys
	Used   int64
	// Percent is the used part of the allowance, at most 100, for the bar.
	Percent   int64
	WindowEnd time.Time
	Usage     usageTable
	Chart     drawing
	Overlaps  []overlap
	// Managed is set if the member may rotate secrets, revoke the client and
	// request scopes.
	Managed bool
	// All, Missing and Asked are choices of scopes: all scopes, those that the
	// application does not have, and those waiting for approval.
	All, Missing, Asked []scopeChoice
}

func (p *Portal) application(v *visit) error {
	c, err := v.client()
	if err != nil {
		return err
	}
	grants := v.member.Role.Grants()
	page := applicationPage{
		Client: c, Overlaps: overlaps, Managed: c.ManagedBy(v.member) && c.RevokedAt.IsZero(), All: choices(access.AllScopes, c.Scopes, grants),
		Missing: choices(access.AllScopes&^c.Scopes&^c.Requested, 0, grants), Asked: choices(c.Requested, c.Requested, grants),
	}
	if page.Keys, err = v.org.Keys(v.r.Context(), c.No); err != nil {
		return err
	}
	if page.Used, page.WindowEnd, err = v.org.Window(v.r.Context(), c.No); err != nil {
		return err
	}
	page.Percent = min(100, 100*page.Used/c.Tier.Limit())
	since := v.now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -6)
	usage, err := v.org.Usage(v.r.Context(), c.No, since)
	if err != nil {
		return err
	}
	page.Usage = tableOf(usage, since, v.now)
	page.Chart = draw("usage", "Requests by hour (UTC) and outcome", page.Usage.chart(), 220)
	return v.show("application", c.Name, page)
}

// client returns the application named in the path.
func (v *visit) client() (clients.Client, error) { return readItem(v, "application", v.org.Client) }

// overlap is how long an old secret remains valid beside a new one.
type overlap struct {
	Value, Words string
	length       time.Duration
}

var overlaps = []overlap{
	{"24h", "24 hours", 24 * time.Hour}, {"1h", "1 hour", time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour}, {"0", "ends at once", 0},
}

func (p *Portal) rotateApplication(v *visit) error {
	c, err := v.client()
	if err != nil {
		return err
	}
	for _, o := range overlaps {
		if v.form("overlap") != o.Value {
			continue
		}
		secret, hash := p.NewSecret()
		if err := v.org.RotateSecret(v.r.Context(), c.ID, hash, o.length, v.line()); err != nil {
			return err
		}
		return v.show("secret", "New secret", registered{Client: c, Secret: secret, Curl: v.tokenCurl(c.ID, secret), Rotated: true, Overlap: o.Words})
	}
	return fault.New(fault.InvalidParameter, "Choose how long the old secret stays valid.")
}

func (p *Portal) revokeApplication(v *visit) error {
	c, err := v.client()
	if err != nil {
		return err
	}
	if v.form("sure") != "yes" {
		return fault.New(fault.InvalidParameter, "Confirm that you want to revoke the application. It stops working immediately and cannot be restored.")
	}
	if err := v.org.RevokeClient(v.r.Context(), c.ID, v.line()); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String())
	return nil
}

func (p *Portal) setApplicationTier(v *visit) error {
	c, err := v.client()
	if err != nil {
		return err
	}
	tier, err := access.ParseTier(v.form("tier"))
	if err != nil {
		return fault.New(fault.InvalidParameter, "The tier is unknown.")
	}
	if err := v.org.SetTier(v.r.Context(), c.ID, tier, v.line()); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String())
	return nil
}
