package fhir

import "anodyne.example/anodyne/internal/pain"

// bodySiteSystem is the code system of the sites.
const bodySiteSystem = "body-site"

// siteSNOMED has the SNOMED CT code of each site that has a verified one, and
// snomedSite the reverse.
var siteSNOMED, snomedSite = func() (codes, sites map[string]string) {
	codes, sites = map[string]string{}, map[string]string{}
	for _, s := range pain.BodySites() {
		if s.SNOMED != "" {
			codes[s.Name], sites[s.SNOMED] = s.SNOMED, s.Name
		}
	}
	return codes, sites
}()

// bodySite returns the body_site of a value with its laterality, or nil.
func (o *outgoing) bodySite() *CodeableConcept {
	site, side := o.text("body_site"), o.text("laterality")
	if site == "" && side == "" {
		return nil
	}
	c := &CodeableConcept{Text: site}
	if code := siteSNOMED[site]; code != "" {
		c.Coding = append(c.Coding, Coding{System: snomed, Code: code})
	}
	if site != "" {
		c.Coding = append(c.Coding, Coding{System: o.m.system(bodySiteSystem), Code: site})
	}
	if side != "" {
		c.Extension = []Extension{{URL: o.m.extensionURL("record", "laterality"), ValueCode: side}}
	}
	return c
}

// readBodySite takes body_site and laterality. A site that we have no word for
// is kept as received.
func (in *incoming) readBodySite(c *CodeableConcept) {
	if c == nil {
		return
	}
	site := c.code(in.m.system(bodySiteSystem))
	if site == "" {
		site = snomedSite[c.code(snomed)]
	}
	in.setText("body_site", site, "bodySite")
	for i := range c.Extension {
		if c.Extension[i].URL == in.m.extensionURL("record", "laterality") {
			in.setText("laterality", c.Extension[i].ValueCode, "bodySite.extension"+index(i)+".valueCode")
		}
	}
}
