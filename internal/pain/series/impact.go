package series

import (
	"errors"

	"anodyne.example/anodyne/internal/pain"
)

// addImpact adds how often there was pain, or how often it limited life or
// work. Other functional measures are ignored.
func (s *Series) addImpact(rec *pain.Record) error {
	f, err := rec.FunctionalStatus()
	if err != nil {
		return err
	}
	asks, level := Question(questions.code(f.Measure)), Level(levels.code(f.Value.Text))
	if asks != 0 && level != 0 {
		s.Impacts = append(s.Impacts, Impact{rec.RecordedAt.UnixMilli(), asks, level})
	}
	return nil
}

// addScreen adds the day of a drug screen. Other laboratory results are
// ignored.
func (s *Series) addScreen(rec *pain.Record) error {
	lab, err := rec.Lab()
	if err != nil {
		return err
	}
	if lab.LOINC == "" && lab.Analyte == "" {
		return errors.New("stored value: not a laboratory result")
	}
	if lab.Analyte != "" && lab.Result != "" {
		s.Screens = append(s.Screens, pain.DateOf(rec.RecordedAt).DayNumber())
	}
	return nil
}
