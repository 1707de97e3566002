package analytics

import "anodyne.example/anodyne/internal/pain/series"

// A place is a body site and a side, as one number.
const (
	siteCodes  = 32
	sideCodes  = 8
	placeCodes = siteCodes * sideCodes
)

func placeOf(k series.Kind) int { return int(k.Site)%siteCodes*sideCodes + int(k.Side)%sideCodes }

// placeName returns a name such as "knee, left", as far as stated.
func placeName(place int) string {
	site, side := series.Site(place/sideCodes).String(), series.Side(place%sideCodes).String()
	if site == "" {
		site = noSite
	}
	if side == "" {
		return site
	}
	return site + ", " + side
}

// noSite stands for pain without a stated site.
const noSite = "not stated"

// printPlaces prints the locations of the primary outcome that any patient
// has, in order, and the number without a stated site.
func (t *OutcomesTally) printPlaces(l *ledger, into *Split, scored *cell) {
	var names []string
	var had []int
	for place, n := range t.places {
		if n > 0 || place == 0 {
			names, had = append(names, placeName(place)), append(had, n)
		}
	}
	l.split(into, defSite, ofScored, scored, names, l.cellsOf(had))
}
