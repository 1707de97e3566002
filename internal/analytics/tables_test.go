package analytics

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/pain/series"
)

// A code beyond the size of a table would be counted as another.
func TestEveryNumberHasRoom(t *testing.T) {
	t.Parallel()
	for _, c := range drug.Classes() {
		if code := series.ClassOf(c); code == 0 || code >= classCodes {
			t.Errorf("the class %s has the number %d of %d", c, code, classCodes)
		}
	}
	for _, i := range instrument.All() {
		if code := series.InstrumentOf(i.Name); code == 0 || code >= instrumentCodes {
			t.Errorf("the instrument %s has the number %d of %d", i.Name, code, instrumentCodes)
		}
	}
	for code := procedureCodes; code <= 255; code++ {
		if word := series.ProcedureType(code).String(); word != "" {
			t.Errorf("the procedure %s has the number %d of %d", word, code, procedureCodes)
		}
	}
}

// Each class is an opioid, treats pain besides opioids, or is known to do
// neither; what is not understood is counted apart.
func TestEveryClassIsJudged(t *testing.T) {
	t.Parallel()
	neither := []drug.Class{drug.Benzodiazepine, drug.OpioidAntagonist, drug.Other, drug.Unclassified}
	for _, c := range drug.Classes() {
		judged := 0
		for _, is := range []bool{setOf(c)&opioids != 0, setOf(c)&nonOpioids != 0, slices.Contains(neither, c)} {
			if is {
				judged++
			}
		}
		if judged != 1 {
			t.Errorf("%s is judged %d times", c, judged)
		}
	}
}

func TestEveryMeasureHasWords(t *testing.T) {
	t.Parallel()
	for _, name := range measureNames {
		if measureWords[name] == "" {
			t.Errorf("%s has no words", name)
		}
	}
	for score := range 11 {
		if band := pain.DefaultScheme.Of(float64(score)); !slices.Contains([]pain.Severity{pain.NoPain, pain.Mild, pain.Moderate, pain.Severe}, band) {
			t.Errorf("a score of %d is %q, which is counted as none", score, band)
		}
	}
	for mme := range 200 {
		if !slices.Contains(bandNames, drug.Band(float64(mme))) {
			t.Errorf("%d MME are in the band %q, which is not counted", mme, drug.Band(float64(mme)))
		}
	}
}
