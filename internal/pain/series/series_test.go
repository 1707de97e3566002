package series

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/strictjson"
)

// Every word that a record may have has a number, and no two the same.
func TestEveryWordHasANumber(t *testing.T) {
	for _, c := range []struct {
		name   string
		have   words
		want   []string
		within int // highest number that fits the packed form
	}{
		{"scales", scales, enum(t, pain.TypePainScores, "scale"), 7},
		{"aspects", aspects, enum(t, pain.TypePainScores, "aspect"), 15},
		{"sites", sites, enum(t, pain.TypePainScores, "body_site"), 255},
		{"sides", sides, slices.DeleteFunc(enum(t, pain.TypePainScores, "laterality"), func(word string) bool { return word == "na" }), 127},
		{"questions", questions, []string{pain.LimitsLifeOrWork, pain.PainFrequency}, 15},
		{"levels", levels, pain.HowOften(), 15},
		{"sites of procedures", sites, enum(t, pain.TypeProcedures, "body_site"), 255},
		{"procedures", procedureTypes, enum(t, pain.TypeProcedures, "procedure_type"), 255},
		{"instruments", instruments, instrument.Names(), 255},
		{"statuses", statuses, []string{string(instrument.Complete), string(instrument.Prorated), string(instrument.Unscorable)}, 7},
		{"classes", classes, enum(t, pain.TypeMedications, "derived", "drug_class"), 255},
		{"statuses of medicines", medicationStatuses, enum(t, pain.TypeMedications, "status"), 15},
		{"reasons", reasons, enum(t, pain.TypeMedications, "derived", "mme_excluded_reason"), 15},
		{"ingredients", ingredients, ingredientNames(), 255},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.want) == 0 || len(c.have) > c.within {
				t.Fatalf("%d words, %d numbers of at most %d", len(c.want), len(c.have), c.within)
			}
			seen := map[uint8]string{}
			for _, word := range c.want {
				n := c.have.code(word)
				if n == 0 || seen[n] != "" || c.have.word(n) != word {
					t.Errorf("%q has the number %d, which gives %q", word, n, c.have.word(n))
				}
				seen[n] = word
			}
		})
	}
}

func ingredientNames() (names []string) {
	for _, in := range drug.Medications() {
		names = append(names, in.Name)
	}
	return names
}

// enum reads the enumeration of a field from the schema of its type.
func enum(t *testing.T, dataType pain.DataType, path ...string) []string {
	t.Helper()
	type schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Enum       []string                   `json:"enum"`
	}
	raw := pain.StoredSchema(dataType)
	var s schema
	for _, name := range append([]string{""}, path...) {
		if name != "" {
			raw = s.Properties[name]
		}
		s = schema{}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatalf("%v: %v in %s", path, err, raw)
		}
	}
	return s.Enum
}

// add adds a value as sent by a caller.
func add(t testing.TB, s *Series, at, dataType, value string) {
	t.Helper()
	body, err := strictjson.Parse([]byte(`{"data_type":"` + dataType + `","recorded_at":"` + at + `","value":` + value + `}`))
	if err != nil {
		t.Fatal(err)
	}
	var fields fault.Fields
	rec := pain.NewRecord(body, &fields, pain.Intake{NewID: func() id.Record { return id.New[id.RecordKind](time.Now()) }, Now: time.Now()})
	if err := fields.Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(&rec); err != nil {
		t.Fatal(err)
	}
}

