package report

// whoWasLookedAt shows how the cohort is composed.
func (p *populationPages) whoWasLookedAt() {
	c, o := &p.Cohort, &p.Opioids
	matched, active, scored, exposed := c.Patients.Count, c.Active.Count, p.Severity.Bands.N, o.Exposure.Count
	p.flow([]step{
		{"match the filters", matched, nil, ""},
		{"no record in the period", c.Inactive.Count, matched, ""},
		{"active: a record in the period", active, matched, ""},
		{"average or current pain score in the period", scored, active, ""},
		{"opioid use unknown", o.Exposure.Undetermined, active, ""},
		{"opioid in the period", exposed, active, ""},
		{"dose known on all its days", o.MME.Peak.N, exposed, ""},
	})
}
