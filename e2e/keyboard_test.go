package e2e

import (
	"encoding/json"
	"strings"

	"anodyne.example/anodyne/e2e/browser"
)

// openAll unfolds what is folded, so that it is judged too.
func (v *visitor) openAll() {
	v.t.Helper()
	_, err := browser.Evaluate[bool](v.Browser, `document.querySelectorAll("details").forEach(d => { d.open = true; }), true`)
	v.must(err)
}

// watchFocus lists what can be used on the page, and notes what gets the
// focus and whether that can be seen.
const watchFocus = `
	document.activeElement.blur();
	window.stops = [...document.querySelectorAll('a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"]')]
		.filter(e => !e.disabled && e.checkVisibility({visibilityProperty: true}));
	window.reached = new Map();
	addEventListener("focusin", event => {
		const style = getComputedStyle(event.target), box = event.target.getBoundingClientRect();
		reached.set(event.target, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.width > 0 && box.right > 0 && box.left < innerWidth);
	});
	stops.length + 4 * stops.filter(e => e.type === "date").length + 2`

// missedFocus says what was not reached, or not seen when it was.
const missedFocus = `JSON.stringify(stops.filter(e => !reached.get(e)).map(e => (reached.has(e) ? "unseen: " : "not reached: ") + e.outerHTML.slice(0, 120)))`

// byKeyboard walks over the page with the tabulator: it stops at everything
// that can be used, and shows where it is. The first stop skips to the content.
func (v *visitor) byKeyboard(at string) {
	v.t.Helper()
	v.must(v.Look(1280, 900, false))
	stops, err := browser.Evaluate[int](v.Browser, watchFocus)
	v.must(err)
	v.must(v.Keys("\t"))
	first, err := browser.Evaluate[string](v.Browser, `document.activeElement.className`)
	v.must(err)
	if first != "skip" {
		v.t.Errorf("%s: the first stop is %q", at, first)
	}
	v.must(v.Keys(strings.Repeat("\t", stops)))
	said, err := browser.Evaluate[string](v.Browser, missedFocus)
	v.must(err)
	var missed []string
	v.must(json.Unmarshal([]byte(said), &missed))
	for _, m := range missed {
		v.t.Errorf("%s: %s", at, m)
	}
	_, err = browser.Evaluate[bool](v.Browser, `document.querySelector(".skip").focus(), true`)
	v.must(err)
	v.must(v.Keys("\r"))
	on, err := browser.Evaluate[string](v.Browser, `document.activeElement.id`)
	v.must(err)
	if on != "main" {
		v.t.Errorf("%s: the skip link leads to %q", at, on)
	}
}
