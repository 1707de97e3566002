package pain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

func parsed(t *testing.T, body string) *strictjson.Object {
	t.Helper()
	o, err := strictjson.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// faultText formats a fault with its details.
func faultText(err error) string {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return fmt.Sprint(err)
	}
	return fmt.Sprint(e.Message, e.Details)
}

// house has what a clinic calls oxycodone 5 mg tablets, and lorazepam.
func house() *Aliases {
	return NewAliases(3, map[string]string{"oxyir house stock": "1049621", "calm mix": "6470", "ibuprofen": "1049621"})
}

// How a record is understood with aliases, whoever writes it: 90 tablets of 5
// mg in 30 days are 15 mg per day, times 1.5 for oxycodone 22.5 MME.
func TestAliasesOnWrite(t *testing.T) {
	t.Parallel()
	const supply = `,"quantity":90,"days_supply":30`
	for value, want := range map[string]string{
		`{"name":"OxyIR (house-stock)"` + supply + `}`: `"drug_class":"opioid","basis":"alias","alias_code":"1049621","ingredients":["oxycodone"],"opioid":true,"strength":5,"strength_unit":"mg","route":"oral","mme_per_day":22.5,"mme_rule":"supply","mme_factor":1.5,`,
		`{"name":"calm mix"}`:                          `"drug_class":"benzodiazepine","basis":"alias","alias_code":"6470","ingredients":["lorazepam"],"opioid":false}`,
		`{"name":"calm mix","drug_class":"nsaid"}`:     `"drug_class":"benzodiazepine","basis":"alias"`,
		`{"name":"calm mix","rxnorm_code":"99999999"}`: `"drug_class":"benzodiazepine","basis":"alias"`,
		// Code and name come first; what no alias has stays unknown.
		`{"name":"calm mix","rxnorm_code":"6470"}`:   `"drug_class":"benzodiazepine","basis":"rxnorm","alias_code":"6470"`,
		`{"name":"ibuprofen"}`:                       `"drug_class":"nsaid","basis":"name","ingredients":["ibuprofen"],"opioid":false}`,
		`{"name":"calm mix 2"}`:                      `"drug_class":"unclassified","basis":"none"`,
		`{"name":"calm mix 2","drug_class":"nsaid"}`: `"drug_class":"nsaid","basis":"stated"`,
	} {
		in := testIntake
		in.Now, in.Aliases = time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC), house()
		records, _, err := NewRecords(parsed(t, `{"data_type":"medications","value":`+value+`}`), in)
		if err != nil || !strings.Contains(records[0].Value.JSON(), want) {
			t.Errorf("%s gives %+v, %v", value, records, err)
			continue
		}
		written := records[0].Value
		if again, differs, err := Rederived(written, DateOf(in.Now), in.Aliases); err != nil || differs {
			t.Errorf("%s is derived again as %s, %v", value, again.JSON(), err)
		}
		// A correction is read in the same way.
		old := Record{Status: Final, Type: TypeMedications, RecordedAt: in.Now}
		if c, err := NewCorrection(old, parsed(t, `{"value":`+value+`}`), in); err != nil || c.New.Value != written {
			t.Errorf("%s is corrected to %s, %v", value, c.New.Value.JSON(), err)
		}
	}
	for value, field := range map[string]string{
		`{"name":"oxyIR house stock","drug_class":"nsaid"}`:                "records[0].value.drug_class",
		`{"name":"oxycodone and lorazepam","drug_class":"benzodiazepine"}`: "records[0].value.drug_class",
		`{"name":"oxyIR house stock","prn":true}`:                          "records[0].value.max_doses_per_day",
		`{"name":"oxyIR house stock","rxnorm_code":"161"}`:                 "records[0].value.rxnorm_code",
		`{"name":"calm mix","rxnorm_code":"7804","prn":false}`:             "records[0].value.rxnorm_code",
	} {
		in := testIntake
		in.Aliases = house()
		_, _, err := NewRecords(parsed(t, `{"records":[{"data_type":"medications","value":`+value+`}]}`), in)
		if err == nil || !strings.Contains(faultText(err), field) {
			t.Errorf("%s: %v", value, faultText(err))
		}
	}
}

// Without the alias, the derived value reverts; a medicine identified by an
// alias keeps its code for later derivations.
func TestRederivedWithAliases(t *testing.T) {
	t.Parallel()
	on := Date{Year: 2024, Month: time.May, Day: 1}
	const stated = `{"name":"calm mix","days_supply":30,`
	const covered = `,"covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`
	unknown := stated + `"derived":{"drug_class":"unclassified","basis":"none","mme_per_day":null,"mme_excluded_reason":"unclassified_medicine"` + covered
	known := stated + `"derived":{"drug_class":"benzodiazepine","basis":"alias","alias_code":"6470","ingredients":["lorazepam"],"opioid":false` + covered
	for _, c := range []struct {
		from, to string
		aliases  *Aliases
	}{{unknown, known, house()}, {known, unknown, nil}, {known, unknown, NewAliases(4, nil)}} {
		if got, differs, err := Rederived(StoredValue(c.from), on, c.aliases); err != nil || !differs || got.JSON() != c.to {
			t.Errorf("%s\ngives %s, %v, %v", c.from, got.JSON(), differs, err)
		}
	}
}

func TestNewAlias(t *testing.T) {
	t.Parallel()
	a, err := NewAlias(parsed(t, `{"name":"OxyIR House-Stock","rxnorm_code":"1049621"}`))
	if err != nil || a != (Alias{"OxyIR House-Stock", "1049621"}) || a.Folded() != "oxyir house stock" || a.Medicine().Product.RxNorm != "1049621" {
		t.Fatalf("%+v, %v", a, err)
	}
	for body, says := range map[string]string{
		`{}`:                                             "name is required.",
		`{"name":"x","rxnorm_code":null}`:                "rxnorm_code is required.",
		`{"name":"blue pills"}`:                          "rxnorm_code is required.",
		`{"name":5,"rxnorm_code":"7804"}`:                "name must be a string.",
		`{"name":"blue pills","rxnorm_code":"oxy"}`:      "rxnorm_code must be a code such as 7804.",
		`{"name":"blue pills","rxnorm_code":"99999999"}`: "rxnorm_code is not in the dictionary",
		`{"name":"ibuprofen","rxnorm_code":"7804"}`:      "name is already recognised as ibuprofen",
		`{"name":"` + strings.Repeat("a", 201) + `","rxnorm_code":"7804"}`: "name must",
		`{"name":"blue pills","rxnorm_code":"7804","id":"als_1"}`:          "id is read-only",
		`{"name":"blue pills","rxnorm_code":"7804","code":"1"}`:            "code",
		`{"name":"-","rxnorm_code":"7804"}`:                                "name must have a letter or a digit.",
	} {
		if _, err := NewAlias(parsed(t, body)); !fault.Is(err, fault.InvalidParameter) || !strings.Contains(faultText(err), says) {
			t.Errorf("%s: %s", body, faultText(err))
		}
	}
	for body, want := range map[string]Alias{
		`{}`: a, `{"rxnorm_code":"7804"}`: {a.Name, "7804"}, `{"name":"blue pills"}`: {"blue pills", "1049621"},
	} {
		if got, err := a.Patch(parsed(t, body)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	for _, body := range []string{`{"name":null}`, `{"name":""}`, `{"name":"ibuprofen"}`, `{"rxnorm_code":"5640"}`, `{"created_at":"x"}`} {
		if got, err := a.Patch(parsed(t, body)); !fault.Is(err, fault.InvalidParameter) || got != a {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}
