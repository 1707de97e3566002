package pain

import (
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

const plainOxycodone = `,"derived":{"drug_class":"opioid","basis":"name","ingredients":["oxycodone"],"opioid":true`

func noMME(reason string) string {
	return `,"mme_per_day":null,"mme_excluded_reason":"` + reason + `"}}`
}

func mme(perDay, rule, factor string) string {
	return `,"mme_per_day":` + perDay + `,"mme_rule":"` + rule + `","mme_factor":` + factor + `,"mme_table":"CDC 2022"`
}

var medicationCases = []valueCase{
	{`{"name":"Sumatriptan"}`, `{"name":"Sumatriptan","derived":{"drug_class":"other","basis":"name","ingredients":["sumatriptan"],"opioid":false}}`, false},
	{`{"name":" Ibuprofen "}`, `{"name":"Ibuprofen","derived":{"drug_class":"nsaid","basis":"name","ingredients":["ibuprofen"],"opioid":false}}`, false},
	{`{"name":"Sumatriptan","drug_class":"other_analgesic"}`, `{"name":"Sumatriptan","drug_class":"other_analgesic","derived":{"drug_class":"other_analgesic","basis":"stated","ingredients":["sumatriptan"],"opioid":false}}`, false},
	{`{"name":"Sumatriptan","drug_class":"other"}`, `{"name":"Sumatriptan","drug_class":"other","derived":{"drug_class":"other","basis":"name","ingredients":["sumatriptan"],"opioid":false}}`, false},
	{`{"name":"Ploxaquil","strength":100,"strength_unit":"mg","quantity":90,"days_supply":30}`, `{"name":"Ploxaquil","strength":100,"strength_unit":"mg","quantity":90,"days_supply":30,"derived":{"drug_class":"unclassified","basis":"none"` +
		`,"mme_per_day":null,"mme_excluded_reason":"unclassified_medicine","covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`, false},
	{`{"name":"Ploxaquil","drug_class":"opioid"}`, `{"name":"Ploxaquil","drug_class":"opioid","derived":{"drug_class":"opioid","basis":"stated","opioid":true` + noMME("unknown_opioid"), false},
	{`{"name":"Ploxaquil"}`, `{"name":"Ploxaquil","derived":{"drug_class":"unclassified","basis":"none","mme_per_day":null,"mme_excluded_reason":"unclassified_medicine"}}`, false},
	{`{"name":"oxycodone and lorazepam"}`, `{"name":"oxycodone and lorazepam","derived":{"drug_class":"unclassified","basis":"none","suggestions":["oxycodone","lorazepam"],"mme_per_day":null,"mme_excluded_reason":"unclassified_medicine"}}`, false},
	{`{"name":"oxycodne"}`, `{"name":"oxycodne","derived":{"drug_class":"unclassified","basis":"none","suggestions":["oxycodone","oxycodon"],"mme_per_day":null,"mme_excluded_reason":"unclassified_medicine"}}`, false},
	{`{"name":"MS Contin 100 mg","quantity":90,"days_supply":30}`, `{"name":"MS Contin 100 mg","quantity":90,"days_supply":30,"derived":{"drug_class":"opioid","basis":"brand","ingredients":["morphine"],"opioid":true,"strength":100,"strength_unit":"mg","route":"oral"` +
		mme("300", "supply", "1") + `,"covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`, false},
	{`{"name":"Restoril"}`, `{"name":"Restoril","derived":{"drug_class":"benzodiazepine","basis":"brand","ingredients":["temazepam"],"opioid":false,"route":"oral"}}`, false},
	{`{"name":"oxycodone","rxnorm_code":"1049621","dose":1,"dose_unit":"tablet","frequency":"TID"}`, `{"name":"oxycodone","rxnorm_code":"1049621","dose":1,"dose_unit":"tablet","frequency":"TID","derived":{"drug_class":"opioid","basis":"rxnorm","ingredients":["oxycodone"],"opioid":true,"doses_per_day":3,"strength":5,"strength_unit":"mg","route":"oral"` +
		mme("22.5", "dose", "1.5") + `}}`, false},
	{`{"name":"tablets","ndc":"00140-0004-01"}`, `{"name":"tablets","ndc":"00140-0004-01","derived":{"drug_class":"benzodiazepine","basis":"ndc","ingredients":["diazepam"],"opioid":false,"strength":2,"strength_unit":"mg","route":"oral"}}`, false},
	{`{"name":"Percocet 5-325","dose":325,"dose_unit":"mg","frequency":"BID"}`, `{"name":"Percocet 5-325","dose":325,"dose_unit":"mg","frequency":"BID","derived":{"drug_class":"opioid","basis":"brand","ingredients":["oxycodone","acetaminophen"],"opioid":true,` +
		`"warnings":["dose_of_another_ingredient"],"doses_per_day":2,"strength":5,"strength_unit":"mg","route":"oral"` + mme("975", "dose", "1.5") + `}}`, false},
	{`{"name":"oxycodone","strength":7,"strength_unit":"mg","dose":1,"dose_unit":"tablet","frequency":"q4-6h"}`, `{"name":"oxycodone","strength":7,"strength_unit":"mg","dose":1,"dose_unit":"tablet","frequency":"q4-6h"` + plainOxycodone +
		`,"warnings":["strength_not_listed"],"doses_per_day":6,"fewest_doses_per_day":4` + mme("63", "dose", "1.5") + `}}`, false},
	{`{"name":"MS Contin 15 mg","strength":100,"strength_unit":"mg","quantity":3000,"days_supply":30}`, `{"name":"MS Contin 15 mg","strength":100,"strength_unit":"mg","quantity":3000,"days_supply":30,"derived":{"drug_class":"opioid","basis":"brand","ingredients":["morphine"],"opioid":true,` +
		`"warnings":["strength_differs_from_name","more_than_1000_mme"],"route":"oral"` + mme("10000", "supply", "1") + `,"covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`, false},
	{`{"name":"morphine","strength":15,"strength_unit":"mg","dose":1,"dose_unit":"tablet","frequency":"BID","quantity":180,"days_supply":30}`, `{"name":"morphine","strength":15,"strength_unit":"mg","dose":1,"dose_unit":"tablet","frequency":"BID","quantity":180,"days_supply":30,` +
		`"derived":{"drug_class":"opioid","basis":"name","ingredients":["morphine"],"opioid":true,"warnings":["supply_disagrees_with_dose"],"doses_per_day":2` + mme("90", "supply", "1") + `,"covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`, false},
	{`{"name":"fentanyl 25 mcg/hr patch","frequency":"q72h","quantity":15,"days_supply":30}`, `{"name":"fentanyl 25 mcg/hr patch","frequency":"q72h","quantity":15,"days_supply":30,"derived":{"drug_class":"opioid","basis":"name","ingredients":["fentanyl"],"opioid":true,` +
		`"warnings":["patches_disagree_with_wear"],"doses_per_day":0.3333333333333333,"strength":25,"strength_unit":"mcg/h","route":"transdermal"` + mme("90", "patch_supply", "2.4") + `,"covered_from":"2024-05-01","covered_to":"2024-05-30","covered_days":30}}`, false},
	{`{"name":"morphine sulfate 10 MG/ML injection","dose":10,"dose_unit":"mg","frequency":"q4h"}`, `{"name":"morphine sulfate 10 MG/ML injection","dose":10,"dose_unit":"mg","frequency":"q4h","derived":{"drug_class":"opioid","basis":"name","ingredients":["morphine"],"opioid":true,"doses_per_day":6,"strength":10,"strength_unit":"mg/mL"` + noMME("route_not_covered"), false},
	{`{"name":"lisinopril","drug_class":"opioid"}`, `value.drug_class "opioid" value.drug_class must be other for this medicine, or omitted.`, true},
	{`{"name":"Gabapentin","drug_class":"anticonvulsant"}`, `{"name":"Gabapentin","drug_class":"anticonvulsant","derived":{"drug_class":"gabapentinoid","basis":"name","ingredients":["gabapentin"],"opioid":false,"route":"oral"}}`, false},
	{`{"name":"Zaldiar","rxnorm_code":"10689"}`, `{"name":"Zaldiar","rxnorm_code":"10689","derived":{"drug_class":"opioid","basis":"rxnorm","ingredients":["acetaminophen","tramadol"],"opioid":true,"route":"oral"` + noMME("missing_dose_or_supply"), false},
	{`{"name":"Sufentanil","drug_class":"opioid"}`, `{"name":"Sufentanil","drug_class":"opioid","derived":{"drug_class":"opioid","basis":"name","ingredients":["sufentanil"],"opioid":true` + noMME("no_conversion_factor"), false},
	{`{"name":"oxycodone","strength":10,"strength_unit":"mg","dose":1,"dose_unit":"tablet","route":"oral","frequency":"BID","doses_per_day":2,"prn":false,"max_doses_per_day":3,"quantity":60,"days_supply":30,` +
		`"start_date":"2024-01-01","end_date":"2024-01-10","status":"stopped","prescriber_id":"p1","pharmacy_id":"f1","indication":"back pain","stop_reason":"sedation"}`,
		`{"name":"oxycodone","strength":10,"strength_unit":"mg","dose":1,"dose_unit":"tablet","route":"oral","frequency":"BID","doses_per_day":2,"prn":false,"max_doses_per_day":3,"quantity":60,"days_supply":30,` +
			`"start_date":"2024-01-01","end_date":"2024-01-10","status":"stopped","prescriber_id":"p1","pharmacy_id":"f1","indication":"back pain","stop_reason":"sedation"` +
			plainOxycodone + `,"doses_per_day":2` + mme("30", "supply", "1.5") + `,"covered_from":"2024-01-01","covered_to":"2024-01-10","covered_days":10}}`, false},
	{`{"name":"oxycodone","dose":5,"dose_unit":"mg","frequency":"q6h","prn":true,"max_doses_per_day":3,"days_supply":7}`,
		`{"name":"oxycodone","dose":5,"dose_unit":"mg","frequency":"q6h","prn":true,"max_doses_per_day":3,"days_supply":7` + plainOxycodone + `,"doses_per_day":4` +
			mme("22.5", "prn_max", "1.5") + `,"covered_from":"2024-05-01","covered_to":"2024-05-07","covered_days":7}}`, false},
	{`{"name":"oxycodone","dose":5,"dose_unit":"mg","frequency":"when it hurts"}`,
		`{"name":"oxycodone","dose":5,"dose_unit":"mg","frequency":"when it hurts"` + plainOxycodone + noMME("missing_dose_or_supply"), false},
	{`{"name":"oxycodone","dose":5,"dose_unit":"mg","frequency":"TID","route":"iv"}`,
		`{"name":"oxycodone","dose":5,"dose_unit":"mg","route":"iv","frequency":"TID"` + plainOxycodone + `,"doses_per_day":3` + noMME("route_not_covered"), false},
	{`{"name":"morphine","status":"draft","days_supply":7}`, `{"name":"morphine","days_supply":7,"status":"draft","derived":{"drug_class":"opioid","basis":"name","ingredients":["morphine"],"opioid":true` + noMME("missing_dose_or_supply"), false},
	{`{"name":"naproxen","end_date":"2024-05-03"}`, `{"name":"naproxen","end_date":"2024-05-03","derived":{"drug_class":"nsaid","basis":"name","ingredients":["naproxen"],"opioid":false,"route":"oral","covered_from":"2024-05-01","covered_to":"2024-05-03","covered_days":3}}`, false},

	{`{}`, `value.name null value.name is required.`, false},
	{`{"name":"  "}`, `value.name "  " value.name must not be blank.`, true},
	{`{"name":"` + strings.Repeat("x", 201) + `"}`, `value.name "` + strings.Repeat("x", 200) + `…" value.name must have at most 200 characters.`, false},
	{`{"name":"tramadol","prn":true}`, `value.max_doses_per_day null value.max_doses_per_day is required for an opioid taken as needed.`, true},
	{`{"name":"ibuprofen","prn":true}`, `{"name":"ibuprofen","prn":true,"derived":{"drug_class":"nsaid","basis":"name","ingredients":["ibuprofen"],"opioid":false}}`, false},
	{`{"name":"hydrocodone","rxnorm_code":"7804"}`, `value.rxnorm_code "7804" value.rxnorm_code must be the code of the medicine in name.`, true},
	{`{"name":"oxycodone","rxnorm_code":"RX1"}`, `value.rxnorm_code "RX1" value.rxnorm_code must be a code such as 7804.`, false},
	{`{"name":"oxycodone","drug_class":"nsaid"}`, `value.drug_class "nsaid" value.drug_class must be opioid for this medicine, or omitted.`, true},
	{`{"name":"naloxone","drug_class":"opioid"}`, `value.drug_class "opioid" value.drug_class must be opioid_antagonist for this medicine, or omitted.`, true},
	{`{"name":"x","drug_class":"opioids"}`, `value.drug_class "opioids" value.drug_class must be one of opioid, benzodiazepine, gabapentinoid, nsaid, antidepressant, muscle_relaxant, anticonvulsant, topical, opioid_antagonist, other_analgesic, other. Did you mean "opioid"?`, false},
	{`{"name":"x","strength":10}`, `value.strength_unit null value.strength_unit is required with strength.`, false},
	{`{"name":"x","strength_unit":"mg"}`, `value.strength null value.strength is required with strength_unit.`, false},
	{`{"name":"x","dose":10}`, `value.dose_unit null value.dose_unit is required with dose.`, false},
	{`{"name":"x","dose_unit":"mg"}`, `value.dose null value.dose is required with dose_unit.`, false},
	{`{"name":"x","dose":0,"dose_unit":"mg"}`, `value.dose 0 value.dose must be a number from 0.0001 to 1000000.`, false},
	{`{"name":"x","dose":"10mg","dose_unit":"mg"}`, `value.dose "10mg" value.dose must be a number.`, false},
	{`{"name":"x","strength":-5,"strength_unit":"mg"}`, `value.strength -5 value.strength must be a number from 0.0001 to 1000000.`, false},
	{`{"name":"x","strength":5,"strength_unit":"grain"}`, `value.strength_unit "grain" value.strength_unit must be one of ` + strings.Join(drug.StrengthUnits(), ", ") + `.`, false},
	{`{"name":"x","dose":5,"dose_unit":"tablets"}`, `value.dose_unit "tablets" value.dose_unit must be one of ` + strings.Join(drug.DoseUnits(), ", ") + `. Did you mean "tablet"?`, false},
	{`{"name":"x","route":"po"}`, `value.route "po" value.route must be one of oral, transdermal, sublingual, buccal, topical, iv, im, sc, intrathecal, epidural, nasal, rectal.`, false},
	{`{"name":"x","doses_per_day":0}`, `value.doses_per_day 0 value.doses_per_day must be a number from 0.001 to 48.`, false},
	{`{"name":"x","doses_per_day":3,"frequency":"BID"}`, `value.doses_per_day 3 value.doses_per_day must agree with frequency or be omitted.`, true},
	{`{"name":"x","doses_per_day":0.333,"frequency":"Q72H"}`, `{"name":"x","frequency":"Q72H","doses_per_day":0.333,"derived":{"drug_class":"unclassified","basis":"none","doses_per_day":0.333,"mme_per_day":null,"mme_excluded_reason":"unclassified_medicine"}}`, false},
	{`{"name":"x","max_doses_per_day":49}`, `value.max_doses_per_day 49 value.max_doses_per_day must be a number from 0.001 to 48.`, false},
	{`{"name":"x","quantity":0}`, `value.quantity 0 value.quantity must be a number from 0.001 to 100000.`, false},
	{`{"name":"x","days_supply":0}`, `value.days_supply 0 value.days_supply must be a whole number from 1 to 365.`, false},
	{`{"name":"x","days_supply":2.5}`, `value.days_supply 2.5 value.days_supply must be a whole number from 1 to 365.`, false},
	{`{"name":"x","start_date":"2024-02-30"}`, `value.start_date "2024-02-30" value.start_date must be a real date in the form YYYY-MM-DD.`, false},
	{`{"name":"x","start_date":20240101}`, `value.start_date 20240101 value.start_date must be a real date in the form YYYY-MM-DD.`, false},
	{`{"name":"x","start_date":"2024-02-02","end_date":"2024-02-01"}`, `value.end_date "2024-02-01" value.end_date must not be before start_date (YYYY-MM-DD).`, true},
	{`{"name":"x","status":"Active"}`, `value.status "Active" value.status must be one of active, on-hold, cancelled, completed, entered-in-error, stopped, draft, unknown. Did you mean "active"?`, false},
	{`{"name":"x","prn":"yes"}`, `value.prn "yes" value.prn must be true or false.`, false},
	{`{"name":"x","dosage":"10"}`, `value.dosage "10" Unknown field. Did you mean "dose"?`, false},
	{`{"name":"x","doseUnit":"mg"}`, `value.doseUnit "mg" Unknown field. Did you mean "dose_unit"?`, false},
}

// However small the dose, an opioid never counts nothing.
func TestMMEIsNeverZero(t *testing.T) {
	got := perDay(t, `{"name":"codeine","dose":0.0001,"dose_unit":"mcg","doses_per_day":0.001}`)
	if got != 1.5e-11 {
		t.Errorf("got %v", got)
	}
}

func prescribed(t *testing.T, value string) Medication {
	t.Helper()
	m, err := ReadMedication(mustTake(t, TypeMedications, value))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// perDay is the derived MME a day, 0 for null.
func perDay(t *testing.T, value string) float64 {
	t.Helper()
	return prescribed(t, value).Derived.MMEPerDay.Or(0)
}

func TestVector01(t *testing.T) {
	if got := perDay(t, `{"name":"Hydrocodone/APAP","dose":5,"dose_unit":"mg","frequency":"QID"}`); got != 20 {
		t.Errorf("got %v", got)
	}
}

func TestVector02(t *testing.T) {
	if got := perDay(t, `{"name":"Oxycodone ER","dose":10,"dose_unit":"mg","frequency":"BID"}`); got != 30 {
		t.Errorf("got %v", got)
	}
}

func TestVector03(t *testing.T) {
	got := perDay(t, `{"name":"Methadone","dose":5,"dose_unit":"mg","frequency":"TID"}`)
	if got != 70.5 || !drug.AtLeast(got, 50) || drug.AtLeast(got, 90) || drug.Band(got) != "50-<90" {
		t.Errorf("got %v", got)
	}
}

const patch = `{"name":"Fentanyl patch","route":"transdermal","strength":25,"strength_unit":"mcg/h","quantity":10,"days_supply":30}`

func TestVector04(t *testing.T) {
	if got := perDay(t, `{"name":"Fentanyl patch","route":"transdermal","strength":25,"strength_unit":"mcg/h"}`); got != 60 {
		t.Errorf("one patch: %v", got)
	}
	if got := perDay(t, patch); got != 60 {
		t.Errorf("10 patches for 30 days: %v", got)
	}
}

func TestVector05(t *testing.T) {
	if got := perDay(t, `{"name":"tramadol","strength":50,"strength_unit":"mg","quantity":120,"days_supply":30}`); got != 40 {
		t.Errorf("tramadol: %v", got)
	}
	if got := perDay(t, `{"name":"hydromorphone","dose":4,"dose_unit":"mg","frequency":"Q6H"}`); got != 80 {
		t.Errorf("hydromorphone: %v", got)
	}
}

// course is the course of a prescription, as analytics build it.
func course(t *testing.T, value string) drug.Course {
	t.Helper()
	m := prescribed(t, value)
	return drug.Course{
		Span: drug.Span{First: m.Derived.CoveredFrom.DayNumber(), Last: m.Derived.CoveredTo.DayNumber()},
		MME:  m.Derived.MMEPerDay.Or(0), Reason: drug.Reason(m.Derived.MMEExcludedReason),
	}
}

func TestVector06(t *testing.T) {
	e := drug.Measure([]drug.Course{
		course(t, `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`),
		course(t, patch),
		course(t, `{"name":"buprenorphine","dose":8,"dose_unit":"mg","frequency":"QD","days_supply":30}`),
	}, drug.Always)
	if e.Peak != 105 || !drug.AtLeast(e.Peak, 90) || e.Incomplete {
		t.Errorf("got %+v", e)
	}
}

func vector07(t *testing.T) []drug.Course {
	return []drug.Course{
		course(t, `{"name":"Morphine ER","dose":30,"dose_unit":"mg","frequency":"BID","start_date":"2024-01-01","days_supply":30}`),
		course(t, `{"name":"oxycodone","strength":5,"strength_unit":"mg","quantity":60,"start_date":"2024-01-21","days_supply":15}`),
	}
}

func TestVector07(t *testing.T) {
	e := drug.Measure(vector07(t), drug.Always)
	first, _ := e.PerSuppliedDay()
	second, _ := e.Average()
	third, _ := e.PerWindowDay(90)
	if e.TotalMME != 2250 || first != 50 || second != 2250.0/35 || e.CoveredDays != 35 || third != 25 || e.Peak != 90 || e.DaysFrom90 != 10 || e.DaysFrom50 != 30 {
		t.Errorf("got %+v: %v, %v, %v", e, first, second, third)
	}
}

func TestVector08(t *testing.T) {
	var opioids []drug.Span
	for _, c := range vector07(t) {
		opioids = append(opioids, c.Span)
	}
	m := prescribed(t, `{"name":"lorazepam","start_date":"2024-01-10","days_supply":30}`)
	span, ok := m.Covered(Date{})
	if days := drug.Overlap(opioids, []drug.Span{span}); !ok || m.Derived.DrugClass != string(drug.Benzodiazepine) || days != 26 {
		t.Errorf("%d days overlap", days)
	}
}

func TestLegacyMME(t *testing.T) {
	m := prescribed(t, `{"name":"meperidine","dose":50,"dose_unit":"mg","frequency":"QID"}`)
	if m.Derived.MMEExcludedReason != string(drug.NoFactor) {
		t.Errorf("got %+v", m.Derived)
	}
	if got := m.LegacyMME(); got.PerDay != 20 || got.Table != drug.LegacyMMETable {
		t.Errorf("got %+v", got)
	}
	m = prescribed(t, `{"name":"morphine","dose":15,"dose_unit":"mg","doses_per_day":2}`)
	if got := m.LegacyMME(); got.PerDay != 30 || got.Table != drug.MMETable {
		t.Errorf("got %+v", got)
	}
}

func TestDayNumber(t *testing.T) {
	for text, want := range map[string]drug.Day{"1970-01-01": 0, "1969-12-31": -1, "2024-02-29": 19782, "1900-01-01": -25567} {
		d, err := ParseDate(text)
		if err != nil || d.DayNumber() != want || DateOfDay(want) != d {
			t.Errorf("%s is %d, back %v", text, d.DayNumber(), DateOfDay(want))
		}
	}
}
