package series

import "anodyne.example/anodyne/internal/pain"

// Adder adds the records of one patient. Many of their values are equal, such as
// scores, and it decodes each only once.
type Adder struct {
	scores      map[pain.Value]Score
	assessments map[pain.Value]Assessment
}

// NewAdder returns an Adder.
func NewAdder() *Adder {
	return &Adder{scores: map[pain.Value]Score{}, assessments: map[pain.Value]Assessment{}}
}

// Add appends a record, as [Series.Add] does.
func (a *Adder) Add(s *Series, rec *pain.Record) error {
	at, v := rec.RecordedAt, rec.Value
	switch rec.Type {
	case pain.TypePainScores:
		if score, known := a.scores[v]; known {
			score.At = at.UnixMilli()
			s.Scores = append(s.Scores, score)
			return nil
		}
		if err := s.addScore(at, v); err != nil {
			return err
		}
		a.scores[v] = s.Scores[len(s.Scores)-1]
	case pain.TypeAssessments:
		if assessment, known := a.assessments[v]; known {
			assessment.At = at.UnixMilli()
			s.Assessments = append(s.Assessments, assessment)
			return nil
		}
		if err := s.addAssessment(at, v); err != nil {
			return err
		}
		a.assessments[v] = s.Assessments[len(s.Assessments)-1]
	case pain.TypeMedications:
		m, err := rec.Medication()
		if err != nil {
			return err
		}
		s.addPrescription(m, at)
	default:
		return s.Add(rec.Type, at, v)
	}
	return nil
}
