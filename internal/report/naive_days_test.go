package report

import (
	"fmt"
	"slices"
)

// The days on which medicines count as taken, each day by itself.

// layOut finds the days of all prescriptions.
func (n *naive) layOut() {
	for i := range n.drugs {
		n.drugs[i].days, n.drugs[i].overlapped = map[int]bool{}, map[int]bool{}
	}
	for i := range n.drugs {
		for k := range n.drugs {
			p, other := &n.drugs[i], &n.drugs[k]
			if p.isNotice() && p.sameAs(other) && !other.over && other.first < p.first {
				p.gone = true
			}
		}
	}
	for i := range n.drugs {
		for k := range n.drugs {
			p, other := &n.drugs[i], &n.drugs[k]
			if p.first == other.first && p.product != "" && p.product == other.product && p.supply > 0 && other.supply > 0 &&
				p.reason == "" && other.reason == "" && p.mme != other.mme && !p.gone && !other.gone {
				p.beside = true
			}
		}
	}
	hands := map[string][]*handful{}
	for day := n.to - 800; day <= n.to; day++ {
		for i := range n.drugs {
			p := &n.drugs[i]
			if p.gone || day < p.first || !p.open && day > p.last || p.open && !n.openOn(p, day) || n.stoppedBy(p, day) {
				continue
			}
			p.overlapped[day] = true
			if !p.carries() {
				p.days[day] = true
			}
		}
		n.consume(hands, day)
	}
}

// handful is tablets at hand.
type handful struct {
	of   *prescription
	left int
	end  int // the last day on which they are taken
}

// consume takes a day's tablets of each product from the oldest at hand.
func (n *naive) consume(hands map[string][]*handful, day int) {
	for i := range n.drugs {
		p := &n.drugs[i]
		if p.first != day || !p.carries() || p.gone {
			continue
		}
		for _, h := range hands[p.product] {
			h.end = min(h.end, day+29)
		}
		h := &handful{p, p.supply, 1 << 30}
		if p.ended {
			h.end = p.end
		}
		hands[p.product] = append(hands[p.product], h)
	}
	for product, list := range hands {
		for len(list) > 0 && (list[0].left == 0 || list[0].end < day || n.stoppedBy(list[0].of, day)) {
			list = list[1:]
		}
		if len(list) > 0 {
			list[0].left--
			list[0].of.days[day] = true
		}
		hands[product] = list
	}
}

// identify says which prescriptions are of the same medicine and product.
func (p *prescription) identify() {
	route := text(p.value, "route", "oral")
	if text(p.value, "strength_unit", "") == "mcg/h" {
		route = "transdermal"
	}
	p.same = text(p.value, "name", "") + " " + route
	if strength, known := number(p.value["strength"]); known {
		p.product = fmt.Sprint(p.same, strength, p.value["strength_unit"])
	}
}

func (p *prescription) sameAs(other *prescription) bool {
	return p.same == other.same && (p.product == "" || other.product == "" || p.product == other.product)
}

// carries reports whether a refill of it waits until it is used up.
func (p *prescription) carries() bool { return p.supply > 0 && p.product != "" && !p.beside }

// isNotice reports whether it only says that the medicine was stopped.
func (p *prescription) isNotice() bool {
	return p.over && p.supply == 0 && (p.open && p.first == p.last || p.ended && p.first == p.end)
}

// openOn reports whether one without supply and end is taken on a day, stops by
// others apart.
func (n *naive) openOn(p *prescription, day int) bool {
	if day >= p.first+90 || p.over && day > p.first && day >= p.last {
		return false
	}
	return !slices.ContainsFunc(n.drugs, func(next prescription) bool {
		return next.same == p.same && !next.gone && next.first > p.first && next.first <= day
	})
}

// stoppedBy reports whether a later record says that it was stopped before a day.
func (n *naive) stoppedBy(p *prescription, day int) bool {
	return slices.ContainsFunc(n.drugs, func(by prescription) bool {
		if !by.over || by.first <= p.first || !by.sameAs(p) || text(by.value, "status", "") == "completed" && !by.isNotice() {
			return false
		}
		return by.open && day >= by.last || by.ended && day > by.end
	})
}
