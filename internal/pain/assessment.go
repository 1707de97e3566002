package pain

import (
	"strconv"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/strictjson"
)

// Assessment is an answered questionnaire. Open instruments have items and are
// scored by the service; for licensed ones, only the score is accepted.
type Assessment struct {
	Instrument string
	Version    string
	Items      Items
	RawScore   Number
	Score      Number
	Band       string
	Status     string
	ScoredBy   string
	Derived    AssessmentDerived
}

// Items are the answers of an open instrument. The zero value is empty.
type Items struct {
	Answers instrument.Answers
	Count   int // number of items in the instrument
}

// AssessmentDerived holds further values derived from an assessment.
type AssessmentDerived struct {
	ProratedScore Number // before rounding, if items are missing
	Positive      Flag   // the score reaches the instrument's cut-off
	SafetyFlag    Flag   // an answer needs attention regardless of the score
}

var (
	itemNames = func() (names [instrument.MaxItems]string) {
		for i := range names {
			names[i] = strconv.Itoa(i + 1)
		}
		return names
	}()
	scorers  = []string{"platform", "external"}
	statuses = []string{string(instrument.Complete), string(instrument.Prorated), string(instrument.Unscorable)}
)

var assessments = kind[Assessment]{
	members: []member[Assessment]{
		word("instrument", func(v *Assessment) *string { return &v.Instrument }, instrument.Names()).must(),
		line("version", func(v *Assessment) *string { return &v.Version }, maxLabel).with(Removed),
		itemsMember().means("answers by item number; not for licensed instruments"),
		result("raw_score", func(v *Assessment) *Number { return &v.RawScore }).means("the sum of the answers").derived(),
		totalMember().means("sent for licensed instruments, computed from the items for others; null if unscorable").present(),
		line("band", func(v *Assessment) *string { return &v.Band }, maxLabel).derived().with(Kept),
		word("status", func(v *Assessment) *string { return &v.Status }, statuses).derived().present(),
		word("scored_by", func(v *Assessment) *string { return &v.ScoredBy }, scorers).derived().present(),
		nested("derived", func(v *Assessment) *AssessmentDerived { return &v.Derived }, []member[AssessmentDerived]{
			result("prorated_score", func(v *AssessmentDerived) *Number { return &v.ProratedScore }).means("before rounding"),
			yesNo("positive", func(v *AssessmentDerived) *Flag { return &v.Positive }).means("the score reaches the cut-off"),
			yesNo("safety_flag", func(v *AssessmentDerived) *Flag { return &v.SafetyFlag }).means("PHQ-9 item 9 is above 0"),
		}).derived(),
	},
	check:  checkAssessment,
	derive: deriveAssessment,
	limits: assessmentLimits(),
}

// itemsMember reads the items of an instrument that has already been read.
func itemsMember() member[Assessment] {
	return member[Assessment]{
		name: "items",
		read: func(r *reading, v *Assessment) {
			info := instrument.Find(v.Instrument)
			if info == nil || info.TotalOnly {
				r.Value("items") // check reports the reason
				return
			}
			o, ok := r.Object("items")
			if !ok {
				return
			}
			v.Items.Count = info.Items
			inner := read(o, r.fields, r.stored)
			given := info.MayMiss == info.Items
			for i := range info.Items {
				value, ok := inner.Value(itemNames[i])
				v.Items.Answers[i] = instrument.Missing
				if given = given || ok; ok {
					v.Items.Answers[i] = readAnswer(value, r.fields, info)
				}
			}
			inner.Done()
			if !given {
				r.Fault("items", "must have at least one answer.")
			}
		},
		print:    func(b []byte, v *Assessment) []byte { return appendItems(b, &v.Items) },
		schema:   func(b []byte) []byte { return appendItemsSchema(b, `["integer","boolean"]`) },
		answered: func(b []byte) []byte { return appendItemsSchema(b, `"integer"`) },
		cells:    itemCells(),
	}
}

// itemCells returns a column for each item.
func itemCells() (cells []column[Assessment]) {
	for i, item := range itemNames {
		cells = append(cells, columnOf("item_"+item, IntegerColumn, Kept, func(v *Assessment) Cell {
			if i >= v.Items.Count || v.Items.Answers[i] == instrument.Missing {
				return Cell{}
			}
			return NumberCell(float64(v.Items.Answers[i]))
		})...)
		cells[i].About = "the answer to item " + item
	}
	return cells
}

// appendItemsSchema avoids patternProperties, which client generators ignore.
func appendItemsSchema(b []byte, answer string) []byte {
	return append(b, `"type":"object","propertyNames":{"pattern":"^([1-9]|1[0-9]|2[0-4])$"},"additionalProperties":{"type":`+answer+`}`...)
}

