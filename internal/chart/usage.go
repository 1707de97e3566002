package chart

import (
	"fmt"
	"strconv"
	"time"
)

// Usage shows the number of requests by hour and outcome.
type Usage struct {
	Title string
	Hours []UsageHour // in order, without gaps
}

// UsageHour is the requests of one hour.
type UsageHour struct {
	Start    time.Time
	OK       int // 2xx and 3xx
	Refused  int // 4xx except 429
	Limited  int // 429
	Failures int // 5xx
}

func (h *UsageHour) parts() [4]int { return [4]int{h.OK, h.Refused, h.Limited, h.Failures} }

var usageSigns = []sign{{"2xx, 3xx", AccentSoft, Plain}, {"other 4xx", FillMild, Rising}, {"429", FillModerate, Falling}, {"5xx", FillSevere, Crossed}}

// Draw lays out the chart.
func (c *Usage) Draw(f Frame) *Scene {
	size := f.text()
	most, sum := 0, 0
	for i := range c.Hours {
		total := 0
		for _, n := range c.Hours[i].parts() {
			total += n
		}
		most, sum = max(most, total), sum+total
	}
	s := newScene(f, c.Title, fmt.Sprintf("%s requests in %d hours; at most %s in one.", formatNumber(float64(sum)), len(c.Hours), formatNumber(float64(most))))
	ticks := wholeTicks(most, max(2, int(f.Height/(size*4))))
	p := &plot{Scene: s, size: size, high: ticks[len(ticks)-1].at, end: float64(max(len(c.Hours), 1))}
	top := signs(s, usageSigns).draw(s, 0, 0, f.Width, size) + size*0.7
	p.box = box{size*0.6 + widest(Regular, size, labels(ticks)...), top, f.Width - size, f.Height - size*1.8}
	p.horizontals(ticks)
	for i := range c.Hours {
		from := 0
		left, right := p.x(float64(i)), p.x(float64(i+1))
		pad := min((right-left)*0.12, 2)
		for k, n := range c.Hours[i].parts() {
			if n > 0 {
				usageSigns[k].draw(s, box{left + pad, p.y(float64(from + n)), right - pad, p.y(float64(from))})
			}
			from += n
		}
	}
	p.bottomAxis(c.ticks(p))
	return s
}

// ticks labels hours as densely as they fit; midnight is labelled with the
// date.
func (c *Usage) ticks(p *plot) []tick {
	for _, every := range []int{1, 2, 3, 6, 12, 24, 48, 168} {
		var ticks []tick
		end := -p.size
		fits := true
		for i := range c.Hours {
			at := c.Hours[i].Start.UTC()
			hours := int(at.Unix() / 3600)
			if hours%every != 0 {
				continue
			}
			text := at.Format("15:04")
			if at.Hour() == 0 {
				text = dayLabel(at, false)
			}
			x, half := p.x(float64(i)), Regular.Width(text, p.size)/2
			fits = fits && x-half > end
			end = x + half + p.size*0.8
			ticks = append(ticks, tick{x, text})
		}
		if fits {
			return ticks
		}
	}
	return nil
}

// Table lists the hours.
func (c *Usage) Table() (header []string, rows [][]string) {
	header = []string{"Hour (UTC)"}
	for _, sign := range usageSigns {
		header = append(header, sign.name)
	}
	for i := range c.Hours {
		cells := []string{c.Hours[i].Start.UTC().Format("2006-01-02 15:04")}
		for _, n := range c.Hours[i].parts() {
			cells = append(cells, strconv.Itoa(n))
		}
		rows = append(rows, cells)
	}
	return header, rows
}
