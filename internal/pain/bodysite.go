package pain

import "slices"

// BodySite is a location of pain.
type BodySite struct {
	Name   string `json:"name"`
	SNOMED string `json:"snomed,omitempty"` // empty until verified
}

var bodySites = []BodySite{
	{Name: "head"}, {Name: "face"}, {Name: "jaw"}, {Name: "neck"}, {Name: "shoulder", SNOMED: "16982005"}, {Name: "upper arm"},
	{Name: "elbow"}, {Name: "forearm"}, {Name: "wrist"}, {Name: "hand"}, {Name: "chest"}, {Name: "upper back"},
	{Name: "lower back", SNOMED: "37822005"}, {Name: "abdomen", SNOMED: "818983003"}, {Name: "pelvis"}, {Name: "buttock"},
	{Name: "hip"}, {Name: "groin"}, {Name: "thigh"}, {Name: "knee", SNOMED: "72696002"}, {Name: "lower leg"}, {Name: "ankle"},
	{Name: "foot"}, {Name: "widespread"}, {Name: "other"},
}

var lateralities = []string{"left", "right", "bilateral", "midline", "na"}

// BodySites lists the sites.
func BodySites() []BodySite { return slices.Clone(bodySites) }

func siteNames() []string {
	var names []string
	for _, s := range bodySites {
		names = append(names, s.Name)
	}
	return names
}
