package summary

import (
	"cmp"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/pain/series"
)

// Instrument is the patient's state on a questionnaire.
type Instrument struct {
	Instrument string `json:"instrument"`
	RecordedAt string `json:"recorded_at"`
	Status     string `json:"status"`
	// Score is null if the latest answers cannot be scored.
	Score    *float64  `json:"score"`
	Band     string    `json:"band"`
	Previous *Previous `json:"previous"`
	Change   *float64  `json:"change"`
	// MCIDMet reports whether the change is clinically important, by points or
	// by percentage. It is null if there is no change or no published
	// threshold.
	MCIDMet *bool `json:"mcid_met"`
}

// Previous is the last scored assessment before the latest.
type Previous struct {
	RecordedAt string   `json:"recorded_at"`
	Score      *float64 `json:"score"`
}

// instruments lists the answered instruments in table order.
func (e *evidence) instruments() []Instrument {
	list := []Instrument{}
	for _, info := range instrument.All() {
		of := series.InstrumentOf(info.Name)
		var latest, previous *series.Assessment
		for i := range e.Series.Assessments {
			a := &e.Series.Assessments[i]
			if a.Instrument != of || a.At >= e.before {
				continue
			}
			if latest != nil && latest.Score.Known {
				previous = latest
			}
			latest = a
		}
		if latest != nil {
			list = append(list, instrumentOf(&info, latest, previous))
		}
	}
	return list
}

func instrumentOf(info *instrument.Info, latest, previous *series.Assessment) Instrument {
	in := Instrument{Instrument: info.Name, RecordedAt: moment(latest.At), Status: latest.Status.String(), Score: oneDecimal(latest.Score)}
	if latest.Score.Known {
		in.Band = info.BandOf(latest.Score.Number)
	}
	if previous == nil {
		return in
	}
	in.Previous = &Previous{moment(previous.At), oneDecimal(previous.Score)}
	if latest.Score.Known {
		in.Change = rounded(latest.Score.Number-previous.Score.Number, 1)
		if info.Change.Points > 0 || info.Change.Percent > 0 {
			points, percent := info.Change.Met(previous.Score.Number, latest.Score.Number)
			in.MCIDMet = new(points || percent)
		}
	}
	return in
}

// Procedure is an intervention with pain before and after.
type Procedure struct {
	RecordID      string   `json:"record_id"`
	RecordedAt    string   `json:"recorded_at"`
	ProcedureType string   `json:"procedure_type"`
	BodySite      string   `json:"body_site"`
	Laterality    string   `json:"laterality"`
	Level         string   `json:"level"`
	PreScore      *float64 `json:"pre_score"`
	PostScore     *float64 `json:"post_score"`
	ReliefPercent *float64 `json:"relief_percent"`
}

// maxProcedures limits the procedures shown to the newest.
const maxProcedures = 20

type procedure struct {
	record *pain.Record
	value  pain.Procedure
}

func (e *evidence) readProcedure(rec *pain.Record) error {
	v, err := pain.ReadProcedure(rec.Value)
	if err == nil && rec.RecordedAt.UnixMilli() < e.before {
		e.treatments = append(e.treatments, procedure{rec, v})
	}
	return err
}

// procedures lists the newest procedures, newest last.
func (e *evidence) procedures() []Procedure {
	list := []Procedure{}
	done := slices.Clone(e.treatments)
	slices.SortFunc(done, func(a, b procedure) int {
		return cmp.Or(a.record.RecordedAt.Compare(b.record.RecordedAt), strings.Compare(a.record.ID.String(), b.record.ID.String()))
	})
	for _, p := range done[max(0, len(done)-maxProcedures):] {
		list = append(list, Procedure{
			RecordID: p.record.ID.String(), RecordedAt: pain.Moment(p.record.RecordedAt), ProcedureType: p.value.ProcedureType, BodySite: p.value.BodySite,
			Laterality: p.value.Laterality, Level: p.value.Level,
			PreScore: numberOf(p.value.PreScore), PostScore: numberOf(p.value.PostScore), ReliefPercent: numberOf(p.value.ReliefPercent),
		})
	}
	return list
}
