package pain

import "regexp"

// Procedure is an intervention or a course of therapy.
type Procedure struct {
	ProcedureType string
	BodySite      string
	Level         string
	Laterality    string
	Performer     string
	CPTCode       string
	PreScore      Number
	PostScore     Number
	ReliefPercent Number
	Complication  string
	Derived       ProcedureDerived
}

// ProcedureDerived holds the values derived from a procedure.
type ProcedureDerived struct {
	PercentChange Number // of pain; null if there was none before
}

// Limits of short text fields in values, in characters.
const (
	maxShort = 200
	maxLabel = 50
	maxWords = 1000
)

var procedureTypes = []string{"epidural_steroid", "facet_injection", "medial_branch_block", "radiofrequency_ablation", "nerve_block",
	"trigger_point", "joint_injection", "scs_trial", "scs_implant", "intrathecal_pump", "physical_therapy", "cbt", "acupuncture", "other"}

var procedures = kind[Procedure]{
	members: []member[Procedure]{
		word("procedure_type", func(v *Procedure) *string { return &v.ProcedureType }, procedureTypes).must(),
		word("body_site", func(v *Procedure) *string { return &v.BodySite }, siteNames()),
		line("level", func(v *Procedure) *string { return &v.Level }, maxLabel).means("such as L4-L5").with(Removed),
		word("laterality", func(v *Procedure) *string { return &v.Laterality }, lateralities),
		line("performer", func(v *Procedure) *string { return &v.Performer }, maxShort).with(Removed),
		pattern("cpt_code", func(v *Procedure) *string { return &v.CPTCode }, regexp.MustCompile(`^[0-9]{4}[0-9A-Z]$`), "62323").with(Kept),
		number("pre_score", func(v *Procedure) *Number { return &v.PreScore }, between(0, 10)),
		number("post_score", func(v *Procedure) *Number { return &v.PostScore }, between(0, 10)),
		number("relief_percent", func(v *Procedure) *Number { return &v.ReliefPercent }, between(0, 100)).means("as reported by the patient"),
		line("complication", func(v *Procedure) *string { return &v.Complication }, maxWords).with(Removed),
		nested("derived", func(v *Procedure) *ProcedureDerived { return &v.Derived }, []member[ProcedureDerived]{
			result("percent_change", func(v *ProcedureDerived) *Number { return &v.PercentChange }).means("change in pain from pre_score to post_score; null if pre_score is 0"),
		}).derived(),
	},
	derive: func(v *Procedure) {
		before, okBefore := v.PreScore.Get()
		after, okAfter := v.PostScore.Get()
		switch {
		case !okBefore || !okAfter:
		case before == 0:
			v.Derived.PercentChange = none[float64]()
		default:
			v.Derived.PercentChange = Some(100 * (after - before) / before)
		}
	},
}
