package portal

import (
	"encoding/json"
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain"
)

type analyticsPage struct {
	Request    analytics.Request
	Wrong      []string
	Outcomes   *analytics.Outcomes
	Population *analytics.Population
	Tiles      []tile
	Drawings   []drawing
	Measures   []measure
	Sheets     []sheet
}

// tile is a single figure and its caption.
type tile struct{ Figure, Words string }

// measure is one row of the table of aligned measures.
type measure struct {
	Name, Numerator, Patients, Share, Unknown, Excluded, Of string
	Proxy, Higher                                           bool
}

func measuresOf(list []analytics.Measure) (rows []measure) {
	for i := range list {
		m := &list[i]
		rate := m.Rate()
		rows = append(rows, measure{m.Name, m.Numerator, figure.OfN(rate), figure.Share(rate), figure.Count(m.Undetermined), figure.Excluded(m), m.Denominator,
			m.Proxy, m.Direction == analytics.HigherIsBetter})
	}
	return rows
}

// analytics shows treatment outcomes and population health.
func (p *Portal) analytics(v *visit) error {
	page := analyticsPage{}
	for name, values := range v.r.URL.Query() {
		if !page.Request.Set(name, strings.TrimSpace(values[0])) {
			return fault.New(fault.InvalidParameter, "The filter "+name+" is unknown.")
		}
	}
	var fields fault.Fields
	params := page.Request.Params(pain.DateOf(v.now), &fields)
	if err := fields.Err(); err != nil {
		_, words := statusOf(err)
		page.Wrong, v.status = []string{words}, 400
		return v.show("analytics", "Analytics", page)
	}
	var err error
	if page.Outcomes, err = p.Cohorts.Outcomes(v.r.Context(), v.org, &params, v.now); err != nil {
		return err
	}
	if page.Population, err = p.Cohorts.Population(v.r.Context(), v.org, &params, v.now); err != nil {
		return err
	}
	if err := page.draw(); err != nil {
		return err
	}
	page.Sheets = page.sheets()
	if err := v.sawAnalytics(&params); err != nil {
		return err
	}
	return v.show("analytics", "Analytics", page)
}

func (v *visit) sawAnalytics(params *analytics.Params) error {
	details, err := json.Marshal(map[string]any{"analytics": "portal", "parameters": params})
	if err != nil {
		return err
	}
	line := v.line()
	line.Action, line.Details = audit.AnalyticsRead, details
	return v.org.Saw(&line)
}

func (a *analyticsPage) draw() error {
	o, p := a.Outcomes, a.Population
	a.Measures = measuresOf(p.Measures)
	a.Tiles = []tile{
		{figure.Counted(o.Cohort.Patients), "patients match the filters" + figure.NotKnown(o.Cohort.Undetermined.Count)},
		{figure.Num(o.FollowUp.Change.Mean), "points of change in pain; mean and 95 % interval " + figure.Mean(&o.FollowUp.Change) + ", " + figure.Count(o.FollowUp.Change.N) + " patients"},
		{figure.Rate(o.Response.Responder30.Count, o.Response.Responder30.N), "30 % improvement or more, " + figure.OfN(&o.Response.Responder30)},
		{figure.Rate(p.Opioids.AtLeast50.Count, p.Opioids.AtLeast50.N), "reach 50 MME a day, " + figure.OfKnown(&p.Opioids.AtLeast50)},
	}
	responders := figure.Responders(&o.Response)
	trend, err := figure.Trend(&o.Trend)
	if err != nil {
		return err
	}
	survival, sites := figure.TimeToResponse(&o.TimeToResponse), figure.Split("Site", &o.Cohort.BySite)
	ages, genders, classes := figure.Split("Age", &p.AgeBands), figure.Split("Gender", &p.Genders), figure.Classes(p.Treatments.Classes)
	a.Drawings = []drawing{
		drawRows("responders", "Share of patients who got better or worse, with 95 % intervals (Wilson)", responders, len(responders.Rows), 1),
		draw("trend", "Mean pain, one value per patient; the number of patients is shown below the axis", trend, 260),
	}
	if len(survival.Steps) > 0 {
		a.Drawings = append(a.Drawings, draw("survival", "Share of patients without a confirmed response of 30 % (Kaplan-Meier)", survival, 270))
	}
	a.Drawings = append(a.Drawings,
		drawRows("sites", "Body site and side compared: for each patient, the one with the most scores at baseline", sites, len(sites.Rows), 1),
		drawRows("severity", "Severity of the latest score", figure.Severity(&p.Severity), 1, 2),
		draw("doses", strings.TrimSpace("Patients by their highest daily opioid dose in the period. "+figure.DosesNotKnown(&p.Opioids.MME.Peak.Bands)), figure.Doses(&p.Opioids.MME.Peak.Bands), 220),
		drawRows("classes", "Patients with a medicine of the class; a patient can have several", classes, len(classes.Rows), 1),
		drawRows("ages", "Age at the end of the period", ages, len(ages.Rows), 1),
		drawRows("genders", "Gender", genders, len(genders.Rows), 1),
	)
	return nil
}
