package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain/dictionary/rxname"
)

// readTables reads the tables of the first release: RxNorm 2025-10-06, the
// opioid products of OMTK 2020-10-20 and the CDC value sets of 2025-02. They
// lack the ingredients that begin with A, so these are taken from the names of
// the products.
func readTables(dir string, known *release) (*release, error) {
	r := newRelease()
	r.extra = known.extra
	listed := map[string][]string{}
	header := func(c []string) bool { return c[0] == "rxcui" || c[0] == "class" || c[0] == "ndc11" }
	err := eachRow(filepath.Join(dir, "rxnorm-prescribable.tsv"), "\t", 5, func(c []string) {
		switch {
		case header(c):
		case c[1] == "IN":
			r.addIngredient(c[0], c[2])
		case c[1] == "BN":
			r.addBrand(c[0], c[2], list(c[3]))
		default:
			r.addProduct(c[0], c[1], c[2])
			listed[c[0]] = list(c[3])
		}
	})
	if err != nil {
		return nil, err
	}
	retired := func(code, name string) {
		if r.products[code] == nil {
			r.products[code] = &product{code, kindOf(name), name}
		}
	}
	err = eachRow(filepath.Join(dir, "rxnorm-opioid-drugs.tsv"), "\t", 8, func(c []string) {
		if !header(c) {
			if _, ok := r.of(c[4]); !ok {
				r.addIngredient(c[3], c[4])
			}
			retired(c[0], c[1])
			listed[c[0]] = append(listed[c[0]], c[4])
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachRow(filepath.Join(dir, "rxnorm-other-drugs.tsv"), "\t", 3, func(c []string) {
		if !header(c) {
			retired(c[1], c[2])
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachRow(filepath.Join(dir, "ndc-opioids-benzodiazepines.tsv"), "\t", 2, func(c []string) {
		if !header(c) {
			r.ndc[c[0]] = c[1]
		}
	})
	if err != nil {
		return nil, err
	}
	r.nameSubstances(listed)
	return r, nil
}

// kindOf determines the kind from the way RxNorm writes names, for products
// that are not in the release.
func kindOf(name string) string {
	pack, branded := strings.HasPrefix(name, "{"), strings.HasSuffix(name, "]")
	switch {
	case pack && branded:
		return "k"
	case pack:
		return "g"
	case branded:
		return "b"
	}
	return "s"
}

// nameSubstances finds the ingredient of each substance: the one with its
// name, or the one listed for a product with the same words, or the only one
// left.
func (r *release) nameSubstances(listed map[string][]string) {
	var d rxname.Drug
	var open []*product
	for _, code := range slices.SortedFunc(maps.Keys(r.products), byNumber) {
		p := r.products[code]
		d.Parse(p.name)
		for _, c := range d.Components {
			if _, ok := r.of(c.Name); ok {
				continue
			}
			if in := withWordsOf(c.Name, listed[p.code]); in != "" {
				r.substances[strings.ToLower(c.Name)] = in
			} else {
				open = append(open, p)
			}
		}
	}
	for _, p := range open {
		d.Parse(p.name)
		left := slices.Clone(listed[p.code])
		var unnamed []string
		for _, c := range d.Components {
			if in, ok := r.of(c.Name); !ok {
				unnamed = append(unnamed, c.Name)
			} else if i := slices.Index(left, in); i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		slices.Sort(unnamed)
		unnamed = slices.Compact(unnamed)
		if len(unnamed) == 1 && len(left) == 1 && !strings.HasPrefix(strings.ToLower(unnamed[0]), "a") {
			r.substances[strings.ToLower(unnamed[0])] = left[0]
		}
	}
	for _, p := range open {
		d.Parse(p.name)
		for _, c := range d.Components {
			if _, ok := r.of(c.Name); ok {
				continue
			}
			key := strings.ToLower(c.Name)
			in := r.firstWords(key)
			if i := len(key) - 5; in == "" && i > 0 && key[i] == '-' { // trastuzumab-zzxf
				in = r.firstWords(key[:i])
			}
			if in != "" {
				r.substances[key] = in
			} else {
				r.addIngredient("", c.Name)
			}
		}
	}
}

// firstWords returns the ingredient whose name starts the substance.
func (r *release) firstWords(substance string) string {
	for end := len(substance); end > 0; end = strings.LastIndexByte(substance[:end], ' ') {
		if in, ok := r.of(strings.TrimRight(substance[:end], ",")); ok {
			return in
		}
	}
	return ""
}

// withWordsOf returns the longest ingredient whose words are all in the
// substance.
func withWordsOf(substance string, ingredients []string) (best string) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(substance, ",", " ")))
	for _, in := range ingredients {
		all := true
		for _, word := range strings.Fields(strings.ToLower(strings.ReplaceAll(in, ",", " "))) {
			all = all && slices.Contains(words, word)
		}
		if all && len(in) > len(best) {
			best = in
		}
	}
	return best
}
