package figure

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Every band of doses is shown in the charts.
func TestEveryBandIsDrawn(t *testing.T) {
	t.Parallel()
	for mme := 1; mme < 200; mme++ {
		bin, ok := DoseBands[drug.Band(float64(mme))]
		if !ok || float64(mme) < bin.Low || !bin.Open && float64(mme) >= bin.High {
			t.Errorf("%d MME are in the band %q, drawn from %v to %v", mme, drug.Band(float64(mme)), bin.Low, bin.High)
		}
	}
}
