package portal

import (
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/clients"
)

// scopeChoice is a scope in a form.
type scopeChoice struct {
	Name string
	// Ticked is set if it is already selected, and Waits if it needs an
	// administrator's approval.
	Ticked, Waits bool
}

// choices lists scopes to choose from, with those in ticked selected. grants
// are the scopes that the member may grant.
func choices(of, ticked, grants access.Scopes) (list []scopeChoice) {
	for _, name := range of.Names() {
		one, _ := access.ParseScopes(name)
		list = append(list, scopeChoice{Name: name, Ticked: ticked.Has(one), Waits: !grants.Has(one)})
	}
	return list
}

// scopes returns the scopes selected in a parsed form.
func (v *visit) scopes() (access.Scopes, error) {
	return access.ParseScopes(strings.Join(v.r.PostForm["scope"], " "))
}

// clientScopes is a form about an application's scopes. Seen is the request
// that the form showed.
type clientScopes struct {
	Client       clients.Client
	Ticked, Seen access.Scopes
}

// changeScopes reads a form with scopes on an application's page and calls
// change with it.
func (v *visit) changeScopes(change func(clientScopes) error) error {
	c, err := v.client()
	if err != nil {
		return err
	}
	if err := v.r.ParseForm(); err != nil {
		return fault.New(fault.InvalidBody, "The form could not be read.")
	}
	form := clientScopes{Client: c}
	if form.Ticked, err = v.scopes(); err != nil {
		return fault.New(fault.InvalidParameter, "A scope is unknown.")
	}
	if form.Seen, err = access.ParseScopes(v.form("seen")); err != nil {
		return fault.New(fault.InvalidParameter, "A scope is unknown.")
	}
	if err := change(form); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String())
	return nil
}

// requestScopes requests more scopes. Those that the member may grant are
// granted at once.
func (p *Portal) requestScopes(v *visit) error {
	return v.changeScopes(func(f clientScopes) error {
		return v.org.RequestScopes(v.r.Context(), f.Client.ID, f.Ticked, v.line())
	})
}

// decideScopes grants the selected scopes of a request and declines the
// others.
func (p *Portal) decideScopes(v *visit) error {
	return v.changeScopes(func(f clientScopes) error {
		if v.form("act") == "decline" {
			f.Ticked = 0
		} else if f.Ticked == 0 {
			return fault.New(fault.InvalidParameter, "Select the scopes to grant, or decline the request.")
		}
		return v.org.DecideScopes(v.r.Context(), f.Client.ID, f.Seen, f.Ticked, v.line())
	})
}

// setScopes replaces an application's scopes with the selected ones.
func (p *Portal) setScopes(v *visit) error {
	return v.changeScopes(func(f clientScopes) error {
		if f.Ticked == 0 {
			return fault.New(fault.InvalidParameter, "An application needs at least one scope. To remove all access, revoke the application.")
		}
		return v.org.SetScopes(v.r.Context(), f.Client.ID, f.Ticked, v.line())
	})
}