// readAnswer reads one answer. Yes/no items also accept true and false.
func readAnswer(value strictjson.Value, fields *fault.Fields, info *instrument.Info) int8 {
	allowed := wholes(float64(info.ItemMin), float64(info.ItemMax))
	if f, ok := value.AsNumber(); ok && allowed.holds(f) {
		return int8(f)
	}
	problem := allowed.problem()
	if info.ItemMax == 1 {
		switch value.Echo() {
		case true:
			return 1
		case false:
			return 0
		}
		problem = "must be true, false, 1 or 0."
	}
	value.Fault(fields, problem)
	return instrument.Missing
}

func appendItems(b []byte, items *Items) []byte {
	if items.Count == 0 {
		return b
	}
	b = append(b, '{')
	for i, answer := range items.Answers[:items.Count] {
		if answer == instrument.Missing {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, itemNames[i]...)
		b = append(b, '"', ':')
		b = strconv.AppendInt(b, int64(answer), 10)
	}
	return append(b, '}')
}

// totalMember accepts any number from a caller, because the range depends on
// the instrument, and null from the store.
func totalMember() member[Assessment] {
	m := number("score", func(v *Assessment) *Number { return &v.Score }, between(-1e300, 1e300))
	m.read = result("score", func(v *Assessment) *Number { return &v.Score }).read
	m.schema = func(b []byte) []byte { return append(b, `"type":["number","null"]`...) }
	return m
}

func checkAssessment(v *Assessment, r *reading) {
	info := instrument.Find(v.Instrument)
	if info == nil {
		return
	}
	if info.TotalOnly {
		r.Refuse("items", "is not accepted: "+info.Name+" is licensed, so only its total is stored. Send score.")
		score, ok := v.Score.Get()
		switch _, given := r.Value("score"); {
		case !given:
			r.Fault("score", "is required for "+info.Name+".")
		case ok && !info.InRange(score):
			r.Fault("score", totalSpan(info).problem())
		}
		return
	}
	if _, given := r.Value("score"); given {
		r.Fault("score", "is computed from the items; omit it.")
	}
	if !isThere(r, "items") {
		r.Fault("items", "is required for "+info.Name+`: an object with the fields "1" to "`+strconv.Itoa(info.Items)+`".`)
	}
}

func totalSpan(info *instrument.Info) span {
	return span{min: info.ScoreMin, max: info.ScoreMax, whole: info.Whole, unit: info.Name}
}

func deriveAssessment(v *Assessment) {
	info := instrument.Find(v.Instrument)
	if info.TotalOnly {
		score := v.Score.value
		v.Band, v.Status, v.ScoredBy = info.BandOf(score), string(instrument.Complete), "external"
		if info.HasCutOff() {
			v.Derived.Positive = Some(info.IsPositive(score))
		}
		return
	}
	scored := info.Score(&v.Items.Answers)
	v.Status, v.ScoredBy, v.Band = string(scored.Status), "platform", scored.Band
	if info.Safety > 0 {
		v.Derived.SafetyFlag = Some(scored.Safety)
	}
	if scored.Status == instrument.Unscorable {
		v.RawScore, v.Score = none[float64](), none[float64]()
		return
	}
	v.RawScore, v.Score = Some(scored.Raw), Some(scored.Score)
	if scored.Status == instrument.Prorated {
		v.Derived.ProratedScore = Some(scored.Exact)
	}
	if info.HasCutOff() {
		v.Derived.Positive = Some(scored.Positive)
	}
}

func assessmentLimits() string {
	b := []byte(`"dependentSchemas":{"instrument":{"allOf":[`)
	for i, info := range instrument.All() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"if":{"properties":{"instrument":{"const":"`+info.Name+`"}}},"then":{`...)
		if info.TotalOnly {
			b = append(b, `"required":["score"],"properties":{"items":false,"score":{`...)
			b = append(totalSpan(&info).appendSchema(b), `}}}}`...)
			continue
		}
		answer := wholes(float64(info.ItemMin), float64(info.ItemMax)).appendSchema(nil)
		if info.ItemMax == 1 {
			answer = []byte(`"enum":[0,1,true,false]`)
		}
		b = append(b, `"required":["items"],"properties":{"score":false,"items":{"properties":{`...)
		for n := range info.Items {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(b, `"`+itemNames[n]+`":{`...)
			b = append(append(b, answer...), '}')
		}
		b = append(b, `},"additionalProperties":false`...)
		if info.MayMiss < info.Items {
			b = append(b, `,"minProperties":1`...)
		}
		b = append(b, `}}}}`...)
	}
	return string(append(b, `]}}`...))
}
