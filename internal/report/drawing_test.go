package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/pain/drug"
)

// What is drawn is where its number says: the shapes of a PDF, as another
// program reads them, are measured against the lines of their axes.

// shape is a path with how it looks, in points from the top left of its page.
type shape struct {
	fill, stroke chart.Ink
	width        float64
	points       [][2]float64
}

// drawing is the shapes of a document in the order in which they were drawn.
type drawing struct {
	t      *testing.T
	shapes []shape
}

// inks are those that shapes are told apart by.
var inks = []chart.Ink{chart.Surface, chart.Text, chart.Axis, chart.Grid, chart.Accent, chart.AccentSoft, chart.FillModerate, chart.FillSevere}

var (
	isFill   = regexp.MustCompile(`(?:^|;| )fill:rgb\(([\d.]+)%,([\d.]+)%,([\d.]+)%\)`)
	isStroke = regexp.MustCompile(`(?:^|;| )stroke:rgb\(([\d.]+)%,([\d.]+)%,([\d.]+)%\)`)
	isWidth  = regexp.MustCompile(`stroke-width:([\d.]+)`)
	isStep   = regexp.MustCompile(`[MLCZ][^MLCZ]*`)
)

func inkOf(style string, kind *regexp.Regexp) chart.Ink {
	found := kind.FindStringSubmatch(style)
	if found == nil {
		return chart.None
	}
	part := func(s string) int { f, _ := strconv.ParseFloat(s, 64); return int(math.Round(f * 255 / 100)) }
	for _, ink := range inks {
		if r, g, b := ink.RGB(); near1(r, part(found[1])) && near1(g, part(found[2])) && near1(b, part(found[3])) {
			return ink
		}
	}
	return chart.None
}

func near1(a, b int) bool { return a-b <= 1 && b-a <= 1 }

func drawingOf(t *testing.T, pdf []byte) *drawing {
	t.Helper()
	d := &drawing{t: t}
	d.pages(poppler(t, "pdftocairo", pdf, "-svg", "-f", "1", "-l", "6", "FILE", "-")) // charts come first
	return d
}

func (d *drawing) pages(svg []byte) {
	d.t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	inside := 0 // definitions, which hold the letters
	for {
		token, err := decoder.Token()
		if token == nil {
			if err == nil || err.Error() == "EOF" {
				return
			}
			d.t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "defs" {
				inside++
			}
			if e.Name.Local == "path" && inside == 0 {
				d.add(e.Attr)
			}
		case xml.EndElement:
			if e.Name.Local == "defs" {
				inside--
			}
		}
	}
}

