package drug

import (
	"strings"
	"testing"
)

func TestMME(t *testing.T) {
	tablets := Prescription{Strength: 10, StrengthUnit: "mg", Quantity: 60, DaysSupply: 30}
	dose := Prescription{Dose: 10, DoseUnit: "mg", PerDay: 2}
	with := func(p Prescription, change func(*Prescription)) Prescription {
		change(&p)
		return p
	}
	for _, c := range []struct {
		title, name string
		p           Prescription
		table       Table
		want        MME
	}{
		{"supply", "oxycodone", tablets, Current, MME{30, 1.5, MMETable, BySupply, "", false}},
		{"supply before dose", "oxycodone", with(tablets, func(p *Prescription) { p.Dose, p.DoseUnit, p.PerDay = 1, "tablet", 8 }), Current, MME{30, 1.5, MMETable, BySupply, "", false}},
		{"supply before the prn maximum", "oxycodone", with(tablets, func(p *Prescription) { p.PRN, p.MaxPerDay = true, 8 }), Current, MME{30, 1.5, MMETable, BySupply, "", false}},
		{"liquid", "morphine", Prescription{Strength: 10, StrengthUnit: "mg/5ml", Quantity: 300, DaysSupply: 30}, Current, MME{20, 1, MMETable, BySupply, "", false}},
		{"micrograms", "hydromorphone", Prescription{Dose: 500, DoseUnit: "mcg", PerDay: 4}, Current, MME{10, 5, MMETable, ByDose, "", false}},
		{"dose", "oxycodone", dose, Current, MME{30, 1.5, MMETable, ByDose, "", false}},
		{"tablets a dose", "oxycodone", Prescription{Strength: 5, StrengthUnit: "mg", Dose: 2, DoseUnit: "tablet", PerDay: 3}, Current, MME{45, 1.5, MMETable, ByDose, "", false}},
		{"millilitres a dose", "morphine", Prescription{Strength: 2, StrengthUnit: "mg/mL", Dose: 5, DoseUnit: "mL", PerDay: 4}, Current, MME{40, 1, MMETable, ByDose, "", false}},
		{"tablets of a liquid", "morphine", Prescription{Strength: 2, StrengthUnit: "mg/mL", Dose: 5, DoseUnit: "tablet", PerDay: 4}, Current, MME{Reason: UnitNotConvertible}},
		{"tablets of no strength", "morphine", Prescription{Dose: 2, DoseUnit: "tablet", PerDay: 4}, Current, MME{Reason: MissingDose}},
		{"sprays", "morphine", Prescription{Dose: 2, DoseUnit: "spray", PerDay: 4}, Current, MME{Reason: UnitNotConvertible}},
		{"prn", "oxycodone", with(dose, func(p *Prescription) { p.PRN, p.MaxPerDay = true, 4 }), Current, MME{60, 1.5, MMETable, ByPRNMaximum, "", false}},
		{"prn without maximum", "oxycodone", with(dose, func(p *Prescription) { p.PRN = true }), Current, MME{Reason: MissingDose}},
		{"nothing known", "oxycodone", Prescription{}, Current, MME{Reason: MissingDose}},
		{"strength alone is no dose", "oxycodone", Prescription{Strength: 10, StrengthUnit: "mg", PerDay: 2}, Current, MME{Reason: MissingDose}},
		{"percent", "morphine", Prescription{Strength: 2, StrengthUnit: "%", Quantity: 60, DaysSupply: 30}, Current, MME{Reason: UnitNotConvertible}},
		{"oral", "morphine", with(dose, func(p *Prescription) { p.Route = "oral" }), Current, MME{20, 1, MMETable, ByDose, "", false}},
		{"intravenous", "morphine", with(dose, func(p *Prescription) { p.Route = "iv" }), Current, MME{Reason: RouteNotCovered}},
		{"transdermal morphine", "morphine", with(dose, func(p *Prescription) { p.Route = "transdermal" }), Current, MME{Reason: RouteNotCovered}},
		{"combination", "hydrocodone/ibuprofen", dose, Current, MME{20, 1, MMETable, ByDose, "", false}},
		{"two opioids", "morphine and codeine", dose, Current, MME{Reason: SeveralOpioids}},
		{"no known opioid", "nalbuphine", dose, Current, MME{Reason: UnknownOpioid}},
		{"buprenorphine", "buprenorphine/naloxone", dose, WithLegacy, MME{Reason: ExcludedBuprenorphine}},
		{"buprenorphine patch", "buprenorphine", Prescription{Strength: 20, StrengthUnit: "mcg/h", Route: "transdermal"}, Current, MME{Reason: ExcludedBuprenorphine}},
		{"methadone for pain", "methadone", with(dose, func(p *Prescription) { p.Indication = "cancer pain" }), Current, MME{94, 4.7, MMETable, ByDose, "", false}},
		{"methadone for disorder", "methadone", with(dose, func(p *Prescription) { p.Indication = "Opioid use disorder, severe" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, abbreviated", "methadone", with(dose, func(p *Prescription) { p.Indication = "OUD" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, maintenance", "methadone", with(dose, func(p *Prescription) { p.Indication = "Maintenance (OTP)" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, denied", "methadone", with(dose, func(p *Prescription) { p.Indication = "Chronic pain, no opioid use disorder" }), Current, MME{94, 4.7, MMETable, ByDose, "", false}},
		{"methadone, denied of something else", "methadone", with(dose, func(p *Prescription) { p.Indication = "no pain; MOUD" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, of the past", "methadone", with(dose, func(p *Prescription) { p.Indication = "Chronic pain; history of OUD" }), Current, MME{94, 4.7, MMETable, ByDose, "", false}},
		{"methadone, a risk", "methadone", with(dose, func(p *Prescription) { p.Indication = "pain (low risk of opioid abuse)" }), Current, MME{94, 4.7, MMETable, ByDose, "", false}},
		{"methadone, history and treatment", "methadone", with(dose, func(p *Prescription) { p.Indication = "history of OUD, on MAT" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, maintenance of analgesia", "methadone", with(dose, func(p *Prescription) { p.Indication = "maintenance of analgesia" }), Current, MME{94, 4.7, MMETable, ByDose, "", false}},
		{"methadone, coded", "methadone", with(dose, func(p *Prescription) { p.Indication = "F11.20" }), Current, MME{Reason: ExcludedMethadone}},
		{"oxycodone with that history", "oxycodone", with(dose, func(p *Prescription) { p.Indication = "F11.20" }), Current, MME{30, 1.5, MMETable, ByDose, "", false}},
		{"older table", "pentazocine/naloxone", dose, Current, MME{Reason: NoFactor}},
		{"older table, asked for", "pentazocine/naloxone", dose, WithLegacy, MME{7.4, 0.37, LegacyMMETable, ByDose, "", false}},
		{"asked for, not needed", "oxycodone", dose, WithLegacy, MME{30, 1.5, MMETable, ByDose, "", false}},

		{"patches by supply", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mcg/h", Quantity: 10, DaysSupply: 30, Route: "transdermal"}, Current, MME{60, 2.4, MMETable, ByPatchSupply, "", false}},
		{"patches worn 48 h", "fentanyl", Prescription{Strength: 25, StrengthUnit: "ug/h", Quantity: 15, DaysSupply: 30, PerDay: 0.5}, Current, MME{60, 2.4, MMETable, ByPatchSupply, "", false}},
		{"fewer patches than are worn", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mcg/h", Quantity: 5, DaysSupply: 30, PerDay: 1.0 / 3}, Current, MME{60, 2.4, MMETable, ByPatchWorn, "", true}},
		{"more patches than are worn", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mcg/h", Quantity: 15, DaysSupply: 30, PerDay: 1.0 / 3}, Current, MME{90, 2.4, MMETable, ByPatchSupply, "", true}},
		{"ten patches for a month of 31 days", "fentanyl", Prescription{Strength: 25, StrengthUnit: "µg/h", Quantity: 10, DaysSupply: 31}, Current, MME{60, 2.4, MMETable, ByPatchWorn, "", false}},
		{"two patches worn", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mcg/h", Dose: 2, DoseUnit: "patch", PerDay: 1.0 / 3}, Current, MME{120, 2.4, MMETable, ByPatchWorn, "", false}},
		{"dose an hour", "fentanyl", Prescription{Dose: 50, DoseUnit: "mcg/h"}, Current, MME{120, 2.4, MMETable, ByPatchWorn, "", false}},
		{"one patch", "fentanyl", Prescription{Strength: 12, StrengthUnit: "mcg/h"}, Current, MME{28.8, 2.4, MMETable, ByPatchWorn, "", false}},
		{"patch in milligrams", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mg", Quantity: 10, DaysSupply: 30, Route: "transdermal"}, Current, MME{Reason: UnitNotConvertible}},
		{"patch of no strength", "fentanyl", Prescription{Dose: 1, DoseUnit: "patch", Route: "transdermal"}, Current, MME{Reason: MissingDose}},
		{"lozenge", "fentanyl", Prescription{Strength: 200, StrengthUnit: "mcg", Dose: 1, DoseUnit: "lozenge", PerDay: 4, Route: "buccal"}, Current, MME{Reason: RouteNotCovered}},
		{"fentanyl of no route", "fentanyl", Prescription{Dose: 200, DoseUnit: "mcg", PerDay: 4}, Current, MME{Reason: RouteNotCovered}},
	} {
		t.Run(c.title, func(t *testing.T) {
			c.p.Medicine = named(strings.FieldsFunc(c.name, func(r rune) bool { return r < 'a' || r > 'z' })...)
			if got := c.p.MME(c.table); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestIncomplete(t *testing.T) {
	for reason, want := range map[Reason]bool{"": false, ExcludedBuprenorphine: false, ExcludedMethadone: false, NoFactor: true, UnknownOpioid: true, MissingDose: true} {
		if reason.Incomplete() != want {
			t.Errorf("%q: %v", reason, !want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, unit := range DoseUnits() {
		if unit == "" {
			t.Error("a unit without a name")
		}
	}
	if u := strengthUnitOf("parsec"); u.per != perOther {
		t.Errorf("got %+v", u)
	}
}

func TestSupplyDisagrees(t *testing.T) {
	full := Prescription{Strength: 10, StrengthUnit: "mg", Dose: 10, DoseUnit: "mg", PerDay: 3, Quantity: 90, DaysSupply: 30}
	for title, c := range map[string]struct {
		change func(*Prescription)
		want   bool
	}{
		"agree":               {func(*Prescription) {}, false},
		"tablets":             {func(p *Prescription) { p.Dose, p.DoseUnit = 1, "tablet" }, false},
		"twice as many":       {func(p *Prescription) { p.Quantity = 180 }, true},
		"a third":             {func(p *Prescription) { p.Quantity = 30 }, true},
		"a few more":          {func(p *Prescription) { p.Quantity = 120 }, false},
		"less than at most":   {func(p *Prescription) { p.PRN, p.MaxPerDay, p.Quantity = true, 6, 60 }, false},
		"more than at most":   {func(p *Prescription) { p.PRN, p.MaxPerDay, p.Quantity = true, 2, 180 }, true},
		"no frequency":        {func(p *Prescription) { p.PerDay, p.Quantity = 0, 900 }, false},
		"no strength":         {func(p *Prescription) { p.Strength, p.Quantity = 0, 900 }, false},
		"no supply":           {func(p *Prescription) { p.DaysSupply = 0 }, false},
		"sprays":              {func(p *Prescription) { p.DoseUnit, p.Quantity = "spray", 900 }, false},
		"milligrams for five": {func(p *Prescription) { p.Dose = 50 }, true},
	} {
		p := full
		c.change(&p)
		if got := p.SupplyDisagrees(); got != c.want {
			t.Errorf("%s: %v", title, got)
		}
	}
}
