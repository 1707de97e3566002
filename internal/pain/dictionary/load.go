package dictionary

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/pain/dictionary/rxname"
	"anodyne.example/anodyne/internal/pain/drug"
)

var (
	//go:embed data/ingredients.tsv
	ingredientData string
	//go:embed data/extra.tsv
	extraData string
	//go:embed data/substances.tsv
	substanceData string
	//go:embed data/brands.tsv
	brandData string
	//go:embed data/products.tsv
	productData string
	//go:embed data/ndc.tsv
	ndcData string
	//go:embed data/names.tsv
	nameData string
)

// undecided is the class of an ingredient of a new release that has not been
// reviewed. It is treated as not understood.
const undecided = drug.Class("?")

// substance is an ingredient.
type substance struct {
	name, code string
	class      drug.Class
	rank       int              // of its class, most important first
	drug       *drug.Ingredient // entry in package drug; nil if it has no class there
}

// part is one component of a product.
type part struct {
	substance int32
	item      int16
	amount    amount
}

// product is a product with an RxNorm code. Its kind and name are in the data.
type product struct {
	code        uint32
	brand       int32 // or -1
	name        string
	kind        byte
	form        uint8 // index of forms
	first, past int32 // range of its parts
}

// brandEntry is a brand name.
type brandEntry struct {
	name, code string
	products   []int32
	set        []int32 // substances of its products, sorted
	common     bool    // also a word of plain English
}

// alias is a name maintained by hand.
type alias struct {
	name     string
	brand    bool
	parts    []part
	form     string
	readings []string // of an ambiguous name
}

// meaning is what a name stands for. Exactly one of the three is set; the
// others are -1.
type meaning struct{ substance, brand, alias int32 }

// book is the dictionary in memory. It is immutable once loaded.
type book struct {
	substances []substance
	brands     []brandEntry
	aliases    []alias
	products   []product // in the order of their codes
	parts      []part
	forms      []form
	formNames  []string
	byName     map[string]meaning
	longest    map[string]int8    // number of words in the longest name that begins with this word, if more than one
	codes      map[uint32]meaning // of ingredients and brands
	withIn     [][]int32          // generic products by substance
	spelling   spellings          // names to suggest
	shadowed   []string           // names maintained by hand that RxNorm also has
}

// loaded returns the dictionary, loaded on first use.
var loaded = sync.OnceValue(func() *book {
	b, err := load()
	if err != nil {
		panic("dictionary: " + err.Error()) // the data is part of the program, and tested
	}
	return b
})

func load() (*book, error) {
	b := &book{byName: make(map[string]meaning, 13000), longest: make(map[string]int8, 2500), codes: make(map[uint32]meaning, 7000)}
	b.substances = make([]substance, 0, 3000)
	b.brands = make([]brandEntry, 0, 4500)
	ids := make(map[string]int32, 4000)
	own := map[string]*drug.Ingredient{}
	for _, in := range drug.Medications() {
		own[in.Name] = &in
	}
	add := func(code, name, class string) {
		if _, ok := ids[strings.ToLower(name)]; ok {
			return
		}
		s := substance{name: name, code: code, class: drug.Class(class)}
		s.rank = slices.Index(classes, s.class)
		if s.drug = own[name]; s.drug == nil && s.class != drug.Other {
			s.drug = &drug.Ingredient{Name: name, RxNorm: code, Class: s.class, Source: "RxNorm " + Release}
		}
		id := int32(len(b.substances))
		ids[strings.ToLower(name)] = id
		b.substances = append(b.substances, s)
		b.name(name, meaning{id, -1, -1})
		if n, err := strconv.ParseUint(code, 10, 32); err == nil {
			b.codes[uint32(n)] = meaning{id, -1, -1}
		}
	}
	for c := range rows(ingredientData) {
		add(c[0], c[1], c[2])
	}
	for c := range rows(extraData) {
		add(c[0], c[1], c[2])
	}
	for c := range rows(substanceData) {
		id, ok := ids[strings.ToLower(c[1])]
		if !ok {
			return nil, fmt.Errorf("substance %s is of the unknown ingredient %s", c[0], c[1])
		}
		ids[c[0]] = id
		b.name(c[0], meaning{id, -1, -1})
	}
	brands := make(map[string]int32, 9000)
	for c := range rows(brandData) {
		id := int32(len(b.brands))
		b.brands = append(b.brands, brandEntry{name: c[1], code: c[0]})
		brands[c[1]] = id
		brands[strings.ToLower(c[1])] = id
		if n, err := strconv.ParseUint(c[0], 10, 32); err == nil {
			b.codes[uint32(n)] = meaning{-1, id, -1}
		}
	}
	if err := b.readProducts(ids, brands); err != nil {
		return nil, err
	}
	for i := range b.brands {
		brand := &b.brands[i]
		brand.common = commonBrands[fold(brand.name)]
		b.name(brand.name, meaning{-1, int32(i), -1})
	}
	if err := b.readNames(ids); err != nil {
		return nil, err
	}
	b.collectSpellings()
	return b, nil
}

var classes = drug.Classes()

