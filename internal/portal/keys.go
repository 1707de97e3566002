package portal

import (
	"fmt"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/clients"
)

// managed returns the application of the path if the member may change it. The
// store decides again; this is for work that is done before.
func (v *visit) managed() (clients.Client, error) {
	c, err := v.client()
	if err == nil && !c.ManagedBy(v.member) {
		err = fault.New(fault.Forbidden, "Only an administrator, or the developer who registered this application, may change it.")
	}
	return c, err
}

// changeKeys changes the keys of the application of the path, and then shows
// them.
func (v *visit) changeKeys(change func(id.Client) error) error {
	c, err := v.managed()
	if err != nil {
		return err
	}
	if err := change(c.ID); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String() + "#keys")
	return nil
}

func (p *Portal) addKeys(v *visit) error {
	return v.changeKeys(func(clientID id.Client) error {
		keys, err := p.ReadKeys([]byte(v.form("jwks")))
		if err != nil {
			return fault.New(fault.InvalidParameter, fmt.Sprintf("The keys were not added: %v.", err))
		}
		return v.org.AddKeys(v.r.Context(), clientID, keys, v.line())
	})
}

func (p *Portal) removeKey(v *visit) error {
	return v.changeKeys(func(clientID id.Client) error {
		return v.org.RemoveKey(v.r.Context(), clientID, v.r.PostFormValue("kid"), v.line())
	})
}

// setKeysURI sets the address of the application's keys, or removes it. The
// keys are read once, so that a mistake is noticed now and not by the
// application.
func (p *Portal) setKeysURI(v *visit) error {
	return v.changeKeys(func(clientID id.Client) error {
		uri := v.form("jwks_uri")
		if uri != "" {
			if _, err := p.CheckKeysURI(v.r.Context(), uri); err != nil {
				return fault.New(fault.InvalidParameter, fmt.Sprintf("The URL was not saved, because no keys could be read from it: %v.", err))
			}
		}
		return v.org.SetKeysURI(v.r.Context(), clientID, uri, v.line())
	})
}
