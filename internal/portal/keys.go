package portal

import (
	"fmt"

	"anodyne.example/anodyne/internal/fault"
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

func (p *Portal) addKeys(v *visit) error {
	c, err := v.managed()
	if err != nil {
		return err
	}
	keys, err := p.ReadKeys([]byte(v.form("jwks")))
	if err != nil {
		return fault.New(fault.InvalidParameter, fmt.Sprintf("The keys were not added: %v.", err))
	}
	if err := v.org.AddKeys(v.r.Context(), c.ID, keys, v.line()); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String() + "#keys")
	return nil
}

func (p *Portal) removeKey(v *visit) error {
	c, err := v.managed()
	if err != nil {
		return err
	}
	if err := v.org.RemoveKey(v.r.Context(), c.ID, v.r.PostFormValue("kid"), v.line()); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String() + "#keys")
	return nil
}

// setKeysURI sets the address of the application's keys, or removes it. The
// keys are read once, so that a mistake is noticed now and not by the
// application.
func (p *Portal) setKeysURI(v *visit) error {
	c, err := v.managed()
	if err != nil {
		return err
	}
	uri := v.form("jwks_uri")
	if uri != "" {
		if _, err := p.CheckKeysURI(v.r.Context(), uri); err != nil {
			return fault.New(fault.InvalidParameter, fmt.Sprintf("The URL was not saved, because no keys could be read from it: %v.", err))
		}
	}
	if err := v.org.SetKeysURI(v.r.Context(), c.ID, uri, v.line()); err != nil {
		return err
	}
	v.redirect("/portal/applications/" + c.ID.String() + "#keys")
	return nil
}
