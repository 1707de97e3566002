package pain

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anodyne.example/anodyne/internal/strictjson"
)

func FuzzNewRecords(f *testing.F) {
	for dataType, cases := range valueCases {
		for _, c := range cases {
			f.Add([]byte(`{"data_type":"` + dataType.String() + `","value":` + c.value + `}`))
		}
	}
	f.Add([]byte(`{"records":[{"data_type":"mood","value":{"score":1},"recorded_at":"2024-01-01T00:00:00.5+01:00"},{"data_type":"notes","value":{"text":"\u00e9\ud83d\ude00"},"notes":"\t"}]}`))
	schemas := map[DataType]*jsonschema.Schema{}
	for _, info := range DataTypes() {
		schemas[info.Type] = compile(f, Schema(info.Type))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := strictjson.Parse(body)
		if err != nil {
			return
		}
		records, _, err := NewRecords(o, testIntake)
		if noted(t, err); err != nil {
			if strings.Contains(err.Error(), "NaN") || records != nil {
				t.Fatalf("%d records with %v", len(records), err)
			}
			return
		}
		for i := range records {
			rewrite(t, &records[i])
			sent := sentPart(t, records[i].Type, records[i].Value.JSON())
			if err := validate(t, schemas[records[i].Type], sent); err != nil {
				t.Fatalf("%s is taken, but not by the schema: %v", sent, err)
			}
		}
	})
}

func FuzzMedication(f *testing.F) {
	for _, c := range medicationCases {
		f.Add([]byte(c.value))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		o, err := strictjson.Parse(append(append([]byte(`{"data_type":"medications","value":`), value...), '}'))
		if err != nil {
			return
		}
		records, _, err := NewRecords(o, testIntake)
		if noted(t, err); err != nil {
			return
		}
		m, err := ReadMedication(records[0].Value)
		if err != nil {
			t.Fatal(err)
		}
		d := m.Derived
		mme, known := d.MMEPerDay.Get()
		unclassified := d.DrugClass == "unclassified"
		if _, said := d.Opioid.Get(); said == unclassified || unclassified != (d.Basis == "none") {
			t.Fatalf("%s: basis %q", records[0].Value.JSON(), d.Basis)
		}
		switch opioid := d.Opioid.Or(false); {
		case opioid != (d.DrugClass == "opioid"):
			t.Fatalf("opioid %v of class %s", opioid, d.DrugClass)
		case (opioid || unclassified) && known == (d.MMEExcludedReason != ""), known && (mme <= 0 || d.MMERule == "" || unclassified), !opioid && !unclassified && (known || d.MMEExcludedReason != ""):
			t.Fatalf("%s: MME %v without a reason", records[0].Value.JSON(), d.MMEPerDay)
		}
		if days, ok := d.CoveredDays.Get(); ok && (days < 1 || d.CoveredTo.Before(d.CoveredFrom)) {
			t.Fatalf("%v days from %v to %v", days, d.CoveredFrom, d.CoveredTo)
		}
		rewrite(t, &records[0])
	})
}

// rewrite checks that a record is encoded as valid JSON, from which the same
// record can be created.
func rewrite(t *testing.T, record *Record) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(AppendRecord(nil, record), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "patient_id", "status", "corrects", "created_at"} {
		delete(members, name)
	}
	members["value"] = json.RawMessage(sentPart(t, record.Type, string(members["value"])))
	body, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	o, err := strictjson.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := NewRecords(o, testIntake)
	if err == nil {
		checkMade(t, record)
		records[0].made = record.made // a pointer
	}
	if err != nil || records[0] != *record {
		t.Fatalf("again %+v, %q\nfirst %+v", records, noted(t, err), *record)
	}
	if printed, err := reprint(record.Type, record.Value); err != nil || printed != record.Value.JSON() {
		t.Fatalf("read back %s, %v; stored %s", printed, err, record.Value.JSON())
	}
}

// checkMade checks that the value of a new record is what would be read from the
// store.
func checkMade(t *testing.T, record *Record) {
	t.Helper()
	switch record.Type {
	case TypePainScores:
		checkContent(t, record, (*Record).PainScore, ReadPainScore)
	case TypeMedications:
		made := *record
		is := *record.made.is.(*Medication)
		is.understood = understanding{} // which is not stored
		made.made.is = &is
		checkContent(t, &made, (*Record).Medication, ReadMedication)
	case TypeAssessments:
		checkContent(t, record, (*Record).Assessment, ReadAssessment)
	case TypeProcedures:
		checkContent(t, record, (*Record).Procedure, ReadProcedure)
	case TypeFunctionalStatus:
		checkContent(t, record, (*Record).FunctionalStatus, ReadFunctionalStatus)
	case TypeLabs:
		checkContent(t, record, (*Record).Lab, ReadLab)
	}
}

func checkContent[T any](t *testing.T, record *Record, content func(*Record) (*T, error), read func(Value) (T, error)) {
	t.Helper()
	made, err := content(record)
	if err != nil || any(made) != record.made.is {
		t.Fatalf("the value was decoded: %v", err)
	}
	if stored, err := read(record.Value); err != nil || !reflect.DeepEqual(*made, stored) {
		t.Fatalf("made   %+v\nstored %+v, %v", *made, stored, err)
	}
}

func BenchmarkNewRecords(b *testing.B) {
	const size = 100
	body := []byte(batchOf(size, `{"data_type":"pain_scores","recorded_at":"2024-05-01T10:30:00Z","value":{"scale":"nrs","score":7,"aspect":"average","recall":"24h","body_site":"lower back"},"source":"patient"}`))
	b.ReportAllocs()
	for b.Loop() {
		o, err := strictjson.Parse(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := NewRecords(o, testIntake); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/record")
}
