package pain

import "slices"

// Severity is a severity band of pain.
type Severity string

// The severities.
const (
	NoPain   Severity = "none"
	Mild     Severity = "mild"
	Moderate Severity = "moderate"
	Severe   Severity = "severe"
)

// Scheme divides scores into severity bands. There is no universal scheme, so
// every band is shown with the name of its scheme.
type Scheme struct {
	Name     string  `json:"name"`
	Max      float64 `json:"max"`           // of the scores it applies to
	Moderate float64 `json:"moderate_from"` // scores above 0 and below this are mild
	Severe   float64 `json:"severe_from"`
	Source   string  `json:"source"`
}

// The schemes. A band begins at its lowest whole score, also for means and
// other fractions: 3.9 is mild in the default scheme.
var (
	DefaultScheme   = Scheme{"default", 10, 4, 7, "customary: 1-3, 4-6, 7-10"}
	SerlinScheme    = Scheme{"serlin", 10, 5, 7, "Serlin 1995, of cancer pain: 1-4, 5-6, 7-10"}
	MSKScheme       = Scheme{"msk_nrs", 10, 6, 8, "doi 10.3389/fpsyg.2016.01466, musculoskeletal pain: up to 5, 6-7, from 8"}
	VASInterference = Scheme{"vas_interference", 100, 35, 65, "Boonstra 2014, by interference: up to 34, 35-64, from 65 mm"}
	VASLabel        = Scheme{"vas_label", 100, 35, 75, "Boonstra 2014, by verbal label: up to 34, 35-74, from 75 mm"}
	VRSScheme       = Scheme{"vrs4", 3, 2, 3, "the words of the scale"}
)

var schemes = []Scheme{DefaultScheme, SerlinScheme, MSKScheme, VASInterference, VASLabel, VRSScheme}

// Schemes lists the schemes, with the default first.
func Schemes() []Scheme { return slices.Clone(schemes) }

// Severities are the bands in ascending order.
var Severities = [...]Severity{NoPain, Mild, Moderate, Severe}

// Of returns the band of a score or of a mean of scores.
func (s *Scheme) Of(score float64) Severity { return Severities[s.Rank(score)] }

// Rank returns the index of the band of a score in [Severities].
func (s *Scheme) Rank(score float64) int {
	switch {
	case score >= s.Severe:
		return 3
	case score >= s.Moderate:
		return 2
	case score > 0:
		return 1
	}
	return 0
}

// Scale is a scale of pain intensity.
type Scale struct {
	Name  string  `json:"name"`
	Max   float64 `json:"max"` // the lowest score is 0
	Step  float64 `json:"step"`
	LOINC string  `json:"loinc,omitempty"`
	// PerPoint is the number of scores that correspond to one point of 0-10, or
	// 0 if the scale cannot be converted.
	PerPoint float64 `json:"scores_per_point"`
	Scheme   string  `json:"scheme"`
}

var scales = []Scale{
	{Name: "nrs", Max: 10, Step: 1, LOINC: "72514-3", PerPoint: 1, Scheme: DefaultScheme.Name},
	{Name: "vas", Max: 100, Step: 1, LOINC: "38214-3", PerPoint: 10, Scheme: DefaultScheme.Name},
	{Name: "vrs4", Max: 3, Step: 1, Scheme: VRSScheme.Name},
	{Name: "fps_r", Max: 10, Step: 2, PerPoint: 1, Scheme: DefaultScheme.Name},
}

// Scales lists the scales of pain intensity.
func Scales() []Scale { return slices.Clone(scales) }

func scaleNamed(name string) *Scale {
	for i := range scales {
		if scales[i].Name == name {
			return &scales[i]
		}
	}
	return nil
}

// Normalize converts a score to 0-10, if the scale can be converted.
func (s *Scale) Normalize(score float64) (_ float64, ok bool) {
	if s.PerPoint == 0 {
		return 0, false
	}
	return score / s.PerPoint, true
}

// holds reports whether a score is valid on the scale.
func (s *Scale) holds(score float64) bool {
	steps := score / s.Step
	return score >= 0 && score <= s.Max && steps == float64(int(steps))
}

func (s *Scale) problem() string {
	b := []byte("must be a whole number from 0 to ")
	if s.Step == 2 {
		b = []byte("must be an even number from 0 to ")
	}
	b = appendNumber(b, s.Max)
	return string(append(b, " on the scale "+s.Name+"."...))
}

// severity returns the band of a score and its scheme.
func (s *Scale) severity(score float64) (Severity, string) {
	if s.PerPoint == 0 {
		return VRSScheme.Of(score), VRSScheme.Name
	}
	return DefaultScheme.Of(score / s.PerPoint), DefaultScheme.Name
}