func TestAdd(t *testing.T) {
	var s Series
	add(t, &s, "2024-01-20T09:00:00Z", "pain_scores", `{"scale":"vas","score":64,"aspect":"average","body_site":"knee"}`)
	add(t, &s, "2024-01-10T09:00:00Z", "pain_scores", `7`)
	add(t, &s, "2024-01-10T09:00:00Z", "assessments", `{"instrument":"peg","items":{"1":7,"2":7,"3":6}}`)
	add(t, &s, "2024-01-11T09:00:00Z", "assessments", `{"instrument":"phq_9","items":{"9":1}}`)
	add(t, &s, "2024-01-12T09:00:00Z", "procedures", `{"procedure_type":"nerve_block","pre_score":8}`)
	add(t, &s, "2024-01-12T09:00:00Z", "medications", `{"name":"Methadone","dose":5,"dose_unit":"mg","frequency":"TID","days_supply":30,"start_date":"2023-12-30"}`)
	add(t, &s, "2024-01-12T09:00:00Z", "medications", `{"name":"Suboxone (buprenorphine/naloxone)"}`)
	add(t, &s, "2024-01-12T09:00:00Z", "medications", `{"name":"ibuprofen","status":"draft","days_supply":3}`)
	add(t, &s, "2024-01-12T09:00:00Z", "medications", `{"name":"ibuprofen","end_date":"2023-01-01"}`)
	add(t, &s, "2024-01-22T09:00:00Z", "medications", `{"name":"pregabalin","status":"stopped","start_date":"2024-01-15"}`)
	add(t, &s, "2024-01-13T09:00:00Z", "functional_status", `{"measure":"pain_frequency","value":"every_day"}`)
	add(t, &s, "2024-01-13T09:00:00Z", "functional_status", `{"measure":"limits_life_or_work","value":"some_days"}`)
	add(t, &s, "2024-01-13T09:00:00Z", "functional_status", `{"measure":"tug_s","value":12}`)
	add(t, &s, "2024-01-14T09:00:00Z", "labs", `{"analyte":"oxycodone","result":"positive"}`)
	add(t, &s, "2024-01-14T10:00:00Z", "labs", `{"analyte":"morphine","result":"negative"}`)
	add(t, &s, "2024-01-15T10:00:00Z", "labs", `{"loinc":"2160-0","value":1}`)
	add(t, &s, "2024-01-12T09:00:00Z", "notes", `{"text":"nothing to compare"}`)
	s.Sort()
	if want := []Impact{{1705136400000, Frequency, EveryDay}, {1705136400000, Limits, 2}}; !slices.Equal(s.Impacts, want) {
		t.Errorf("impacts: %v", s.Impacts)
	}
	if want := pain.DateOf(time.Date(2024, 1, 14, 0, 0, 0, 0, time.UTC)).DayNumber(); !slices.Equal(s.Screens, []drug.Day{want}) {
		t.Errorf("screens: %v", s.Screens)
	}
	if len(s.Scores) != 2 || len(s.Assessments) != 2 || len(s.Procedures) != 1 || len(s.Medications) != 3 {
		t.Fatalf("%+v", s)
	}
	if got := s.Scores[0]; got.Scale.String() != "nrs" || got.Aspect != Current || got.Site != 0 || got.Value != 7 {
		t.Errorf("the first score is %+v", got)
	}
	if got := s.Scores[1]; got.Scale.String() != "vas" || got.Aspect != Average || got.Site.String() != "knee" {
		t.Errorf("the second score is %+v", got)
	}
	if n, ok := s.Scores[1].Normalized(); n != 6.4 || !ok {
		t.Errorf("64 mm is %v, %v", n, ok)
	}
	if got := s.Assessments[0]; got.Score.Number != 20.0/3 || got.Safety != NotSaid {
		t.Errorf("PEG: %+v", got)
	}
	if got := s.Assessments[1]; got.Score.Known || got.Status.String() != "unscorable" || got.Safety != True {
		t.Errorf("PHQ-9: %+v", got)
	}
	if got := s.Procedures[0]; got.Pre != (Value{8, true}) || got.Post.Known {
		t.Errorf("procedure: %+v", got)
	}
	methadone, suboxone := s.Medications[0], s.Medications[1]
	if methadone.MME != 70.5 || methadone.Days() != 30 || pain.DateOfDay(methadone.First).String() != "2023-12-30" || methadone.Ingredient.String() != "methadone" {
		t.Errorf("methadone: %+v", methadone)
	}
	if !suboxone.Open || suboxone.Reason.String() != "buprenorphine_excluded" || suboxone.Ingredient.String() != "buprenorphine" || suboxone.Course().Days() != 1 {
		t.Errorf("buprenorphine: %+v", suboxone)
	}
	if pregabalin := s.Medications[2]; !pregabalin.Open || pregabalin.Days() != 8 {
		t.Errorf("pregabalin: %+v", pregabalin)
	}
}

