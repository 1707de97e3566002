package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/licenses"
)

// The checked-in text has exactly the modules that are linked, at the versions
// of go.mod. Gathering fails for a module without a licence, or with one that is
// not known to be permissive.
func TestLicensesAreUpToDate(t *testing.T) {
	t.Parallel()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	want, err := gather(root)
	if err != nil {
		t.Fatal(err)
	}
	if want == licenses.Text() {
		return
	}
	had, have := headings(licenses.Text()), headings(want)
	for _, h := range had {
		if !slices.Contains(have, h) {
			t.Errorf("no longer linked: %s", h)
		}
	}
	for _, h := range have {
		if !slices.Contains(had, h) {
			t.Errorf("missing: %s", h)
		}
	}
	t.Error("licenses.txt is out of date; run: go generate ./internal/licenses")
}

func headings(text string) (list []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, licenses.Heading) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

func TestEveryModuleHasALicense(t *testing.T) {
	t.Parallel()
	modules := licenses.Modules()
	if len(modules) < 10 {
		t.Errorf("%d modules", len(modules))
	}
	for _, m := range modules {
		if m.Path == "" || !strings.HasPrefix(m.Version, "v") || strings.Contains(m.Version, " ") || len(m.Licenses) == 0 || slices.Contains(m.Licenses, "") {
			t.Errorf("%+v", m)
		}
	}
	if text := licenses.Text(); !strings.HasPrefix(text, licenses.Heading+"Anodyne [Apache-2.0]\n") || !strings.Contains(text, "\n"+licenses.Heading+"Go standard library and runtime [BSD-3-Clause]\n") {
		t.Error("the licence of Anodyne or of the standard library is missing")
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	const mit = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software and associated documentation files (the \"Software\")."
	const notice = "\nThe above copyright notice and this permission notice shall be included in all\n  copies or substantial portions of the Software."
	const bsd = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted provided that the following conditions are\nmet:"
	const third = "Neither the name of X nor the names of its contributors may be used without specific prior written permission."
	for _, test := range []struct {
		text string
		want []string
		fail bool
	}{
		{mit + notice, []string{"MIT"}, false},
		{mit, []string{"MIT-0"}, false},
		{bsd, []string{"BSD-2-Clause"}, false},
		{bsd + third, []string{"BSD-3-Clause"}, false},
		{mit + notice + bsd + third, []string{"MIT", "BSD-3-Clause"}, false},
		{bsd + " All advertising materials must display an acknowledgement.", nil, false},
		{"All rights reserved.", nil, false},
		{"GNU GENERAL PUBLIC LICENSE Version 3", nil, true},
		{"GNU LESSER GENERAL\nPUBLIC LICENSE", nil, true},
		{"Mozilla Public License Version 2.0", nil, true},
		{mit + notice + " \"Commons Clause\" License Condition v1.0", nil, true},
	} {
		got, err := identify(test.text)
		if !slices.Equal(got, test.want) || (err != nil) != test.fail {
			t.Errorf("%.80q: %v, %v; want %v", test.text, got, err, test.want)
		}
		_, err = identifyAll([]document{{"LICENSE", test.text}})
		if (err != nil) != (len(test.want) == 0) {
			t.Errorf("%.80q as a licence: %v", test.text, err)
		}
	}
	if _, err := identifyAll([]document{{"NOTICE.txt", "Made by us."}}); err != nil {
		t.Error(fmt.Errorf("a notice: %w", err))
	}
}
