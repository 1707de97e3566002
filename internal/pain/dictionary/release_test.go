package dictionary

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

func TestRelease(t *testing.T) {
	for name, want := range map[string]drug.Release{
		"OxyContin 20 mg": drug.Extended, "OxyContin": drug.Extended, "oxycodone ER 20 mg": drug.Extended, "MS Contin": drug.Extended, "morphine sulfate ER": drug.Extended,
		"MST 30": drug.Extended, "Nucynta ER 100": drug.Extended, "tramadol SR 100 mg": drug.Extended, "Longtec 20 mg": drug.Extended, "Avinza 30 mg": drug.Extended,
		"Percocet": drug.Immediate, "Roxicodone 15 mg": drug.Immediate, "oxycodone 5 mg": drug.Immediate, "oxycodone 20 mg tablet": drug.Immediate, "oxycodone IR": drug.Immediate,
		"Dilaudid 2 mg": drug.Immediate, "methadone 10 mg tablet": drug.Immediate, "Tylenol #3": drug.Immediate, "morphine 10 mg/5 mL oral solution": drug.Immediate,
		"oxycodone": drug.AnyRelease, "morphine": drug.AnyRelease, "fentanyl 25 mcg/h patch": drug.AnyRelease, "morphine 10 mg/mL injection": drug.AnyRelease, "Zzyzx": drug.AnyRelease,
	} {
		if m := Find(Query{Name: name}); m.Release != want {
			t.Errorf("%s: %d, want %d", name, m.Release, want)
		}
	}
	if m := Find(Query{RxNorm: "1049621"}); m.Release != drug.Immediate {
		t.Errorf("oxycodone hydrochloride 5 MG Oral Tablet: %d", m.Release)
	}
}
