package fhir

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// ucumUnits are the units that we write as UCUM codes. Others are only text.
var ucumUnits = map[string]bool{}

func init() {
	for _, unit := range strings.Fields("% /uL 10*3/uL 10*6/uL 10*9/L fL g/dL g/L mg/L mg/dL mL/min mL/min/{1.73_m2} mm/h mmol/L " +
		"ng/dL ng/mL nmol/L pg pg/mL pmol/L s U/L ug/L ug/dL umol/L {score} mm mm[Hg] /min Cel kg cm h min d m /d") {
		ucumUnits[unit] = true
	}
}

// quantity returns a number with a unit, which is coded if it is UCUM.
func quantity(value json.Number, unit string) *Quantity {
	q := &Quantity{Value: value, Unit: unit}
	if ucumUnits[unit] {
		q.System, q.Code = ucum, unit
	}
	return q
}

// unit returns the UCUM code of a quantity or, without one, the unit as
// written.
func (q *Quantity) unit() string {
	if q.Code != "" && (q.System == ucum || q.System == "") {
		return q.Code
	}
	return q.Unit
}

// unitTable has the units that a number is taken in, and how each becomes
// ours.
type unitTable map[string]conversion

// conversion is the exact fraction by which a number is multiplied, after an
// offset was added.
type conversion struct{ offset, numerator, denominator int64 }

var same = conversion{0, 1, 1}

// The units of numbers that others send in several.
var (
	scores      = unitTable{"": same, "{score}": same, "1": same}
	millimetres = unitTable{"mm": same, "cm": {0, 10, 1}}
	perMinute   = unitTable{"/min": same, "{beats}/min": same, "{breaths}/min": same, "{Breaths}/min": same}
	pressure    = unitTable{"mm[Hg]": same, "mmHg": same}
	percent     = unitTable{"%": same}
	celsius     = unitTable{"Cel": same, "[degF]": {-32, 5, 9}}
	kilograms   = unitTable{"kg": same, "g": {0, 1, 1000}, "[lb_av]": {0, 45359237, 100000000}, "[oz_av]": {0, 45359237, 1600000000}}
	centimetres = unitTable{"cm": same, "m": {0, 100, 1}, "mm": {0, 1, 10}, "[in_i]": {0, 254, 100}, "[ft_i]": {0, 3048, 100}}
	hours       = unitTable{"h": same, "min": {0, 1, 60}}
	minutes     = unitTable{"min": same, "h": {0, 60, 1}}
	steps       = unitTable{"": same, "1": same, "{steps}": same, "{steps}/d": same, "/d": same, "{#}": same, "{#}/d": same}
	counts      = unitTable{"": same, "1": same, "{#}": same}
)

// names returns the units, for a message.
func (t unitTable) names() string {
	var list []string
	for unit := range t {
		if unit != "" && unit != "1" {
			list = append(list, unit)
		}
	}
	return strings.Join(sorted(list), ", ")
}

// readQuantity returns the number of a quantity in our unit, or "" with an
// issue. at is the path of the quantity.
func (in *incoming) readQuantity(q *Quantity, units unitTable, at string) json.Number {
	switch {
	case q == nil || q.Value == "":
		in.refuse(Required, at, "A number is required here.")
		return ""
	case q.Comparator != "":
		in.refuse(NotSupported, at+".comparator", "A value with a comparator is not supported.")
		return ""
	}
	how, ok := units[q.unit()]
	if !ok {
		in.refuse(CodeInvalid, at+".code", "The unit must be one of "+units.names()+" (UCUM).")
		return ""
	}
	if how == same {
		return q.Value
	}
	return how.apply(q.Value)
}

// apply converts a number. The result has at most 12 digits after the point.
func (c conversion) apply(n json.Number) json.Number {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return n
	}
	r.Add(r, big.NewRat(c.offset, 1))
	r.Mul(r, big.NewRat(c.numerator, c.denominator))
	s := strings.TrimRight(r.FloatString(12), "0")
	return json.Number(strings.TrimSuffix(s, "."))
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// times multiplies a number exactly by a fraction.
func times(n json.Number, numerator, denominator int64) json.Number {
	return conversion{0, numerator, denominator}.apply(n)
}