func TestAddRefusesWhatIsNoValue(t *testing.T) {
	for _, dataType := range Types {
		for _, text := range []string{"", "[]", `{"score":"much"}`, `{"score":1.5,"procedure_type":1,"name":2,"instrument":3}`} {
			var s Series
			if err := s.Add(&pain.Record{Type: dataType, RecordedAt: time.Now(), Value: pain.StoredValue(text)}); err == nil {
				t.Errorf("%v: %q was taken as %+v", dataType, text, s)
			}
		}
	}
}

var (
	times  = rapid.Int64Range(-62e12, 253e12)
	values = rapid.Custom(func(t *rapid.T) Value {
		if !rapid.Bool().Draw(t, "known") {
			return Value{}
		}
		return Value{rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.Map(rapid.IntRange(-500, 5000), func(n int) float64 { return float64(n) / 10 }),
			rapid.Map(rapid.IntRange(0, 300), func(n int) float64 { return float64(n) / 3 })).Draw(t, "number"), true}
	})
	aSeries = rapid.Custom(func(t *rapid.T) (s Series) {
		unit := rapid.SampledFrom(units[:]).Draw(t, "unit")
		at := func() int64 { return times.Draw(t, "at") / unit * unit }
		for range rapid.IntRange(0, 8).Draw(t, "scores") {
			s.Scores = append(s.Scores, Score{at(), Kind{Scale(rapid.IntRange(0, 4).Draw(t, "scale")), Aspect(rapid.IntRange(0, 4).Draw(t, "aspect")), Site(rapid.IntRange(0, 3).Draw(t, "site")), Side(rapid.IntRange(0, 4).Draw(t, "side"))}, rapid.Byte().Draw(t, "value"), rapid.Bool().Draw(t, "after")})
		}
		for range rapid.IntRange(0, 5).Draw(t, "assessments") {
			s.Assessments = append(s.Assessments, Assessment{at(), Instrument(rapid.IntRange(0, 17).Draw(t, "instrument")), Status(rapid.IntRange(0, 3).Draw(t, "status")), Truth(rapid.IntRange(0, 2).Draw(t, "safety")), values.Draw(t, "score")})
		}
		for range rapid.IntRange(0, 4).Draw(t, "procedures") {
			s.Procedures = append(s.Procedures, Procedure{at(), ProcedureType(rapid.IntRange(0, 14).Draw(t, "type")), Site(rapid.IntRange(0, 25).Draw(t, "site")), values.Draw(t, "pre"), values.Draw(t, "post")})
		}
		for range rapid.IntRange(0, 5).Draw(t, "medications") {
			first := drug.Day(rapid.IntRange(-719162, 2932896).Draw(t, "first"))
			m := Medication{Span: drug.Span{First: first, Last: first}, Open: rapid.Bool().Draw(t, "open"), Class: Class(rapid.IntRange(1, 11).Draw(t, "class")),
				Ingredient: Ingredient(rapid.IntRange(0, 51).Draw(t, "ingredient")), Status: MedicationStatus(rapid.IntRange(0, 8).Draw(t, "status"))}
			m.Last += drug.Day(rapid.IntRange(0, 3_000_000).Draw(t, "days"))
			m.Supplied, m.HasEnd = rapid.Bool().Draw(t, "supplied"), rapid.Bool().Draw(t, "has end")
			if m.HasEnd {
				m.End = m.Last + drug.Day(rapid.IntRange(-5, 5).Draw(t, "end"))
			}
			for _, name := range []*uint32{&m.Drug, &m.Product, &m.Prescriber, &m.Pharmacy} {
				*name = rapid.Uint32().Draw(t, "name")
			}
			if m.Class == opioid {
				m.Reason = Reason(rapid.IntRange(0, 8).Draw(t, "reason"))
			}
			if m.hasMME() {
				m.MME = rapid.Float64Range(0, 1e6).Draw(t, "mme")
			}
			s.Medications = append(s.Medications, m)
		}
		for range rapid.IntRange(0, 3).Draw(t, "impacts") {
			s.Impacts = append(s.Impacts, Impact{at(), Question(rapid.IntRange(1, 2).Draw(t, "question")), Level(rapid.IntRange(1, 4).Draw(t, "level"))})
		}
		for range rapid.IntRange(0, 3).Draw(t, "screens") {
			s.Screens = append(s.Screens, drug.Day(rapid.IntRange(-719162, 2932896).Draw(t, "screen")))
		}
		s.Sort()
		return s
	})
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := aSeries.Draw(t, "series")
		var back Series
		if err := back.Decode(s.Encode(nil)); err != nil {
			t.Fatal(err)
		}
		if !same(&s, &back) {
			t.Fatalf("packed  %+v\nbecame  %+v", s, back)
		}
	})
}

