package chart

// Proportions shows proportions of groups with their intervals, such as
// responders.
type Proportions struct {
	Title string
	Rows  []Proportion
}

// Proportion is a proportion from 0 to 1. If it is nil, Words explains whether
// there is none or it is hidden.
type Proportion struct {
	Label     string
	Share     *float64
	Low, High *float64
	Words     string // "18 of 40", or why there is no proportion
}

func (p *Proportion) words() string {
	if p.Share == nil {
		return p.Words
	}
	text := percent(*p.Share)
	if p.Low != nil && p.High != nil {
		text += " (" + Decimals(100**p.Low, 1) + " to " + Decimals(100**p.High, 1) + ")"
	}
	if p.Words != "" {
		text += ", " + p.Words
	}
	return text
}

// Draw lays out the chart.
func (c *Proportions) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, "Shares with 95 % confidence intervals, which are drawn as whiskers.")
	texts := make([]rowText, len(c.Rows))
	for i := range c.Rows {
		texts[i] = rowText{c.Rows[i].Label, c.Rows[i].words()}
	}
	r := layRows(s, size, size*0.4, size*1.8, texts)
	r.start, r.end = 0, 100
	r.verticals(percentTicks)
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.Share == nil {
			continue
		}
		middle := r.middle(i)
		half := min(r.height*0.3, size*0.7)
		s.rect(box{r.x(0), middle - half, r.x(100 * *row.Share), middle + half}, AccentSoft, pen{Accent, 0.8, nil})
		r.whisker(middle, half*0.6, row.Low, row.High, 100)
	}
	return s
}

// Table lists the proportions.
func (c *Proportions) Table() (header []string, table [][]string) {
	for i := range c.Rows {
		table = append(table, []string{c.Rows[i].Label, c.Rows[i].words()})
	}
	return []string{"Group", "Share (95 % CI)"}, table
}
