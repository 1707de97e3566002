package pain

import (
	"regexp"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Medication is a prescribed medicine. The strength of a combination is that
// of its opioid.
type Medication struct {
	Name           string
	RxNormCode     string
	NDC            string
	DrugClass      string
	Strength       Number
	StrengthUnit   string
	Dose           Number
	DoseUnit       string
	Route          string
	Frequency      string
	DosesPerDay    Number
	PRN            Flag
	MaxDosesPerDay Number
	Quantity       Number
	DaysSupply     Number
	StartDate      Date
	EndDate        Date
	Status         string
	PrescriberID   string
	PharmacyID     string
	Indication     string
	StopReason     string
	Derived        MedicationDerived

	understood understanding
}

// MedicationDerived holds the values derived from a prescription. MME fields
// are set for opioids only, and the reason for medicines that may be opioids.
// Covered days are unknown without a supply or an end date.
type MedicationDerived struct {
	DrugClass         string
	Basis             string
	AliasCode         string
	Ingredients       []string
	Opioid            Flag
	Suggestions       []string
	Warnings          []string
	DosesPerDay       Number
	FewestPerDay      Number
	Strength          Number // of the product, if the record has none
	StrengthUnit      string
	Route             string // of the product, if the record has none
	MMEPerDay         Number // null if MMEExcludedReason is set
	MMERule           string
	MMEFactor         Number
	MMETable          string
	MMEExcludedReason string
	CoveredFrom       Date
	CoveredTo         Date
	CoveredDays       Number
	StopRecordedOn    Date
}

var (
	routes = []string{"oral", "transdermal", "sublingual", "buccal", "topical", "iv", "im", "sc", "intrathecal", "epidural", "nasal", "rectal"}
	// medicationStatuses are the statuses of a FHIR MedicationRequest.
	medicationStatuses = []string{"active", "on-hold", "cancelled", "completed", "entered-in-error", "stopped", "draft", "unknown"}
	mmeRules           = []string{string(drug.BySupply), string(drug.ByDose), string(drug.ByPRNMaximum), string(drug.ByPatchSupply), string(drug.ByPatchWorn)}
	mmeReasons         = names(drug.Reasons())
	rxNormCode         = regexp.MustCompile(`^[0-9]{1,8}$`)
)

var medications = kind[Medication]{
	members: []member[Medication]{
		line("name", func(v *Medication) *string { return &v.Name }, maxShort).must().means("as written: generic or brand, optionally with strength and form").with(Removed),
		pattern("rxnorm_code", func(v *Medication) *string { return &v.RxNormCode }, rxNormCode, "7804").with(Kept),
		pattern("ndc", func(v *Medication) *string { return &v.NDC }, regexp.MustCompile(`^[0-9]{11}$|^[0-9]{4,5}-[0-9]{3,4}-[0-9]{1,2}$`), "00406-0512-01").means("the National Drug Code of the package").with(Kept),
		word("drug_class", func(v *Medication) *string { return &v.DrugClass }, names(drug.Stated())).means("the class of a medicine that the service does not recognise"),
		number("strength", func(v *Medication) *Number { return &v.Strength }, between(0.0001, 1e6)).means("per unit; for a combination, of its opioid component"),
		word("strength_unit", func(v *Medication) *string { return &v.StrengthUnit }, drug.StrengthUnits()),
		number("dose", func(v *Medication) *Number { return &v.Dose }, between(0.0001, 1e6)),
		word("dose_unit", func(v *Medication) *string { return &v.DoseUnit }, drug.DoseUnits()),
		word("route", func(v *Medication) *string { return &v.Route }, routes).means("an opioid without a route is treated as oral, or as a patch if its strength is in micrograms an hour"),
		line("frequency", func(v *Medication) *string { return &v.Frequency }, maxLabel).means("such as BID or Q6H; other texts are stored but not used in calculations").with(Removed),
		number("doses_per_day", func(v *Medication) *Number { return &v.DosesPerDay }, between(0.001, 48)),
		yesNo("prn", func(v *Medication) *Flag { return &v.PRN }),
		number("max_doses_per_day", func(v *Medication) *Number { return &v.MaxDosesPerDay }, between(0.001, 48)).means("required for an opioid taken as needed"),
		number("quantity", func(v *Medication) *Number { return &v.Quantity }, between(0.001, 1e5)).means("units dispensed; for a liquid, millilitres"),
		number("days_supply", func(v *Medication) *Number { return &v.DaysSupply }, wholes(1, 365)),
		day("start_date", func(v *Medication) *Date { return &v.StartDate }).means("defaults to the day of the record"),
		day("end_date", func(v *Medication) *Date { return &v.EndDate }),
		word("status", func(v *Medication) *string { return &v.Status }, medicationStatuses),
		line("prescriber_id", func(v *Medication) *string { return &v.PrescriberID }, maxShort).with(Removed),
		line("pharmacy_id", func(v *Medication) *string { return &v.PharmacyID }, maxShort).with(Removed),
		line("indication", func(v *Medication) *string { return &v.Indication }, maxWords).with(Removed),
		line("stop_reason", func(v *Medication) *string { return &v.StopReason }, maxWords).with(Removed),
		nested("derived", func(v *Medication) *MedicationDerived { return &v.Derived }, medicationDerived).derived().present(),
	},
	check:    checkMedication,
	deriveOn: deriveMedication,
	mend:     (*Medication).unguess,
	limits:   `"dependentRequired":{"strength":["strength_unit"],"strength_unit":["strength"],"dose":["dose_unit"],"dose_unit":["dose"]}`,
}

var medicationDerived = []member[MedicationDerived]{
	word("drug_class", func(v *MedicationDerived) *string { return &v.DrugClass }, names(drug.Classes())).means("unclassified: not recognised and no class given; it may be an opioid").present(),
	word("basis", func(v *MedicationDerived) *string { return &v.Basis }, names(drug.Bases())).means("how drug_class was determined"),
	line("alias_code", func(v *MedicationDerived) *string { return &v.AliasCode }, maxLabel).means("the RxNorm code of the organisation's alias, if one was applied").with(Kept),
	texts("ingredients", func(v *MedicationDerived) *[]string { return &v.Ingredients }).means("as recognised by code and name").with(Kept),
	yesNo("opioid", func(v *MedicationDerived) *Flag { return &v.Opioid }).means("absent if the medicine is unclassified"),
	texts("suggestions", func(v *MedicationDerived) *[]string { return &v.Suggestions }).means("medicines that an unrecognised name may refer to; never applied").with(Kept),
	words("warnings", func(v *MedicationDerived) *[]string { return &v.Warnings }, names(warnings())).means("possible errors; the record is used as stated"),
	result("doses_per_day", func(v *MedicationDerived) *Number { return &v.DosesPerDay }).means("for a range such as q4-6h the maximum, which is used to assess risk"),
	result("fewest_doses_per_day", func(v *MedicationDerived) *Number { return &v.FewestPerDay }).means("the minimum of a range"),
	result("strength", func(v *MedicationDerived) *Number { return &v.Strength }).means("of the recognised product, if none is stated"),
	word("strength_unit", func(v *MedicationDerived) *string { return &v.StrengthUnit }, drug.StrengthUnits()),
	word("route", func(v *MedicationDerived) *string { return &v.Route }, routes).means("of the recognised product, if none is stated"),
	result("mme_per_day", func(v *MedicationDerived) *Number { return &v.MMEPerDay }).means("for assessing risk, not for converting between opioids; null with a reason, never 0"),
	word("mme_rule", func(v *MedicationDerived) *string { return &v.MMERule }, mmeRules),
	result("mme_factor", func(v *MedicationDerived) *Number { return &v.MMEFactor }),
	line("mme_table", func(v *MedicationDerived) *string { return &v.MMETable }, maxLabel).with(Kept),
	word("mme_excluded_reason", func(v *MedicationDerived) *string { return &v.MMEExcludedReason }, mmeReasons),
	day("covered_from", func(v *MedicationDerived) *Date { return &v.CoveredFrom }),
	day("covered_to", func(v *MedicationDerived) *Date { return &v.CoveredTo }),
	result("covered_days", func(v *MedicationDerived) *Number { return &v.CoveredDays }).means("from covered_from to covered_to, inclusive"),
	day("stop_recorded_on", func(v *MedicationDerived) *Date { return &v.StopRecordedOn }).means("the day of the record, if it states that the medicine was stopped but not when; the medicine counts up to the day before"),
}

// names converts words to strings.
func names[S ~string](words []S) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}
