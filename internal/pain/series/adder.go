package series

import (
	"time"

	"anodyne.example/anodyne/internal/pain"
)

// Adder adds the records of one patient. Many of their values are equal, such as
// scores and repeated prescriptions, and it decodes each only once.
type Adder struct {
	scores      map[pain.Value]Score
	assessments map[pain.Value]Assessment
	medications map[pain.Value]*pain.Medication
}

// NewAdder returns an Adder.
func NewAdder() *Adder {
	return &Adder{scores: map[pain.Value]Score{}, assessments: map[pain.Value]Assessment{}, medications: map[pain.Value]*pain.Medication{}}
}

// Add appends a record, as [Series.Add] does.
func (a *Adder) Add(s *Series, t pain.DataType, at time.Time, v pain.Value) error {
	switch t {
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
		m := a.medications[v]
		if m == nil {
			read, err := pain.ReadMedication(v)
			if err != nil {
				return err
			}
			m = &read
			a.medications[v] = m
		}
		s.addPrescription(m, at)
	default:
		return s.Add(t, at, v)
	}
	return nil
}
