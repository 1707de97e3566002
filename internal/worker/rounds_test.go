package worker

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func TestRounds(t *testing.T) {
	registry := prometheus.NewRegistry()
	a := NewRounds(registry, "a", time.Second)
	b := NewRounds(registry, "b", time.Minute) // shares the metrics
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, f := range families {
		series += len(f.Metric)
	}
	if series != 8 {
		t.Errorf("%d series before the first round, want 8", series)
	}
	if age := float64(time.Now().Unix()) - value(t, b.last); age < -1 || age > 600 {
		t.Errorf("last success %v s ago at the start", age)
	}
	a.last.Set(1)
	b.last.Set(1)
	a.Done(nil)
	b.Done(errors.New("away"))
	if value(t, a.ok) != 1 || value(t, a.failed) != 0 || value(t, b.ok) != 0 || value(t, b.failed) != 1 {
		t.Errorf("a: %v ok, %v failed; b: %v ok, %v failed", value(t, a.ok), value(t, a.failed), value(t, b.ok), value(t, b.failed))
	}
	if value(t, a.last) == 1 || value(t, b.last) != 1 {
		t.Error("a success must move the time, a failure must not")
	}
	NewRounds(nil, "a", time.Second).Done(nil)
}

func value(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetCounter().GetValue() + out.GetGauge().GetValue()
}