func (d *drawing) add(attrs []xml.Attr) {
	get := func(name string) string {
		for _, a := range attrs {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	style := get("style")
	s := shape{fill: inkOf(style, isFill), stroke: inkOf(style, isStroke)}
	if found := isWidth.FindStringSubmatch(style); found != nil {
		s.width, _ = strconv.ParseFloat(found[1], 64)
	}
	matrix := [6]float64{1, 0, 0, 1, 0, 0}
	if m := strings.TrimSuffix(strings.TrimPrefix(get("transform"), "matrix("), ")"); m != "" {
		for i, text := range strings.Split(m, ",") {
			matrix[i], _ = strconv.ParseFloat(text, 64)
		}
	}
	for _, segment := range isStep.FindAllString(get("d"), -1) {
		numbers := strings.Fields(strings.TrimLeft(segment, "MLCZ"))
		if len(numbers) < 2 {
			continue
		}
		x, _ := strconv.ParseFloat(numbers[len(numbers)-2], 64)
		y, _ := strconv.ParseFloat(numbers[len(numbers)-1], 64)
		s.points = append(s.points, [2]float64{matrix[0]*x + matrix[2]*y + matrix[4], matrix[1]*x + matrix[3]*y + matrix[5]})
	}
	if len(s.points) > 0 {
		d.shapes = append(d.shapes, s)
	}
}

func (s *shape) box() (left, top, right, bottom float64) {
	left, top = math.Inf(1), math.Inf(1)
	right, bottom = math.Inf(-1), math.Inf(-1)
	for _, p := range s.points {
		left, top, right, bottom = min(left, p[0]), min(top, p[1]), max(right, p[0]), max(bottom, p[1])
	}
	return left, top, right, bottom
}

func (s *shape) centre() (x, y float64) {
	left, top, right, bottom := s.box()
	return (left + right) / 2, (top + bottom) / 2
}

// gridLine reports whether a shape is a line of an axis, lying or standing.
func (s *shape) gridLine() (lying, standing bool) {
	if s.stroke != chart.Grid || math.Abs(s.width-0.7) > 0.01 || len(s.points) != 2 {
		return false, false
	}
	left, top, right, bottom := s.box()
	return bottom-top < 0.01, right-left < 0.01
}

// scale maps numbers to positions, given two known pairs.
func scale(at0, at1, v0, v1 float64) func(v float64) float64 {
	return func(v float64) float64 { return at0 + (at1-at0)*(v-v0)/(v1-v0) }
}

// place compares two places: a tenth of a point is less than a line is wide.
func (d *drawing) place(what string, got, want float64) {
	d.t.Helper()
	if math.Abs(got-want) > 0.1 {
		d.t.Errorf("%s is drawn at %.2f, want %.2f", what, got, want)
	}
}

// drawnShare is a share as it must be drawn.
type drawnShare struct {
	name      string
	share     float64
	low, high float64 // NaN without an interval
}

// shares measures bars and whiskers against the lines at 0 and 100 %.
func (d *drawing) shares(want []drawnShare) {
	d.t.Helper()
	var lines []float64
	var bars, whiskers []func(share float64) float64 // axes
	var ends []float64
	var spans [][2]float64
	for i := range d.shapes {
		s := &d.shapes[i]
		_, standing := s.gridLine()
		left, top, right, bottom := s.box()
		axis := func() func(float64) float64 {
			last := lines[len(lines)-5:]
			return scale(slices.Min(last), slices.Max(last), 0, 1)
		}
		switch {
		case standing:
			lines = append(lines, left)
		case s.fill == chart.AccentSoft && s.stroke == chart.Accent && math.Abs(s.width-0.8) < 0.01 && len(lines) >= 5:
			bars, ends = append(bars, axis()), append(ends, right)
			d.place("the foot of a bar", left, axis()(0))
		case s.stroke == chart.Text && math.Abs(s.width-1.2) < 0.01 && bottom-top < 0.01 && len(lines) >= 5:
			whiskers, spans = append(whiskers, axis()), append(spans, [2]float64{left, right})
		}
	}
	for _, w := range want {
		if w.share > 0 { // nothing is no bar
			if len(bars) == 0 {
				d.t.Fatalf("%s has no bar", w.name)
			}
			d.place(w.name, ends[0], bars[0](w.share))
			bars, ends = bars[1:], ends[1:]
		}
		if !math.IsNaN(w.low) {
			if len(spans) == 0 {
				d.t.Fatalf("%s has no whisker", w.name)
			}
			d.place(w.name+", low", spans[0][0], whiskers[0](w.low))
			d.place(w.name+", high", spans[0][1], whiskers[0](w.high))
			whiskers, spans = whiskers[1:], spans[1:]
		}
	}
	if len(bars) > 0 {
		d.t.Errorf("%d bars too many", len(bars))
	}
}

func (a *answer) drawn(path string) []drawnShare {
	a.t.Helper()
	count, counted := a.count(path + ".count")
	n, known := a.count(path + ".n")
	if !counted || !known || n == 0 {
		return nil
	}
	low, high := wilson(count, n)
	return []drawnShare{{path, float64(count) / float64(n), low, high}}
}

func (a *answer) drawnGroups(path string) (list []drawnShare) {
	a.t.Helper()
	for _, g := range a.each(path + ".groups") {
		count, counted := a.count(g + ".count")
		if n, known := a.count(path + ".n"); counted && known && n > 0 {
			list = append(list, drawnShare{g, float64(count) / float64(n), math.NaN(), math.NaN()})
		}
	}
	return list
}

func (a *answer) outcomeShares() (list []drawnShare) {
	a.t.Helper()
	for _, name := range strings.Fields("responder_30 responder_50 nrs_ge_2 worsened_30 low_baseline nonresponder_imputation.responder_30 nonresponder_imputation.responder_50") {
		list = append(list, a.drawn("response."+name)...)
	}
	return list
}

func (a *answer) populationShares() (list []drawnShare) {
	a.t.Helper()
	list = slices.Concat(a.drawnGroups("age_bands"), a.drawnGroups("genders"))
	for _, class := range a.each("treatment_mix.classes") {
		list = append(list, a.drawn(class)...)
	}
	return slices.Concat(list, a.drawnGroups("treatment_mix.exclusive"), a.drawnGroups("follow_up_gap.last_score"))
}

// horizontals are the shapes behind the n-th set of lying lines, which must be
// so many, with the lowest and the highest of them, and where they begin and
// end.
func (d *drawing) horizontals(skip, lines int) (after []shape, low, high, left, right float64) {
	d.t.Helper()
	for i := 0; i < len(d.shapes); i++ {
		end := i
		for end < len(d.shapes) {
			if lying, _ := d.shapes[end].gridLine(); !lying {
				break
			}
			end++
		}
		if end == i {
			continue
		}
		if skip--; skip >= 0 {
			i = end
			continue
		}
		if end-i != lines {
			break
		}
		_, low, _, _ = d.shapes[i].box()
		left, high, right, _ = d.shapes[end-1].box()
		return d.shapes[end:], low, high, left, right
	}
	d.t.Fatalf("there is no axis of %d lines", lines)
	return nil, 0, 0, 0, 0
}

// curves are the points of lines of a width, and each disc by itself, up to the
// next axis and above a height: below it are the signs of the next chart.
func curves(shapes []shape, width, floor float64) (list [][][2]float64) {
	for i := range shapes {
		s := &shapes[i]
		if lying, _ := s.gridLine(); lying {
			break
		}
		switch {
		case s.fill == chart.None && s.stroke == chart.Accent && math.Abs(s.width-width) < 0.01:
			if _, top, _, _ := s.box(); top < floor {
				list = append(list, s.points)
			}
		case s.fill == chart.Accent && s.stroke == chart.Surface:
			x, y := s.centre()
			list = append(list, [][2]float64{{x, y}})
		}
	}
	return list
}

// has checks that a place is on a curve. It need not be a point of it: readers
// leave out those between two others on a straight line.
func (d *drawing) has(what string, list [][][2]float64, x, y float64) {
	d.t.Helper()
	best := math.Inf(1)
	for _, line := range list {
		for i, v := range line {
			from := line[max(i-1, 0)]
			dx, dy := v[0]-from[0], v[1]-from[1]
			along := 0.0
			if length := dx*dx + dy*dy; length > 0 {
				along = min(max(((x-from[0])*dx+(y-from[1])*dy)/length, 0), 1)
			}
			best = min(best, math.Hypot(from[0]+along*dx-x, from[1]+along*dy-y))
		}
	}
	if best > 0.15 {
		d.t.Errorf("%s is not at %.2f, %.2f: %.2f points off", what, x, y, best)
	}
}

func (d *drawing) trend(a *answer) {
	d.t.Helper()
	after, low, high, left, right := d.horizontals(0, 6)
	y := scale(low, high, 0, 10)
	buckets := a.each("trend.buckets")
	day := func(b string) float64 { return float64(dayOfText(a.text(b + ".from"))) }
	first, last := day(buckets[0]), day(buckets[len(buckets)-1])
	pad := (last - first) / float64(2*max(len(buckets)-1, 1)) // half a bucket
	x := scale(left, right, first-pad, last+pad)
	list := curves(after, 1.6, low)
	known := 0
	for _, b := range buckets {
		if mean, ok := a.float(b + ".mean"); ok {
			known++
			d.has(b, list, x(day(b)), y(mean))
		}
	}
	for _, v := range slices.Concat(list...) { // nothing is drawn that is no bucket
		if !slices.ContainsFunc(buckets, func(b string) bool {
			mean, ok := a.float(b + ".mean")
			return ok && math.Hypot(v[0]-x(day(b)), v[1]-y(mean)) < 0.15
		}) {
			d.t.Errorf("a point at %.2f, %.2f is no bucket", v[0], v[1])
		}
	}
	if known == 0 && len(list) > 0 {
		d.t.Errorf("%d points of nothing", len(list))
	}
}

func (d *drawing) survival(a *answer, ticks []float64) {
	d.t.Helper()
	steps := a.each("time_to_response.curve")
	if len(steps) == 0 {
		return
	}
	after, low, high, left, right := d.horizontals(1, 5) // behind those of the trend
	x, y := scale(left, right, 0, ticks[len(ticks)-1]), scale(low, high, 0, 1)
	var curve *shape
	for i := range after {
		if s := &after[i]; s.stroke == chart.Accent && math.Abs(s.width-1.8) < 0.01 && curve == nil {
			curve = s
		}
	}
	if curve == nil || len(curve.points) != 1+2*len(steps) {
		d.t.Fatalf("the curve is %v, want %d steps", curve, len(steps))
	}
	share := 1.0
	d.place("the beginning of the curve", curve.points[0][0], x(0))
	for i, s := range steps {
		day, _ := a.float(s + ".day")
		d.place(s+", day", curve.points[1+2*i][0], x(day))
		d.place(s+", before", curve.points[1+2*i][1], y(share))
		share, _ = a.float(s + ".survival")
		d.place(s+", day", curve.points[2+2*i][0], x(day))
		d.place(s+", after", curve.points[2+2*i][1], y(share))
	}
}

// histogram measures the bars of a histogram; counts are -1 when hidden.
func (d *drawing) histogram(ticks []float64, counts []int) {
	d.t.Helper()
	after, low, high, _, _ := d.horizontals(0, len(ticks))
	y := scale(low, high, 0, ticks[len(ticks)-1])
	var tops []float64
	for i := range after {
		s := &after[i]
		if lying, standing := s.gridLine(); lying || standing {
			break
		}
		if s.fill == chart.AccentSoft || s.fill == chart.FillModerate || s.fill == chart.FillSevere {
			_, top, _, bottom := s.box()
			d.place("the foot of a bar", bottom, y(0))
			tops = append(tops, top)
		}
	}
	for _, n := range counts {
		if n <= 0 {
			continue
		}
		if len(tops) == 0 {
			d.t.Fatalf("there is no bar for %d", n)
		}
		d.place(fmt.Sprintf("the bar of %d", n), tops[0], y(float64(n)))
		tops = tops[1:]
	}
	if len(tops) > 0 {
		d.t.Errorf("%d bars too many", len(tops))
	}
}

func (a *answer) doseCounts() (counts []int) {
	a.t.Helper()
	for _, g := range a.each("opioids.mme.peak.bands.groups") {
		if group := a.text(g + ".group"); group != "0" && group != "unknown" {
			n, ok := a.count(g + ".count")
			if !ok {
				n = -1
			}
			counts = append(counts, n)
		}
	}
	return counts
}

func (a *answer) currentDoses() []int {
	a.t.Helper()
	counts := make([]int, 4)
	for _, r := range a.each("patients") {
		if i := slices.Index([]string{">0-<20", "20-<50", "50-<90", ">=90"}, a.text(r+".mme_band")); i >= 0 && a.truth(r+".current") {
			counts[i]++
		}
	}
	return counts
}

// pain measures the scores of a patient.
func (d *drawing) pain(facts []fact, from, to drug.Day) {
	d.t.Helper()
	after, low, high, left, right := d.horizontals(0, 6)
	const day = 86400
	x, y := scale(left, right, float64(from)*day, float64(to+1)*day), scale(low, high, 0, 10)
	list := curves(after, 1.6, low)
	if len(facts) == 0 && len(list) > 0 {
		d.t.Errorf("%d points of no scores", len(list))
	}
	places := map[[2]float64]bool{}
	for _, f := range facts {
		places[[2]float64{x(float64(f.at.Unix())), y(toTen(f.value))}] = true
		d.has("the score of "+f.at.Format(time.RFC3339), list, x(float64(f.at.Unix())), y(toTen(f.value)))
	}
	for _, v := range slices.Concat(list...) {
		found := false
		for p := range places {
			found = found || math.Hypot(v[0]-p[0], v[1]-p[1]) < 0.15
		}
		if !found {
			d.t.Errorf("a point at %.2f, %.2f is no score", v[0], v[1])
		}
	}
}

// doses measures the daily doses of a patient, as steps.
func (d *drawing) doses(a *answer, ticks []float64) {
	d.t.Helper()
	after, low, high, left, right := d.horizontals(1, len(ticks))
	x := scale(left, right, float64(dayOfText(a.text("mme.from"))), float64(dayOfText(a.text("mme.to"))+1))
	y := scale(low, high, 0, ticks[len(ticks)-1])
	list := curves(after, 1.6, low)
	drawn := false
	for _, run := range a.each("mme.timeline") {
		if mme, ok := a.float(run + ".mme"); ok {
			drawn = true
			d.has(run+", first day", list, x(float64(dayOfText(a.text(run+".from")))), y(mme))
			d.has(run+", last day", list, x(float64(dayOfText(a.text(run+".to"))+1)), y(mme))
		}
	}
	if !drawn && len(list) > 0 {
		d.t.Errorf("%d points of no dose", len(list))
	}
}
