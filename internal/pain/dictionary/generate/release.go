package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain/dictionary/rxname"
)

// undecided is the class of an ingredient that has not been reviewed.
const undecided = "?"

// release is the content of the data files. Keys are in lower case.
type release struct {
	date        string
	ingredients map[string]*ingredient // by name
	extra       map[string]*ingredient // maintained by hand; read only
	substances  map[string]string      // name with salt -> name of the ingredient
	brands      map[string]*brand
	products    map[string]*product // by code
	ndc         map[string]string   // 11 digits -> code of a product
}

type ingredient struct{ code, name, class string }

type brand struct {
	code, name  string
	ingredients []string // only for a brand without a product
}

// product has the kind S (SCD), B (SBD), G (GPCK) or K (BPCK), in lower case
// if it is not in the current release.
type product struct{ code, kind, name string }

func newRelease() *release {
	return &release{
		ingredients: map[string]*ingredient{}, extra: map[string]*ingredient{}, substances: map[string]string{},
		brands: map[string]*brand{}, products: map[string]*product{}, ndc: map[string]string{},
	}
}

// kinds are the RxNorm product types.
var kinds = map[string]string{"SCD": "S", "SBD": "B", "GPCK": "G", "BPCK": "K"}

func (r *release) addIngredient(code, name string) {
	r.ingredients[strings.ToLower(name)] = &ingredient{code, name, undecided}
}

func (r *release) addBrand(code, name string, ingredients []string) {
	key := strings.ToLower(name)
	if r.brands[key] == nil {
		r.brands[key] = &brand{name: name}
	}
	b := r.brands[key]
	if code != "" {
		b.code = code
	}
	for _, in := range ingredients {
		if !slices.Contains(b.ingredients, in) {
			b.ingredients = append(b.ingredients, in)
		}
	}
}

func (r *release) addProduct(code, tty, name string) {
	r.products[code] = &product{code, kinds[tty], name}
}

// of returns the ingredient of a substance.
func (r *release) of(substance string) (string, bool) {
	key := strings.ToLower(substance)
	if in := r.ingredients[key]; in != nil {
		return in.name, true
	}
	if in := r.extra[key]; in != nil {
		return in.name, true
	}
	name, ok := r.substances[key]
	return name, ok
}

func (r *release) classOf(name string) string {
	key := strings.ToLower(name)
	if in := r.ingredients[key]; in != nil {
		return in.class
	}
	if in := r.extra[key]; in != nil {
		return in.class
	}
	return undecided
}

// keep takes over what is already known: the classes of all ingredients, and
// entries that the release no longer has.
func (r *release) keep(known *release) {
	r.extra = known.extra
	for key, in := range known.ingredients {
		if r.ingredients[key] == nil {
			if r.extra[key] == nil {
				r.ingredients[key] = in
			}
			continue
		}
		r.ingredients[key].class = in.class
	}
	for key, in := range r.extra {
		if here := r.ingredients[key]; here != nil && here.class == undecided {
			here.class = in.class
		}
	}
	for key, name := range known.substances {
		if _, ok := r.substances[key]; !ok {
			r.substances[key] = name
		}
	}
	for code, p := range known.products {
		if r.products[code] == nil {
			r.products[code] = &product{p.code, strings.ToLower(p.kind), p.name}
		}
	}
	for key, b := range known.brands {
		if r.brands[key] == nil {
			r.brands[key] = b
		}
	}
	for ndc, code := range known.ndc {
		if r.ndc[ndc] == "" {
			r.ndc[ndc] = code
		}
	}
	r.tidy()
}

// tidy removes what the data files do not need.
func (r *release) tidy() {
	for key, name := range r.substances {
		if strings.ToLower(name) == key {
			delete(r.substances, key)
		}
	}
	var d rxname.Drug
	sold := map[string]bool{}
	for _, p := range r.products {
		if d.Parse(p.name); d.Brand != "" {
			r.addBrand("", d.Brand, nil)
			sold[strings.ToLower(d.Brand)] = true
		}
	}
	for key, b := range r.brands {
		if sold[key] {
			b.ingredients = nil // its products have them
		}
	}
	for ndc, code := range r.ndc {
		if p := r.products[code]; p == nil || !r.watched(p) {
			delete(r.ndc, ndc)
		}
	}
}

// watched reports whether a product contains an opioid or a benzodiazepine.
// Package codes are only kept for these; all others would be ten times as
// many.
func (r *release) watched(p *product) bool {
	var d rxname.Drug
	d.Parse(p.name)
	for _, c := range d.Components {
		name, _ := r.of(c.Name)
		if class := r.classOf(name); class == "opioid" || class == "benzodiazepine" || class == undecided {
			return true
		}
	}
	return false
}

// report lists what needs manual review.
func (r *release) report(w io.Writer) error {
	for _, key := range slices.Sorted(maps.Keys(r.ingredients)) {
		if in := r.ingredients[key]; in.class == undecided {
			fmt.Fprintf(w, "%s (%s) has no class yet\n", in.name, in.code)
		}
	}
	var d rxname.Drug
	missing := map[string]string{}
	for _, p := range r.products {
		if !d.Parse(p.name) {
			fmt.Fprintf(w, "%s cannot be read: %s\n", p.code, p.name)
		}
		for _, c := range d.Components {
			if _, ok := r.of(c.Name); !ok {
				missing[c.Name] = p.name
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(w, "%s is the substance of no ingredient: %s\n", name, missing[name])
	}
	_, err := fmt.Fprintf(w, "%d ingredients, %d substances, %d brands, %d products, %d package codes\n",
		len(r.ingredients), len(r.substances), len(r.brands), len(r.products), len(r.ndc))
	return err
}
