package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Axe checks pages against the rules of axe-core, a test tool that is not part
// of the product.
type Axe struct{ script string }

// LoadAxe reads axe-core from a directory of npm packages.
func LoadAxe(modules string) (Axe, error) {
	script, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	return Axe{string(script)}, err
}

// Sets of axe rules, in the syntax of its options.
const (
	// AllRules are the rules of WCAG 2.2 A and AA and the best practices.
	AllRules = `runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"]`
	// ColourRules are the rules that depend on the theme.
	ColourRules = `runOnly: ["color-contrast","link-in-text-block"]`
	// StructureRules are all other rules, which take half the time.
	StructureRules = AllRules + `, rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}`
)

// Violations lists the rule violations on the current page, one line each. A
// part that is the same on many pages can be left out, by its CSS selector.
func (a Axe) Violations(b *Browser, rules, leftOut string) (list []string, err error) {
	loaded, err := Evaluate[bool](b, `typeof axe !== "undefined"`)
	if err == nil && !loaded {
		_, err = Evaluate[bool](b, a.script+"; true")
	}
	if err != nil {
		return nil, err
	}
	exclude := "[]"
	if leftOut != "" {
		exclude = "[" + strconv.Quote(leftOut) + "]"
	}
	found, err := Evaluate[string](b, `axe.run({include: document, exclude: `+exclude+`}, {`+rules+`, resultTypes: ["violations"], preload: false}).then(r => JSON.stringify(
		r.violations.flatMap(v => v.nodes.map(n => ({rule: v.id, help: v.help, where: n.target.join(" "), what: n.failureSummary})))))`)
	if err != nil {
		return nil, err
	}
	var violations []struct{ Rule, Help, Where, What string }
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		return nil, err
	}
	for _, v := range violations {
		list = append(list, fmt.Sprintf("%s (%s) at %s: %s", v.Rule, v.Help, v.Where, strings.ReplaceAll(v.What, "\n", " ")))
	}
	return list, nil
}