// same reports equality, treating an empty list like nil.
func same(a, b *Series) bool {
	return reflect.DeepEqual(append([]Score{}, a.Scores...), append([]Score{}, b.Scores...)) &&
		reflect.DeepEqual(append([]Assessment{}, a.Assessments...), append([]Assessment{}, b.Assessments...)) &&
		reflect.DeepEqual(append([]Procedure{}, a.Procedures...), append([]Procedure{}, b.Procedures...)) &&
		reflect.DeepEqual(append([]Medication{}, a.Medications...), append([]Medication{}, b.Medications...)) &&
		reflect.DeepEqual(append([]Impact{}, a.Impacts...), append([]Impact{}, b.Impacts...)) &&
		reflect.DeepEqual(append([]drug.Day{}, a.Screens...), append([]drug.Day{}, b.Screens...))
}

// The same entries in any order, and in any parts, result in the same bytes;
// those with equal times keep their order.
func TestOneFormForTheSameEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := aSeries.Draw(t, "a"), aSeries.Draw(t, "b")
		var one, other Series
		one.Join(&a)
		b.Without(a.Ties(&b))
		one.Join(&b)
		one.Sort()
		if err := other.Decode(b.Encode(nil)); err != nil {
			t.Fatal(err)
		}
		other.Join(&a)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r.Shuffle(len(other.Medications), func(i, j int) {
			other.Medications[i], other.Medications[j] = other.Medications[j], other.Medications[i]
		})
		other.Sort()
		if string(one.Encode(nil)) != string(other.Encode(nil)) {
			t.Fatalf("%+v\nand %+v\nhave different bytes", one, other)
		}
	})
}

// Whatever the bytes, Decode answers, and what it takes can be packed again.
func FuzzDecode(f *testing.F) {
	for seed := range 20 {
		s := aSeries.Example(seed)
		f.Add(s.Encode(nil))
	}
	f.Add([]byte{version, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{version + 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Series
		if err := s.Decode(b); err != nil {
			return
		}
		s.Sort()
		var back Series
		if err := back.Decode(s.Encode(nil)); err != nil {
			t.Errorf("%x was taken, and packed again it was not: %v", b, err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	s := aSeries.Example(7)
	good := s.Encode(nil)
	for _, b := range [][]byte{nil, {}, {version}, {version, 9, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, append(good[:len(good):len(good)], 0), good[:len(good)-1]} {
		var s Series
		if err := s.Decode(b); err != ErrFormat {
			t.Errorf("%x: %v", b, err)
		}
	}
}

// BenchmarkDecode reads a believable year: a score a week, a dozen
// prescriptions, six assessments, a procedure.
func BenchmarkDecode(b *testing.B) {
	var s Series
	start := time.Date(2025, 1, 6, 9, 0, 0, 0, time.UTC)
	for week := range 52 {
		at := start.AddDate(0, 0, 7*week).UnixMilli()
		s.Scores = append(s.Scores, Score{At: at, Kind: Kind{1, Average, 13, 0}, Value: uint8(7 - week/20)})
		if week%4 == 0 {
			first := drug.Day(at / 86_400_000)
			s.Medications = append(s.Medications, Medication{Span: drug.Span{First: first, Last: first + 27}, Class: opioid, Ingredient: 7, Status: 1, MME: 45})
		}
		if week%9 == 0 {
			s.Assessments = append(s.Assessments, Assessment{at, 1, 1, 0, Value{20.0 / 3, true}})
		}
	}
	s.Procedures = append(s.Procedures, Procedure{start.UnixMilli(), 1, 13, Value{8, true}, Value{4, true}})
	s.Sort()
	packed := s.Encode(nil)
	var into Series
	b.ReportAllocs()
	for b.Loop() {
		into.Reset()
		if err := into.Decode(packed); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(packed)), "bytes/year")
	b.ReportMetric(float64(len(s.Scores)+len(s.Medications)+len(s.Assessments)+1), "entries/year")
}
