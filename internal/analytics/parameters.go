package analytics

import (
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Request is the parameters as written by a caller. Empty fields were not
// given. Each field is one of [Parameters], in the same order.
type Request struct {
	StartDate, EndDate, Interval, FollowUp, Gender, AgeMin, AgeMax, Condition, MedicationClass, MinCellSize string
	Standard, Adjust, CompareStart, CompareEnd                                                              string
}

// Params is a validated request. Its JSON form is the effective parameters that
// a response contains.
type Params struct {
	// Start and End are the days of the period, inclusive.
	Start drug.Day `json:"-"`
	End   drug.Day `json:"-"`
	// AsOf is the last day included: End, or today if End is later.
	AsOf            drug.Day     `json:"-"`
	StartDate       string       `json:"start_date"`
	EndDate         string       `json:"end_date"`
	AsOfDate        string       `json:"as_of"`
	Interval        Interval     `json:"interval,omitempty"`  // for outcomes
	FollowUp        int          `json:"follow_up,omitempty"` // for outcomes
	Gender          *string      `json:"gender"`
	AgeMin          *int         `json:"age_min"`
	AgeMax          *int         `json:"age_max"`
	Condition       *string      `json:"condition"`
	MedicationClass *string      `json:"medication_class"`
	MinCellSize     int          `json:"min_cell_size"`
	class           series.Class // of MedicationClass
	// StandardAsked is the requested standard of population rates.
	StandardAsked *string `json:"standard,omitempty"`
	// Adjust requests outcomes adjusted for case mix.
	Adjust *string `json:"adjust,omitempty"`
	// CompareStartDate and CompareEndDate are the days of the earlier period.
	CompareStartDate *string `json:"compare_start_date,omitempty"`
	CompareEndDate   *string `json:"compare_end_date,omitempty"`

	standard standard
	earlier  drug.Span
}

// Parameters declares every analytics parameter, in the order in which they are
// documented and checked. To add one, add a field to Request and to Params, an
// entry here, and its rule in filter.go, and run make generate.
var Parameters = []Parameter{
	{
		Name: "start_date", Type: Day, For: ForOutcomes | ForPopulation | ForLists | ForSummaries | ForExports, Repeated: true,
		Label: "From", Example: "2025-01-01", Client: "YYYY-MM-DD, inclusive",
		Doc:      "The first UTC day of the period; by default, 364 days before its end. A period may be at most 100 years long.",
		InForce:  "The first UTC day of the period.",
		InReport: "YYYY-MM-DD, inclusive. The period is 365 days by default.",
		in:       func(r *Request) *string { return &r.StartDate },
		value:    func(p *Params) any { return p.StartDate },
	}, {
		Name: "end_date", Type: Day, For: ForOutcomes | ForPopulation | ForLists | ForSummaries | ForExports, Repeated: true,
		Label: "To", Example: "2025-12-31", Client: "YYYY-MM-DD, inclusive",
		Doc:      "The last UTC day of the period; today by default.",
		InForce:  "The last UTC day that was requested.",
		InReport: "YYYY-MM-DD, inclusive. Defaults to the day of `as_of`.",
		in:       func(r *Request) *string { return &r.EndDate },
		value:    func(p *Params) any { return p.EndDate },
	}, {
		Name: "interval", Type: Word, Words: []string{string(ByDay), string(ByWeek), string(ByMonth)}, Default: string(ByMonth), For: ForOutcomes, Repeated: true,
		Label: "Trend by", Example: "week", Client: "day, week or month",
		Doc:   "The interval of the trend. Weeks are ISO weeks. At most 3,700 days or weeks.",
		in:    func(r *Request) *string { return &r.Interval },
		check: func(c checker, of *Parameter, p *Params) { p.Interval = Interval(c.word(of)) },
		value: func(p *Params) any { return string(p.Interval) },
	}, {
		Name: "follow_up", Type: Word, Words: []string{"30", "90", "180", "365"}, Default: strconv.Itoa(DefaultFollowUp), Number: true, Unit: "days", For: ForOutcomes, Repeated: true,
		Label: "Follow-up, days", Example: "90", Client: "30, 90, 180 or 365 days",
		Doc:   "The follow-up day, counted from the index date.",
		in:    func(r *Request) *string { return &r.FollowUp },
		check: func(c checker, of *Parameter, p *Params) { p.FollowUp, _ = strconv.Atoi(c.word(of)) },
		value: func(p *Params) any { return p.FollowUp },
	}, {
		Name: "gender", Type: Word, Words: genderNames[:], AnyCase: true, For: ForOutcomes | ForPopulation | ForLists | ForExports, Repeated: true,
		Label: "Gender", None: "all", Example: "female", Client: "female, male, other or unknown",
		Doc:   "Includes only patients of this gender group. Case is ignored, `m` and `f` are recognised, any other word is `other`, and no value is `unknown`.",
		in:    func(r *Request) *string { return &r.Gender },
		check: func(c checker, of *Parameter, p *Params) { p.Gender = given(c.word(of)) },
		value: func(p *Params) any { return orNil(p.Gender) },
	}, {
		Name: "age_min", Type: Whole, Max: maxAge, Number: true, For: ForOutcomes | ForPopulation | ForLists | ForExports, Repeated: true,
		Label: "Age from", Example: "18", Client: "at the end of the period",
		Doc:   "Includes only patients of at least this age at the end of the period.",
		in:    func(r *Request) *string { return &r.AgeMin },
		check: func(c checker, of *Parameter, p *Params) { p.AgeMin = c.whole(of) },
		value: func(p *Params) any { return orNil(p.AgeMin) },
	}, {
		Name: "age_max", Type: Whole, Max: maxAge, Number: true, For: ForOutcomes | ForPopulation | ForLists | ForExports, Repeated: true,
		Label: "Age to", Example: "64",
		Doc: "Includes only patients of at most this age at the end of the period.",
		in:  func(r *Request) *string { return &r.AgeMax },
		check: func(c checker, of *Parameter, p *Params) {
			p.AgeMax = c.whole(of)
			if p.AgeMin != nil && p.AgeMax != nil && *p.AgeMin > *p.AgeMax {
				c.Add("age_min", c.request.AgeMin, "age_min must not be above age_max.")
			}
		},
		value: func(p *Params) any { return orNil(p.AgeMax) },
	}, {
		Name: "condition", Type: Text, MaxLength: 8, Pattern: `^[A-Za-z]([0-9]([0-9A-Za-z](\.[0-9A-Za-z]{0,4})?)?)?$`, For: ForOutcomes | ForPopulation | ForLists | ForExports, Repeated: true,
		Label: "Condition (ICD-10 prefix)", Example: "M54", Client: "prefix of an ICD-10 code",
		Doc:      "Includes only patients with this ICD-10 code, or a code that starts with it, in their own medical history, whether the condition is current or resolved. Family history is not considered.",
		InReport: "The beginning of an ICD-10 code.",
		in:       func(r *Request) *string { return &r.Condition },
		check: func(c checker, of *Parameter, p *Params) {
			p.Condition = given(strings.ToUpper(c.request.Condition))
			if p.Condition != nil && !conditionPrefix.MatchString(*p.Condition) {
				c.Add(of.Name, clip(c.request.Condition), "condition must be the start of an ICD-10 code, such as M54 or M54.5.")
			}
		},
		value: func(p *Params) any { return orNil(p.Condition) },
	}, {
		Name: "medication_class", Type: Word, Words: classNames(), Open: true, For: ForOutcomes | ForPopulation | ForExports, Repeated: true,
		Label: "Medicine", None: "all", Example: "opioid", Client: "taken in the period",
		Doc: "Includes only patients who took a medicine of this class in the period.",
		in:  func(r *Request) *string { return &r.MedicationClass },
		check: func(c checker, of *Parameter, p *Params) {
			if p.MedicationClass = given(c.word(of)); p.MedicationClass != nil {
				p.class = series.ClassOf(drug.Class(*p.MedicationClass))
			}
		},
		value: func(p *Params) any { return orNil(p.MedicationClass) },
	}, {
		Name: "min_cell_size", Type: Whole, Max: maxCellSize, Default: "0", Number: true, For: ForOutcomes | ForPopulation, Repeated: true,
		Label: "Hide groups smaller than", Example: "11", Client: "suppresses counts of patients below this size",
		Doc: "Hides patient counts from 1 up to, but not including, this number, and any figures from which they could be derived; 11 is the usual choice. 0 hides nothing.",
		in:  func(r *Request) *string { return &r.MinCellSize },
		check: func(c checker, of *Parameter, p *Params) {
			if size := c.whole(of); size != nil {
				p.MinCellSize = *size
			}
		},
		value: func(p *Params) any { return p.MinCellSize },
	}, {
		Name: "standard", Type: Text, Words: []string{standardAge, standardGender}, For: ForPopulation,
		Label: "Standardise by", None: "age and gender", Example: "age",
		Client: "the population that rates are standardised to: age_gender, age, gender, or weights such as female/18-29:120,male/18-29:115",
		Doc: "The standard population for standardised rates. `age_gender` (the default), `age` or `gender`: all patients of the organisation, by both or by one of them; with a gender or age filter, only patients who match it.\n" +
			"Or weights: `female/18-29:120,male/18-29:115`, or by age band (`18-29:0.3,65+:0.7`) or gender (`female:1,male:1`) alone. Age bands are `<18`, `18-29`, `30-44`, `45-64` and `65+`, which can also be written `65`. Weights are relative; groups that are not listed have a weight of zero.\n",
		InReport: "The standard population for standardised rates.",
		in:       func(r *Request) *string { return &r.Standard },
		check: func(c checker, _ *Parameter, p *Params) {
			if p.StandardAsked = given(c.request.Standard); p.StandardAsked != nil {
				p.standard = c.standard(c.request.Standard)
			}
		},
		value: func(p *Params) any { return orNil(p.StandardAsked) },
	}, {
		Name: "adjust", Type: Word, Words: []string{adjustCaseMix}, For: ForOutcomes,
		Label: "Adjust outcomes for", None: "nothing", Example: "case_mix", Client: "case_mix",
		Doc:   "`case_mix` adjusts outcomes for baseline pain, age, gender, depression (PHQ-9) and opioid use at baseline. The models are fitted to all patients of the organisation, so that the patients who match the filters can be compared with them.",
		in:    func(r *Request) *string { return &r.Adjust },
		check: func(c checker, of *Parameter, p *Params) { p.Adjust = given(c.word(of)) },
		value: func(p *Params) any { return orNil(p.Adjust) },
	}, {
		Name: "compare_start_date", Type: Day, For: ForOutcomes | ForPopulation,
		Label: "Compare with, from", Example: "2020-01-01", Client: "the first day of an earlier period to compare with, YYYY-MM-DD",
		Doc:      "The first UTC day of an earlier period to compare the main figures with. If only `compare_end_date` is given, the earlier period is as long as the period itself.",
		InReport: "YYYY-MM-DD, the first day of an earlier period to compare with.",
		in:       func(r *Request) *string { return &r.CompareStart },
		value:    func(p *Params) any { return orNil(p.CompareStartDate) },
	}, {
		Name: "compare_end_date", Type: Day, For: ForOutcomes | ForPopulation,
		Label: "Compare with, to", Example: "2020-12-31", Client: "the last day of that period, YYYY-MM-DD",
		Doc:      "The last UTC day of the earlier period; must be before `start_date`. If only `compare_start_date` is given, it is the day before `start_date`.",
		InReport: "YYYY-MM-DD, the last day of that period, before `start_date`.",
		in:       func(r *Request) *string { return &r.CompareEnd },
		value:    func(p *Params) any { return orNil(p.CompareEndDate) },
	},
}

// Params validates a request and adds errors to fields. today is the last day
// with possible data.
func (r Request) Params(today pain.Date, fields *fault.Fields) (p Params) {
	c := checker{fields, &r}
	for i := range Parameters {
		if of := &Parameters[i]; of.check != nil {
			of.check(c, of, &p)
		}
	}
	if c.period(&p, today.DayNumber()) { // the dates depend on each other
		c.earlier(&p)
	}
	return p
}

// Set sets a parameter by name. It reports whether there is one of that name.
func (r *Request) Set(name, value string) (ok bool) {
	i := slices.IndexFunc(Parameters, func(of Parameter) bool { return of.Name == name })
	if i < 0 {
		return false
	}
	*Parameters[i].in(r) = value
	return true
}
