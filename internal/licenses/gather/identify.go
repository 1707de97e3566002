package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// known are the accepted licences, all of which are permissive. A text is
// recognised if it has all sentences of one and none of the others.
var known = []struct {
	id           string
	has, without []string
}{
	{id: "Apache-2.0", has: []string{
		"apache license version 2.0, january 2004",
		"subject to the terms and conditions of this license, each contributor hereby grants to you a perpetual, worldwide, non-exclusive, no-charge, royalty-free, irrevocable copyright license",
	}},
	{id: "Apache-2.0", has: []string{ // by reference
		`licensed under the apache license, version 2.0 (the "license")`,
		"http://www.apache.org/licenses/license-2.0",
	}},
	{id: "MIT", has: []string{
		"permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files",
		"the above copyright notice and this permission notice shall be included in all copies or substantial portions of the software",
	}},
	{id: "MIT-0", has: []string{
		"permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files",
	}, without: []string{"permission notice shall be included"}},
	{id: "BSD-3-Clause", has: []string{redistribution, "neither the name of", "specific prior written permission"}},
	{id: "BSD-2-Clause", has: []string{redistribution}, without: []string{"neither the name of", "specific prior written permission", "advertising materials"}},
	{id: "ISC", has: []string{"distribute this software for any purpose with or without fee is hereby granted"}},
	{id: "CC0-1.0", has: []string{"creative commons legal code", "cc0 1.0 universal"}},
	{id: "Unlicense", has: []string{"this is free and unencumbered software released into the public domain"}},
	{id: "SunPro", has: []string{"permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is preserved"}},
	{id: "BSL-1.0", has: []string{"boost software license - version 1.0"}},
}

const redistribution = "redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met"

// only names the directory to which a document applies, if it is not its own:
// it is ignored if no package there is linked.
var only = map[string]string{
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Bogaert-LICENSE":       "integrate/quad",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Fike-LICENSE":          "num",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/MT19937-LICENSE":       "mathext/prng",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/MT19937-64-LICENSE":    "mathext/prng",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Oxford-LICENSE":        "integrate/quad",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/W3C-BSD-LICENSE":       "graph/formats/rdf",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/W3C-TestSuite-LICENSE": "graph/formats/rdf",
}

// restrictive are phrases of licences that require more than a notice. A text
// with one of them is rejected.
var restrictive = []string{
	"general public license", "mozilla public license", "eclipse public license", "common development and distribution license", "server side public license",
	"business source license", "elastic license", "commons clause", "creative commons attribution-sharealike", "creative commons attribution-noncommercial",
	"non-commercial", "noncommercial",
}

// identifyAll returns the licences of a module. Every document except for
// notices and patent grants must be a known licence.
func identifyAll(documents []document) (ids []string, err error) {
	for _, d := range documents {
		found, err := identify(d.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if base := strings.ToLower(path.Base(d.name)); len(found) == 0 && !strings.HasPrefix(base, "notice") && !strings.HasPrefix(base, "patents") {
			return nil, fmt.Errorf("%s is no known permissive licence; read it, and list it in identify.go if it is permissive", d.name)
		}
		for _, id := range found {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// identify returns the known licences in a text.
func identify(text string) (ids []string, err error) {
	plain := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, word := range restrictive {
		if strings.Contains(plain, word) {
			return nil, fmt.Errorf("it mentions %q", word)
		}
	}
	contains := func(sentence string) bool { return strings.Contains(plain, sentence) }
	for _, k := range known {
		if !slices.Contains(ids, k.id) && !slices.ContainsFunc(k.without, contains) && !slices.ContainsFunc(k.has, func(s string) bool { return !contains(s) }) {
			ids = append(ids, k.id)
		}
	}
	return ids, nil
}
