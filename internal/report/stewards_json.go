package report

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/summary"
)

// stewardshipJSON is the JSON form without the patients.
type stewardshipJSON struct {
	GeneratedAt string            `json:"generated_at"`
	Title       string            `json:"title"`
	StartDate   string            `json:"start_date"`
	EndDate     string            `json:"end_date"`
	Filters     map[string]string `json:"filters"`
	Table       string            `json:"mme_table"`
	Caveat      string            `json:"caveat"`
	Looked      int               `json:"patients_looked_at"`
	Counts      stewardshipCounts `json:"counts"`

	Measures []analytics.Measure `json:"measures"`
}

// stewardshipCounts counts listed patients with some property. Those under
// undetermined are not decided by the available data.
type stewardshipCounts struct {
	Listed  int            `json:"listed"`
	Current int            `json:"current"`
	Bands   map[string]int `json:"mme_bands"`
	riskCounts
	Incomplete   int `json:"incomplete"`
	Assumed      int `json:"assumed"` // with figures that depend on assumed days
	OutOfScope   int `json:"out_of_guideline_scope"`
	Undetermined struct {
		Exposed int `json:"opioid_exposure"`
		Current int `json:"current"`
		riskCounts
	} `json:"undetermined"`
}

// riskCounts counts patients by risk.
type riskCounts struct {
	AtLeast50       int `json:"ge_50"`
	AtLeast90       int `json:"ge_90"`
	Overlap         int `json:"opioid_benzo_overlap"`
	NaloxoneGap     int `json:"naloxone_gap"`
	NoUDS           int `json:"no_uds_12_months"`
	NoPEG           int `json:"no_peg_12_months"`
	ManyPrescribers int `json:"prescribers_ge_4"`
}

// stewardshipJSONRow is the JSON form of a patient.
type stewardshipJSONRow struct {
	PatientID       string   `json:"patient_id"`
	Name            string   `json:"name"`
	DateOfBirth     string   `json:"date_of_birth"`
	Age             int      `json:"age"`
	Opioids         []string `json:"opioids"`
	Exposed         *bool    `json:"opioid_exposure"`
	Current         *bool    `json:"current"`
	Unclassified    []string `json:"unclassified"`
	MME             *float64 `json:"mme"`
	Band            *string  `json:"mme_band"`
	MMEIncomplete   bool     `json:"mme_incomplete"`
	Peak            *float64 `json:"mme_peak"`
	PeakOverlapped  *float64 `json:"mme_peak_overlapped"`
	Average         *float64 `json:"mme_average"`
	MMEAssumed      bool     `json:"mme_assumed"`
	AssumedDays     int      `json:"assumed_days"`
	Incomplete      bool     `json:"incomplete"`
	OpioidDays      int      `json:"opioid_days"`
	MostOpioidDays  int      `json:"most_opioid_days"`
	AtLeast50       *bool    `json:"ge_50"`
	AtLeast90       *bool    `json:"ge_90"`
	Overlap         *bool    `json:"opioid_benzo_overlap"`
	OverlapDays     int      `json:"overlap_days"`
	NaloxoneGap     *bool    `json:"naloxone_gap"`
	NaloxoneReasons []string `json:"naloxone_reasons"`
	LastNaloxone    *string  `json:"last_naloxone"`
	LastUDS         *string  `json:"last_uds"`
	UDSWithinYear   bool     `json:"uds_within_12_months"`
	UnexpectedUDS   bool     `json:"unexpected_uds"`
	LastPEG         *string  `json:"last_peg"`
	PEGWithinYear   bool     `json:"peg_within_12_months"`
	Prescribers     int      `json:"prescribers"`
	MostPrescribers int      `json:"most_prescribers"`
	Pharmacies      int      `json:"pharmacies"`
	OutOfScope      bool     `json:"out_of_guideline_scope"`
}

