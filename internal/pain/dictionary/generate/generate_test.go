package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// earlier are data files as they stood before the release of the fixture.
var earlier = map[string]string{
	"ingredients.tsv": "# old\n7804\toxycodone\topioid\n161\tacetaminophen\tother_analgesic\n3322\tdiazepam\tbenzodiazepine\n1\tgone\tother\n",
	"extra.tsv":       "5640\tibuprofen\tnsaid\twritten by hand\n",
	"products.tsv":    "77\tS\tgone 5 MG Oral Tablet\n104699\tS\tdiazepam 2 MG Oral Tablet\n78\tb\toxycodone 3 MG Oral Tablet [Oldie]\n",
	"brands.tsv":      "\tOldie\t\n",
	"ndc.tsv":         "11111111111\t78\n",
}

// want are the files after it.
var want = map[string]string{
	"ingredients.tsv": "161\tacetaminophen\tother_analgesic\n3322\tdiazepam\tbenzodiazepine\n1\tgone\tother\n5640\tibuprofen\tnsaid\n9999001\tnewopioidol\t?\n7804\toxycodone\topioid\n",
	"substances.tsv":  "newopioidol citrate\tnewopioidol\noxycodone hydrochloride\toxycodone\n",
	"brands.tsv":      "9999002\tLonely\tibuprofen\n\tOldie\t\n42844\tPercocet\t\n",
	"products.tsv": "77\ts\tgone 5 MG Oral Tablet\n78\tb\toxycodone 3 MG Oral Tablet [Oldie]\n104699\tS\tdiazepam 2 MG Oral Tablet\n310964\tS\tibuprofen 200 MG Oral Tablet\n" +
		"1049221\tS\tacetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet\n" +
		"1049640\tB\tacetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]\n" +
		"9999004\tS\tnewopioidol citrate 2 MG Oral Tablet\n9999005\tG\t{2 (diazepam 2 MG Oral Tablet) } Pack\n",
	"ndc.tsv": "00140000401\t104699\n11111111111\t78\n63481062370\t1049640\n99999000101\t9999004\n",
}

func TestRelease(t *testing.T) {
	dir := t.TempDir()
	for name, text := range earlier {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time changes nothing
		if err := run([]string{"-rrf", "testdata/rrf", "-release", "2025-11-03", "-data", dir}); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			head, rest, _ := strings.Cut(string(got), "\n")
			for strings.HasPrefix(rest, "#") {
				_, rest, _ = strings.Cut(rest, "\n")
			}
			if !strings.HasPrefix(head, "# RxNorm 2025-11-03, U.S. National Library of Medicine") || rest != text {
				t.Errorf("%s: %s\n%s\nwant\n%s", name, head, rest, text)
			}
		}
	}
	r, err := readData(dir)
	if err != nil {
		t.Fatal(err)
	}
	var report bytes.Buffer
	if err := r.report(&report); err != nil || !strings.Contains(report.String(), "newopioidol (9999001) has no class yet\n") || strings.Contains(report.String(), "substance of no") {
		t.Errorf("%s, %v", report.String(), err)
	}
}

func TestFaults(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{}, {"-rrf", "a", "-tables", "b"}, {"-rrf", "testdata/rrf"}, {"-rrf", "testdata/rrf", "-release", "today"}, {"-nonsense"},
		{"-rrf", dir, "-release", "2025-11-03", "-data", dir}, {"-tables", dir, "-release", "2025-11-03", "-data", dir},
	} {
		if err := run(args); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "products.tsv"), []byte("broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-rrf", "testdata/rrf", "-release", "2025-11-03", "-data", dir}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken data file: %v", err)
	}
}

// TestTables reads tables of the first release, in which ingredients that
// begin with A are missing.
func TestTables(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"rxnorm-prescribable.tsv": "rxcui\ttty\tname\tingredients\tbrand\n7804\tIN\toxycodone\toxycodone\t\n3322\tIN\tdiazepam\tdiazepam\t\n42844\tBN\tPercocet\toxycodone\tPercocet\n" +
			"1049640\tSBD\tacetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]\toxycodone\tPercocet\n",
		"rxnorm-opioid-drugs.tsv":         "rxcui\tname\tdose_form\tingredient_rxcui\tingredient\tstrength_value\tstrength_unit\tbrand\n9\topium tincture 100 MG/ML Oral Solution\tOral Solution\t7676\topium\t100\tMG/ML\t\n",
		"rxnorm-other-drugs.tsv":          "class\trxcui\tname\tbrand\nbenzodiazepine\t8\t{2 (diazepam 2 MG Oral Tablet) } Pack [Duo]\tDuo\n",
		"ndc-opioids-benzodiazepines.tsv": "ndc11\trxcui\n63481062370\t1049640\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "extra.tsv"), []byte("161\tacetaminophen\tother_analgesic\t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-tables", dir, "-release", "2025-10-06", "-data", data}); err != nil {
		t.Fatal(err)
	}
	r, err := readData(data)
	if err != nil {
		t.Fatal(err)
	}
	for substance, ingredient := range map[string]string{"oxycodone hydrochloride": "oxycodone", "opium tincture": "opium", "acetaminophen": "acetaminophen"} {
		if got, _ := r.of(substance); got != ingredient {
			t.Errorf("%s is of %q", substance, got)
		}
	}
	if r.products["9"].kind != "s" || r.products["8"].kind != "k" || r.ndc["63481062370"] != "1049640" || r.ingredients["acetaminophen"] != nil {
		t.Errorf("%+v", r.products)
	}
}
