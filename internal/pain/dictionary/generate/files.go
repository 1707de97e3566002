package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readData reads the existing data files. If there are none, it returns an
// empty release.
func readData(dir string) (*release, error) {
	r := newRelease()
	for _, f := range []struct {
		name string
		row  func(columns []string)
	}{
		{"ingredients.tsv", func(c []string) { r.ingredients[strings.ToLower(c[1])] = &ingredient{c[0], c[1], c[2]} }},
		{"extra.tsv", func(c []string) { r.extra[strings.ToLower(c[1])] = &ingredient{c[0], c[1], c[2]} }},
		{"substances.tsv", func(c []string) { r.substances[strings.ToLower(c[0])] = c[1] }},
		{"brands.tsv", func(c []string) { r.addBrand(c[0], c[1], list(c[2])) }},
		{"products.tsv", func(c []string) { r.products[c[0]] = &product{c[0], c[1], c[2]} }},
		{"ndc.tsv", func(c []string) { r.ndc[c[0]] = c[1] }},
	} {
		err := eachRow(filepath.Join(dir, f.name), "\t", 2, f.row)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return r, nil
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "; ")
}

// eachRow calls row with the columns of each line that is not a comment.
func eachRow(path, separator string, least int, row func(columns []string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if line := lines.Text(); line != "" && line[0] != '#' {
			columns := strings.Split(line, separator)
			if len(columns) < least {
				return fmt.Errorf("%s, line %d: %d columns, want %d", path, n, len(columns), least)
			}
			row(columns)
		}
	}
	return lines.Err()
}

// write writes the data files in a stable order, so that releases are easy to
// compare.
func (r *release) write(dir string) error {
	var ingredients, substances, brands, products, codes []string
	for _, key := range slices.Sorted(maps.Keys(r.ingredients)) {
		in := r.ingredients[key]
		ingredients = append(ingredients, in.code+"\t"+in.name+"\t"+in.class)
	}
	for _, key := range slices.Sorted(maps.Keys(r.substances)) {
		substances = append(substances, key+"\t"+r.substances[key])
	}
	for _, key := range slices.Sorted(maps.Keys(r.brands)) {
		b := r.brands[key]
		brands = append(brands, b.code+"\t"+b.name+"\t"+strings.Join(b.ingredients, "; "))
	}
	for _, code := range slices.SortedFunc(maps.Keys(r.products), byNumber) {
		p := r.products[code]
		products = append(products, p.code+"\t"+p.kind+"\t"+p.name)
	}
	for _, ndc := range slices.Sorted(maps.Keys(r.ndc)) {
		codes = append(codes, ndc+"\t"+r.ndc[ndc])
	}
	for _, f := range []struct {
		name, about string
		lines       []string
	}{
		{"ingredients.tsv", "Ingredients. The class is written by hand and kept by the generator; ? is not decided yet.\n# rxcui\tname\tclass", ingredients},
		{"substances.tsv", "Salts and other forms, with the ingredient of each.\n# name\tingredient", substances},
		{"brands.tsv", "Brands. Only those without a product list their ingredients.\n# rxcui\tname\tingredients", brands},
		{"products.tsv", "Products: S generic, B branded, G generic pack, K branded pack; in lower case when not in this release.\n# rxcui\tkind\tname", products},
		{"ndc.tsv", "Package codes of opioids and benzodiazepines.\n# ndc11\trxcui", codes},
	} {
		text := fmt.Sprintf("# RxNorm %s, U.S. National Library of Medicine, which does not endorse this product. Made by go generate.\n# %s\n%s\n",
			r.date, f.about, strings.Join(f.lines, "\n"))
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func byNumber(a, b string) int {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
}