func (d *Stewardship) jsonRow(r *StewardshipRow) stewardshipJSONRow {
	text := func(day pain.Date) *string {
		if day == (pain.Date{}) {
			return nil
		}
		return new(day.String())
	}
	listed := func(list []string) []string { return append([]string{}, list...) } // never null
	return stewardshipJSONRow{
		PatientID: r.PatientID, Name: r.Name, DateOfBirth: r.DateOfBirth.String(), Age: r.Age, Opioids: listed(r.Opioids),
		Exposed: r.Exposed, Current: r.Current, Unclassified: listed(r.Unclassified), MMEIncomplete: r.MMEIncomplete, MostOpioidDays: r.MostOpioidDays, MostPrescribers: r.MostPrescribers,
		MME: oneDecimal(r.MME), Band: r.band(), Peak: oneDecimal(r.Peak), PeakOverlapped: oneDecimal(r.PeakOverlapped), MMEAssumed: r.MMEAssumed, AssumedDays: r.AssumedDays, Average: oneDecimal(r.Average), Incomplete: r.Incomplete, OpioidDays: r.OpioidDays,
		AtLeast50: r.atLeast(50), AtLeast90: r.atLeast(90), Overlap: r.Overlap, OverlapDays: r.OverlapDays,
		NaloxoneGap: r.NaloxoneGap, NaloxoneReasons: listed(r.NaloxoneReasons), LastNaloxone: text(r.LastNaloxone),
		LastUDS: text(r.LastUDS), UDSWithinYear: d.withinYear(r.LastUDS), UnexpectedUDS: r.UnexpectedUDS,
		LastPEG: text(r.LastPEG), PEGWithinYear: d.withinYear(r.LastPEG),
		Prescribers: r.Prescribers, Pharmacies: r.Pharmacies, OutOfScope: r.OutOfScope,
	}
}

func (d *Stewardship) counts() stewardshipCounts {
	c := stewardshipCounts{Listed: len(d.Rows), Bands: map[string]int{summary.UnknownBand: 0}}
	for _, mme := range []float64{0, 1, 20, 50, 90} {
		c.Bands[drug.Band(mme)] = 0
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		if band := r.band(); band != nil {
			c.Bands[*band]++
		} else {
			c.Bands[summary.UnknownBand]++
		}
		open := &c.Undetermined
		for _, of := range []struct {
			holds    *bool
			yes, may *int
		}{
			{r.Exposed, new(int), &open.Exposed}, {r.Current, &c.Current, &open.Current},
			{r.atLeast(50), &c.AtLeast50, &open.AtLeast50}, {r.atLeast(90), &c.AtLeast90, &open.AtLeast90},
			{r.Overlap, &c.Overlap, &open.Overlap}, {r.NaloxoneGap, &c.NaloxoneGap, &open.NaloxoneGap},
			{d.lacks(r, r.LastUDS), &c.NoUDS, &open.NoUDS}, {d.lacks(r, r.LastPEG), &c.NoPEG, &open.NoPEG},
			{r.severalPrescribers(), &c.ManyPrescribers, &open.ManyPrescribers},
		} {
			tally(of.yes, is(of.holds))
			tally(of.may, of.holds == nil)
		}
		tally(&c.Incomplete, r.Incomplete)
		tally(&c.Assumed, r.AssumedDays > 0)
		tally(&c.OutOfScope, r.OutOfScope)
	}
	return c
}

func tally(n *int, holds bool) {
	if holds {
		*n++
	}
}

// writeJSON writes the patients one by one, because there may be many.
func (d *Stewardship) writeJSON(w io.Writer) error {
	top := stewardshipJSON{
		GeneratedAt: d.AsOf.UTC().Format(time.RFC3339), Title: d.Title, StartDate: d.From.String(), EndDate: d.To.String(), Filters: map[string]string{},
		Table: drug.MMETable, Caveat: summary.Caveat, Looked: d.Patients, Counts: d.counts(), Measures: append([]analytics.Measure{}, d.Measures...), // never null
	}
	for _, f := range d.Filters {
		top.Filters[f.Name] = f.Value
	}
	var b bytes.Buffer
	if err := encode(&b, top); err != nil {
		return err
	}
	text := bytes.TrimSuffix(bytes.TrimSpace(b.Bytes()), []byte("}"))
	if _, err := w.Write(append(text, `,"patients":[`...)); err != nil {
		return err
	}
	var line []byte
	for i := range d.Rows {
		row, err := json.Marshal(d.jsonRow(&d.Rows[i]))
		if err != nil {
			return err
		}
		line = line[:0]
		if i > 0 {
			line = append(line, ',')
		}
		if _, err := w.Write(append(line, row...)); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}