// rows iterates over the first three columns of each line. It splits lines by
// hand, because reading the products takes most of the loading time.
func rows(data string) func(yield func([3]string) bool) {
	return func(yield func([3]string) bool) {
		for data := data; data != ""; {
			line := data
			if i := strings.IndexByte(data, '\n'); i >= 0 {
				line, data = data[:i], data[i+1:]
			} else {
				data = ""
			}
			if line == "" || line[0] == '#' {
				continue
			}
			var c [3]string
			for i := range c {
				tab := strings.IndexByte(line, '\t')
				if tab < 0 {
					c[i] = line
					break
				}
				c[i], line = line[:tab], line[tab+1:]
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (b *book) readProducts(ids, brands map[string]int32) error {
	var d rxname.Drug
	forms := map[string]uint8{}
	b.products = make([]product, 0, 21000)
	b.parts = make([]part, 0, 36000)
	for c := range rows(productData) {
		code, err := strconv.ParseUint(c[0], 10, 32)
		if err != nil || !d.Parse(c[2]) {
			return fmt.Errorf("product %s cannot be read: %s", c[0], c[2])
		}
		p := product{code: uint32(code), brand: -1, name: c[2], kind: c[1][0], first: int32(len(b.parts))}
		if d.Brand != "" {
			id, ok := brands[d.Brand]
			if !ok {
				if id, ok = brands[strings.ToLower(d.Brand)]; !ok {
					return fmt.Errorf("product %s is of the unknown brand %s", c[0], d.Brand)
				}
			}
			p.brand = id
		}
		for _, component := range d.Components {
			id, ok := ids[component.Name]
			if !ok {
				if id, ok = ids[strings.ToLower(component.Name)]; !ok {
					return fmt.Errorf("product %s has the unknown substance %s", c[0], component.Name)
				}
			}
			b.parts = append(b.parts, part{id, int16(component.Item), rxAmount(component.Value, component.Unit)})
		}
		p.past = int32(len(b.parts))
		f, ok := forms[d.Form]
		if !ok {
			f = uint8(len(b.forms))
			forms[d.Form] = f
			b.formNames = append(b.formNames, d.Form)
			b.forms = append(b.forms, formOf(d.Form))
		}
		p.form = f
		b.products = append(b.products, p)
	}
	if len(forms) > 255 {
		return fmt.Errorf("%d dose forms", len(forms))
	}
	if !slices.IsSortedFunc(b.products, func(x, y product) int { return cmp.Compare(x.code, y.code) }) {
		return fmt.Errorf("products are not in the order of their codes")
	}
	b.indexProducts()
	return nil
}

// indexProducts lists the products of each brand and the generic products of
// each substance. It counts first, so that all lists share one allocation.
func (b *book) indexProducts() {
	ofBrand, ofSubstance := make([]int32, len(b.brands)), make([]int32, len(b.substances))
	var set []int32
	total := 0
	for i := range b.products {
		p := &b.products[i]
		if p.brand >= 0 {
			ofBrand[p.brand]++
			total++
			continue
		}
		set = b.setOf(p, set[:0])
		for _, s := range set {
			ofSubstance[s]++
			total++
		}
	}
	room := make([]int32, total)
	take := func(n int32) []int32 {
		list := room[:0:n]
		room = room[n:]
		return list
	}
	for i, n := range ofBrand {
		b.brands[i].products = take(n)
	}
	b.withIn = make([][]int32, len(b.substances))
	for i, n := range ofSubstance {
		b.withIn[i] = take(n)
	}
	for i := range b.products {
		p := &b.products[i]
		if p.brand >= 0 {
			brand := &b.brands[p.brand]
			brand.products = append(brand.products, int32(i))
			brand.set = b.setOf(p, brand.set) // union over its products
			continue
		}
		set = b.setOf(p, set[:0])
		for _, s := range set {
			b.withIn[s] = append(b.withIn[s], int32(i))
		}
	}
}

// setOf returns the substances of a product, sorted and distinct.
func (b *book) setOf(p *product, set []int32) []int32 {
	for _, part := range b.parts[p.first:p.past] {
		if i, found := slices.BinarySearch(set, part.substance); !found {
			set = slices.Insert(set, i, part.substance)
		}
	}
	return set
}

// name registers a name for a meaning. The first registration wins.
func (b *book) name(name string, m meaning) {
	key := fold(name)
	if len(key) < 2 || !strings.ContainsAny(key, "abcdefghijklmnopqrstuvwxyz") {
		return
	}
	if _, ok := b.byName[key]; !ok {
		b.byName[key] = m
	}
	if first, _, more := strings.Cut(key, " "); more {
		n := int8(min(strings.Count(key, " ")+1, 100))
		b.longest[first] = max(b.longest[first], n)
		if squeezed := strings.ReplaceAll(key, " ", ""); len(squeezed) >= 6 {
			if _, ok := b.byName[squeezed]; !ok {
				b.byName[squeezed] = m
			}
		}
	}
}

// readNames reads the names maintained by hand.
func (b *book) readNames(ids map[string]int32) error {
	for c := range rows(nameData) {
		a := alias{name: c[0], brand: c[1] == "brand"}
		if c[1] == "ambiguous" {
			a.readings = strings.Split(c[2], " | ")
		} else {
			meaning, form, _ := strings.Cut(c[2], " @ ")
			a.form = form
			for text := range strings.SplitSeq(meaning, " + ") {
				var d rxname.Drug
				d.Parse(text)
				id, ok := ids[strings.ToLower(d.Components[0].Name)]
				if !ok {
					return fmt.Errorf("%s means the unknown ingredient %s", c[0], text)
				}
				a.parts = append(a.parts, part{substance: id, amount: rxAmount(d.Components[0].Value, d.Components[0].Unit)})
			}
		}
		id := int32(len(b.aliases))
		b.aliases = append(b.aliases, a)
		key := fold(c[0])
		if _, ok := b.byName[key]; ok && a.readings == nil {
			b.shadowed = append(b.shadowed, c[0]) // RxNorm has it by now
		}
		if a.readings != nil {
			delete(b.byName, key)
		}
		b.name(c[0], meaning{-1, -1, id})
	}
	return nil
}
