package dictionary

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// byCode looks up the code of an ingredient, brand, product or pack.
func (b *book) byCode(code string) match {
	m := match{brand: -1, alias: -1}
	n, err := strconv.ParseUint(code, 10, 32)
	if err != nil {
		return m
	}
	if known, ok := b.codes[uint32(n)]; ok {
		if known.substance >= 0 {
			m.add(known.substance)
			return m
		}
		brand := &b.brands[known.brand]
		m.brand = known.brand
		for _, s := range brand.set {
			m.add(s)
		}
		m.products = brand.products
		return m
	}
	i, found := slices.BinarySearchFunc(b.products, uint32(n), func(p product, code uint32) int { return cmp.Compare(p.code, code) })
	if found {
		p := &b.products[i]
		for _, part := range b.parts[p.first:p.past] {
			m.add(part.substance)
		}
		m.brand = p.brand
		m.products, m.stated = []int32{int32(i)}, true
	}
	return m
}

// byNDC looks up a package code.
func (b *book) byNDC(ndc string) match {
	for _, code := range packageCodes(ndc) {
		if rxcui, ok := productOf(code); ok {
			return b.byCode(rxcui)
		}
	}
	return match{brand: -1, alias: -1}
}

// packageCodes returns the 11-digit codes that a package code may stand for.
// Ten digits without hyphens may be any of three; they are only accepted if
// exactly one of these is known.
func packageCodes(ndc string) []string {
	parts := strings.FieldsFunc(ndc, func(r rune) bool { return r == '-' || r == ' ' || r == '*' })
	for _, part := range parts {
		for _, r := range part {
			if !isDigit(r) {
				return nil
			}
		}
	}
	switch {
	case len(parts) == 1 && len(parts[0]) == 11:
		return parts
	case len(parts) == 1 && len(parts[0]) == 10:
		d := parts[0]
		var known []string
		for _, code := range []string{"0" + d, d[:5] + "0" + d[5:], d[:9] + "0" + d[9:]} {
			if _, ok := productOf(code); ok {
				known = append(known, code)
			}
		}
		if len(known) == 1 {
			return known
		}
	case len(parts) == 3:
		labeler, product, pack := parts[0], parts[1], parts[2]
		switch [3]int{len(labeler), len(product), len(pack)} {
		case [3]int{5, 4, 2}:
		case [3]int{4, 4, 2}:
			labeler = "0" + labeler
		case [3]int{5, 3, 2}:
			product = "0" + product
		case [3]int{5, 4, 1}:
			pack = "0" + pack
		default:
			return nil
		}
		return []string{labeler + product + pack}
	}
	return nil
}

// productOf searches the sorted data for an 11-digit code.
func productOf(ndc string) (rxcui string, ok bool) {
	low, high := 0, len(ndcData)
	for low < high {
		middle := low + (high-low)/2
		begin := strings.LastIndexByte(ndcData[:middle], '\n') + 1
		end := len(ndcData)
		if i := strings.IndexByte(ndcData[begin:], '\n'); i >= 0 {
			end = begin + i
		}
		line := ndcData[begin:end]
		code, rest, _ := strings.Cut(line, "\t")
		switch {
		case line != "" && line[0] == '#' || code < ndc && line != "":
			low = end + 1
		case code == ndc:
			return rest, true
		default:
			high = begin
		}
	}
	return "", false
}
