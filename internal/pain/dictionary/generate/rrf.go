package main

import (
	"path/filepath"
	"strings"

	"anodyne.example/anodyne/internal/pain/dictionary/rxname"
)

// Columns of the files, by index. RXNCONSO has the names of concepts, RXNREL
// their relations and RXNSAT their attributes; see
// https://www.nlm.nih.gov/research/umls/rxnorm/docs/techdoc.html.
const (
	consoCode, consoSource, consoType, consoName, consoSuppress = 0, 11, 12, 14, 16
	relTo, relFrom, relKind, relSource, relSuppress             = 0, 4, 7, 10, 14
	satCode, satName, satSource, satValue, satSuppress          = 0, 8, 9, 10, 11
)

// readRRF reads a release of the Current Prescribable Content or of the full
// RxNorm.
func readRRF(dir string) (*release, error) {
	r := newRelease()
	type concept struct{ tty, name string }
	concepts := map[string]concept{}
	err := eachRow(filepath.Join(dir, "RXNCONSO.RRF"), "|", 17, func(c []string) {
		if c[consoSource] != "RXNORM" || c[consoSuppress] != "N" {
			return
		}
		code, name := c[consoCode], c[consoName]
		switch tty := c[consoType]; tty {
		case "IN":
			r.addIngredient(code, name)
		case "BN":
			r.addBrand(code, name, nil)
		case "SCD", "SBD", "GPCK", "BPCK":
			r.addProduct(code, tty, name)
		case "PIN", "SCDC":
		default:
			return
		}
		concepts[code] = concept{c[consoType], name}
	})
	if err != nil {
		return nil, err
	}
	// A row gives the relation of the second concept to the first.
	err = eachRow(filepath.Join(dir, "RXNREL.RRF"), "|", 15, func(c []string) {
		to, from := concepts[c[relTo]], concepts[c[relFrom]]
		if c[relSource] != "RXNORM" || to.tty != "IN" || c[relSuppress] != "" && c[relSuppress] != "N" {
			return
		}
		switch {
		case from.tty == "PIN" && c[relKind] == "form_of":
			r.substances[strings.ToLower(from.name)] = to.name
		case from.tty == "SCDC" && c[relKind] == "has_ingredient":
			var d rxname.Drug
			if d.Parse(from.name) && len(d.Components) == 1 {
				r.substances[strings.ToLower(d.Components[0].Name)] = to.name
			}
		case from.tty == "BN" && c[relKind] == "tradename_of":
			r.addBrand("", from.name, []string{to.name})
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachRow(filepath.Join(dir, "RXNSAT.RRF"), "|", 12, func(c []string) {
		if c[satSource] == "RXNORM" && c[satName] == "NDC" && c[satSuppress] == "N" && len(c[satValue]) == 11 && r.products[c[satCode]] != nil {
			r.ndc[c[satValue]] = c[satCode]
		}
	})
	return r, err
}
