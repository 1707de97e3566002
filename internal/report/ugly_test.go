package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// uglies are patients whom no example has.
func uglies(t testing.TB) map[string]*PatientSummary {
	var many, medicines []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf(`%s pain_scores {"score":%d,"aspect":"average"}`, asOf.AddDate(0, 0, -364).Add(time.Duration(i)*4*time.Hour).Format(time.RFC3339), (i/7)%11))
	}
	for i := range 40 {
		medicines = append(medicines, fmt.Sprintf(`%s medications {"name":"medicine with the number %d and a very long name that goes on and on","dose":%d,"dose_unit":"mg","frequency":"every other day in the morning with food","route":"oral"}`,
			asOf.AddDate(0, 0, -360+8*i).Format(time.RFC3339), i, i+1))
	}
	return map[string]*PatientSummary{
		"nothing":  patient(t, "Nobody Known"),
		"one":      patient(t, "One Score", `2025-06-01T08:00:00Z pain_scores {"score":5,"aspect":"average"}`),
		"zero":     patient(t, "Baseline Zero", `2025-06-01T08:00:00Z pain_scores 0`, `2025-07-01T08:00:00Z pain_scores 6`),
		"low":      patient(t, "Low Baseline", `2025-06-01T08:00:00Z pain_scores 2`, `2025-07-01T08:00:00Z pain_scores 1`),
		"many":     patient(t, "Two Thousand Scores", many...),
		"forty":    patient(t, "Forty Medicines", append(medicines, many[:100]...)...),
		"script":   usual(t, `<script>alert(1)</script> & "quotes" {nb} (a\b) %s`),
		"rtl":      usual(t, "abc\u202edef\u200f ג'ון דו \u2066x\u2069 Nguyễn 名前 😀 e\u0301\x00\x07"),
		"cyrillic": usual(t, "Наталья Александровна Ковалёва-Щербакова"),
		"long":     usual(t, strings.Repeat("Wolfeschlegelsteinhausenbergerdorff", 5)),
		"unknown": patient(t, "Unknown Dose", `2025-12-01T08:00:00Z medications {"name":"buprenorphine","dose":8,"dose_unit":"mg","frequency":"QD","days_supply":60}`,
			`2025-10-01T08:00:00Z medications {"name":"morphine","days_supply":120}`),
	}
}

func TestUgly(t *testing.T) {
	for name, d := range uglies(t) {
		t.Run(name, func(t *testing.T) { written(t, "ugly-"+name, d) })
	}
}
