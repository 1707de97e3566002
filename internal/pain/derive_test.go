package pain

import (
	"testing"
	"time"
)

func TestRederived(t *testing.T) {
	t.Parallel()
	on := Date{Year: 2024, Month: time.May, Day: 1}
	for stored, want := range map[string]string{
		// A guess of an earlier version.
		`{"name":"Ploxaquil","days_supply":30,"derived":{"drug_class":"other","opioid":false,"covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`: `{"name":"Ploxaquil","days_supply":30,` +
			`"derived":{"drug_class":"unclassified","basis":"none","mme_per_day":null,"mme_excluded_reason":"unclassified_medicine","covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`,
		// What somebody stated stays.
		`{"name":"Ploxaquil","drug_class":"other","derived":{"drug_class":"other","opioid":false}}`: `{"name":"Ploxaquil","drug_class":"other","derived":{"drug_class":"other","basis":"stated","opioid":false}}`,
		// What is known today is not left as it was.
		`{"name":"MS Contin 15 mg","quantity":60,"days_supply":30,"derived":{"drug_class":"other","opioid":false}}`: `{"name":"MS Contin 15 mg","quantity":60,"days_supply":30,"derived":{"drug_class":"opioid","basis":"brand","ingredients":["morphine"],"opioid":true,` +
			`"strength":15,"strength_unit":"mg","route":"oral","mme_per_day":30,"mme_rule":"supply","mme_factor":1,"mme_table":"CDC 2022","covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`,
		// What was understood says by what.
		`{"name":"ibuprofen","derived":{"drug_class":"nsaid","ingredients":["ibuprofen"],"opioid":false}}`: `{"name":"ibuprofen","derived":{"drug_class":"nsaid","basis":"name","ingredients":["ibuprofen"],"opioid":false}}`,
	} {
		got, differs, err := Rederived(StoredValue(stored), on, nil)
		if err != nil || !differs || got.JSON() != want {
			t.Errorf("%s\ngives %s, %v, %v\nwant  %s", stored, got.JSON(), differs, err, want)
		}
		if again, differs, err := Rederived(got, on, nil); err != nil || differs || again != got {
			t.Errorf("%s is derived again as %s, %v", got.JSON(), again.JSON(), err)
		}
	}
	if _, _, err := Rederived(StoredValue("{"), on, nil); err == nil {
		t.Error("no error of what cannot be read")
	}
}

// A class that an earlier version guessed is read as none.
func TestGuessesAreReadAsUnclassified(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		`{"name":"Restoril","derived":{"drug_class":"other","opioid":false}}`:                                               "unclassified",
		`{"name":"Sumatriptan","drug_class":"other","derived":{"drug_class":"other","opioid":false}}`:                       "other",
		`{"name":"Zinc","derived":{"drug_class":"other","basis":"name","opioid":false}}`:                                    "other",
		`{"name":"ibuprofen","derived":{"drug_class":"nsaid","ingredients":["ibuprofen"],"opioid":false}}`:                  "nsaid",
		`{"name":"x","derived":{"drug_class":"unclassified","basis":"none","mme_excluded_reason":"unclassified_medicine"}}`: "unclassified",
	} {
		m, err := ReadMedication(StoredValue(stored))
		if err != nil || m.Derived.DrugClass != want {
			t.Errorf("%s is read as %s, %v", stored, m.Derived.DrugClass, err)
		}
		if unclassified := want == "unclassified"; unclassified != (m.Derived.MMEExcludedReason == "unclassified_medicine") {
			t.Errorf("%s has the reason %q", stored, m.Derived.MMEExcludedReason)
		}
	}
}
