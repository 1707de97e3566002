package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Axe judges pages by the rules of axe-core, a test tool of its own that is
// not part of the product.
type Axe struct{ script string }

// LoadAxe reads axe-core from a folder of npm packages.
func LoadAxe(modules string) (Axe, error) {
	script, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	return Axe{string(script)}, err
}

// Axe's rules, as its options take them.
const (
	// AllRules are those of WCAG 2.2 A and AA and of good practice.
	AllRules = `runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"]`
	// ColourRules are those of them that depend on the theme.
	ColourRules = `runOnly: ["color-contrast","link-in-text-block"]`
	// StructureRules are all the others, which take half the time.
	StructureRules = AllRules + `, rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}`
)

// Violations lists where a page breaks the rules, one line for each place.
func (a Axe) Violations(b *Browser, rules string) (list []string, err error) {
	loaded, err := Evaluate[bool](b, `typeof axe !== "undefined"`)
	if err == nil && !loaded {
		_, err = Evaluate[bool](b, a.script+"; true")
	}
	if err != nil {
		return nil, err
	}
	found, err := Evaluate[string](b, `axe.run(document, {`+rules+`, resultTypes: ["violations"], preload: false}).then(r => JSON.stringify(
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
