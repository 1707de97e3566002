package pain

import (
	"regexp"
	"slices"
)

// Lab is a laboratory result, or one analyte of a urine drug screen.
type Lab struct {
	LOINC    string
	Value    Number
	Unit     string
	RefLow   Number
	RefHigh  Number
	Analyte  string
	Method   string
	Result   string
	Expected string
	Derived  LabDerived
}

// LabDerived holds the values derived from a drug screen.
type LabDerived struct {
	Consistent  Flag // result as expected; null if the result is invalid
	Presumptive Flag // immunoassay that needs confirmation
}

// labUnits and screenAnalytes are what de-identified data keeps of the units
// and analytes, which callers write freely.
var (
	labUnits = []string{"%", "/uL", "10*3/uL", "10*6/uL", "10*9/L", "fL", "g/dL", "g/L", "IU/L", "mEq/L", "mg/L", "mg/dL", "mL/min", "mL/min/{1.73_m2}", "mm/h", "mmol/L",
		"ng/dL", "ng/mL", "nmol/L", "pg", "pg/mL", "pmol/L", "s", "U/L", "ug/L", "ug/dL", "umol/L"}
	screenAnalytes = []string{"6-mam", "alcohol", "alprazolam", "amphetamine", "amphetamines", "barbiturates", "benzodiazepines", "benzoylecgonine", "buprenorphine", "cannabinoids", "carisoprodol",
		"cocaine", "codeine", "clonazepam", "creatinine", "diazepam", "ethanol", "ethyl_glucuronide", "fentanyl", "gabapentin", "heroin", "hydrocodone", "hydromorphone", "lorazepam", "methadone",
		"methamphetamine", "morphine", "naloxone", "norbuprenorphine", "norfentanyl", "opiates", "oxazepam", "oxycodone", "oxymorphone", "pcp", "ph", "pregabalin", "specific_gravity", "tapentadol",
		"temazepam", "thc", "tramadol", "zolpidem"}
)

// ageCodes are LOINC codes of a person's age, whose value is in years only with
// one of yearUnits.
var (
	ageCodes = []string{"30525-0", "21612-7", "29553-5", "21611-9", "39016-1"}

	yearUnits = []string{"", "a", "y", "yr", "yrs", "year", "years", "{years}"}
)

// OldestAge is the lowest age that de-identified data does not distinguish from
// higher ones.
const OldestAge = 90

var labs = kind[Lab]{
	members: []member[Lab]{
		pattern("loinc", func(v *Lab) *string { return &v.LOINC }, regexp.MustCompile(`^[0-9]{1,7}-[0-9]$`), "2160-0").with(Kept),
		number("value", func(v *Lab) *Number { return &v.Value }, anyNumber),
		line("unit", func(v *Lab) *string { return &v.Unit }, maxLabel).with(KeptIfKnown, labUnits...),
		number("ref_low", func(v *Lab) *Number { return &v.RefLow }, anyNumber),
		number("ref_high", func(v *Lab) *Number { return &v.RefHigh }, anyNumber),
		line("analyte", func(v *Lab) *string { return &v.Analyte }, maxShort).with(KeptIfKnown, screenAnalytes...),
		word("method", func(v *Lab) *string { return &v.Method }, []string{"immunoassay", "lcms"}),
		word("result", func(v *Lab) *string { return &v.Result }, []string{"positive", "negative", "invalid"}),
		word("expected", func(v *Lab) *string { return &v.Expected }, []string{"positive", "negative"}).
			means("positive if the drug is prescribed, negative if not"),
		nested("derived", func(v *Lab) *LabDerived { return &v.Derived }, []member[LabDerived]{
			verdict("consistent", func(v *LabDerived) *Flag { return &v.Consistent }).means("null if the result is invalid"),
			yesNo("presumptive", func(v *LabDerived) *Flag { return &v.Presumptive }).means("an immunoassay, to be confirmed"),
		}).derived(),
	},
	check: func(v *Lab, r *reading) {
		if !isThere(r, "loinc") && !isThere(r, "analyte") {
			r.Fault("loinc", "or analyte is required.")
		}
		low, okLow := v.RefLow.Get()
		high, okHigh := v.RefHigh.Get()
		if okLow && okHigh && low > high {
			r.Fault("ref_low", "must not be above ref_high.")
		}
	},
	deidentify: func(v *Lab) {
		if !slices.Contains(ageCodes, v.LOINC) {
			return
		}
		years, given := v.Value.Get()
		v.Value, v.RefLow, v.RefHigh = Number{}, Number{}, Number{}
		if given && slices.Contains(yearUnits, v.Unit) {
			v.Value = Some(min(years, OldestAge))
		}
	},
	derive: func(v *Lab) {
		switch {
		case v.Result == "" || v.Expected == "":
		case v.Result == "invalid":
			v.Derived.Consistent = none[bool]()
		default:
			v.Derived.Consistent = Some(v.Result == v.Expected)
		}
		if v.Result != "" && v.Method != "" {
			v.Derived.Presumptive = Some(v.Method == "immunoassay")
		}
	},
	limits: `"if":{"properties":{"loinc":false}},"then":{"properties":{"analyte":true},"required":["analyte"]}`,
}
