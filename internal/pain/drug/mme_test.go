package drug

import "testing"

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
		{"supply", "oxycodone", tablets, Current, MME{30, 1.5, MMETable, BySupply, ""}},
		{"supply before dose", "oxycodone", with(tablets, func(p *Prescription) { p.Dose, p.DoseUnit, p.PerDay = 1, "tablet", 8 }), Current, MME{30, 1.5, MMETable, BySupply, ""}},
		{"supply before the prn maximum", "oxycodone", with(tablets, func(p *Prescription) { p.PRN, p.MaxPerDay = true, 8 }), Current, MME{30, 1.5, MMETable, BySupply, ""}},
		{"liquid", "morphine", Prescription{Strength: 10, StrengthUnit: "mg/5ml", Quantity: 300, DaysSupply: 30}, Current, MME{20, 1, MMETable, BySupply, ""}},
		{"micrograms", "hydromorphone", Prescription{Dose: 500, DoseUnit: "mcg", PerDay: 4}, Current, MME{10, 5, MMETable, ByDose, ""}},
		{"dose", "oxycodone", dose, Current, MME{30, 1.5, MMETable, ByDose, ""}},
		{"tablets a dose", "oxycodone", Prescription{Strength: 5, StrengthUnit: "mg", Dose: 2, DoseUnit: "tablet", PerDay: 3}, Current, MME{45, 1.5, MMETable, ByDose, ""}},
		{"millilitres a dose", "morphine", Prescription{Strength: 2, StrengthUnit: "mg/mL", Dose: 5, DoseUnit: "mL", PerDay: 4}, Current, MME{40, 1, MMETable, ByDose, ""}},
		{"tablets of a liquid", "morphine", Prescription{Strength: 2, StrengthUnit: "mg/mL", Dose: 5, DoseUnit: "tablet", PerDay: 4}, Current, MME{Reason: UnitNotConvertible}},
		{"tablets of no strength", "morphine", Prescription{Dose: 2, DoseUnit: "tablet", PerDay: 4}, Current, MME{Reason: MissingDose}},
		{"sprays", "morphine", Prescription{Dose: 2, DoseUnit: "spray", PerDay: 4}, Current, MME{Reason: UnitNotConvertible}},
		{"prn", "oxycodone", with(dose, func(p *Prescription) { p.PRN, p.MaxPerDay = true, 4 }), Current, MME{60, 1.5, MMETable, ByPRNMaximum, ""}},
		{"prn without maximum", "oxycodone", with(dose, func(p *Prescription) { p.PRN = true }), Current, MME{Reason: MissingDose}},
		{"nothing known", "oxycodone", Prescription{}, Current, MME{Reason: MissingDose}},
		{"strength alone is no dose", "oxycodone", Prescription{Strength: 10, StrengthUnit: "mg", PerDay: 2}, Current, MME{Reason: MissingDose}},
		{"percent", "morphine", Prescription{Strength: 2, StrengthUnit: "%", Quantity: 60, DaysSupply: 30}, Current, MME{Reason: UnitNotConvertible}},
		{"oral", "morphine", with(dose, func(p *Prescription) { p.Route = "oral" }), Current, MME{20, 1, MMETable, ByDose, ""}},
		{"intravenous", "morphine", with(dose, func(p *Prescription) { p.Route = "iv" }), Current, MME{Reason: RouteNotCovered}},
		{"transdermal morphine", "morphine", with(dose, func(p *Prescription) { p.Route = "transdermal" }), Current, MME{Reason: RouteNotCovered}},
		{"combination", "hydrocodone/ibuprofen", dose, Current, MME{20, 1, MMETable, ByDose, ""}},
		{"two opioids", "morphine and codeine", dose, Current, MME{Reason: SeveralOpioids}},
		{"no known opioid", "nalbuphine", dose, Current, MME{Reason: UnknownOpioid}},
		{"buprenorphine", "buprenorphine/naloxone", dose, WithLegacy, MME{Reason: ExcludedBuprenorphine}},
		{"buprenorphine patch", "buprenorphine", Prescription{Strength: 20, StrengthUnit: "mcg/h", Route: "transdermal"}, Current, MME{Reason: ExcludedBuprenorphine}},
		{"methadone for pain", "methadone", with(dose, func(p *Prescription) { p.Indication = "cancer pain" }), Current, MME{94, 4.7, MMETable, ByDose, ""}},
		{"methadone for disorder", "methadone", with(dose, func(p *Prescription) { p.Indication = "Opioid use disorder, severe" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, abbreviated", "methadone", with(dose, func(p *Prescription) { p.Indication = "OUD" }), Current, MME{Reason: ExcludedMethadone}},
		{"methadone, coded", "methadone", with(dose, func(p *Prescription) { p.Indication = "F11.20" }), Current, MME{Reason: ExcludedMethadone}},
		{"oxycodone with that history", "oxycodone", with(dose, func(p *Prescription) { p.Indication = "F11.20" }), Current, MME{30, 1.5, MMETable, ByDose, ""}},
		{"older table", "pentazocine/naloxone", dose, Current, MME{Reason: NoFactor}},
		{"older table, asked for", "pentazocine/naloxone", dose, WithLegacy, MME{7.4, 0.37, LegacyMMETable, ByDose, ""}},
		{"asked for, not needed", "oxycodone", dose, WithLegacy, MME{30, 1.5, MMETable, ByDose, ""}},

		{"patches by supply", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mcg/h", Quantity: 10, DaysSupply: 30, Route: "transdermal"}, Current, MME{60, 2.4, MMETable, ByPatchSupply, ""}},
		{"patches worn 48 h", "fentanyl", Prescription{Strength: 25, StrengthUnit: "ug/h", Quantity: 15, DaysSupply: 30, PerDay: 0.5}, Current, MME{60, 2.4, MMETable, ByPatchSupply, ""}},
		{"two patches worn", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mcg/h", Dose: 2, DoseUnit: "patch", PerDay: 1.0 / 3}, Current, MME{120, 2.4, MMETable, ByPatchWorn, ""}},
		{"dose an hour", "fentanyl", Prescription{Dose: 50, DoseUnit: "mcg/h"}, Current, MME{120, 2.4, MMETable, ByPatchWorn, ""}},
		{"one patch", "fentanyl", Prescription{Strength: 12, StrengthUnit: "mcg/h"}, Current, MME{28.8, 2.4, MMETable, ByPatchWorn, ""}},
		{"patch in milligrams", "fentanyl", Prescription{Strength: 25, StrengthUnit: "mg", Quantity: 10, DaysSupply: 30, Route: "transdermal"}, Current, MME{Reason: UnitNotConvertible}},
		{"patch of no strength", "fentanyl", Prescription{Dose: 1, DoseUnit: "patch", Route: "transdermal"}, Current, MME{Reason: MissingDose}},
		{"lozenge", "fentanyl", Prescription{Strength: 200, StrengthUnit: "mcg", Dose: 1, DoseUnit: "lozenge", PerDay: 4, Route: "buccal"}, Current, MME{Reason: RouteNotCovered}},
		{"fentanyl of no route", "fentanyl", Prescription{Dose: 200, DoseUnit: "mcg", PerDay: 4}, Current, MME{Reason: RouteNotCovered}},
	} {
		t.Run(c.title, func(t *testing.T) {
			c.p.Medicine = Find(c.name, "")
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
