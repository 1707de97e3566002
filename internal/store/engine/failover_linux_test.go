package engine_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestConnectionsNoticeADeadMachine(t *testing.T) {
	s := storetest.Open(t, storetest.Postgres)
	unacknowledged, idle, interval, count := engine.Silence(t, s.Database())
	if unacknowledged < time.Second || unacknowledged > 10*time.Second {
		t.Errorf("data may be unacknowledged for %v", unacknowledged)
	}
	if all := idle + interval*time.Duration(count); all < time.Second || all > 10*time.Second {
		t.Errorf("an idle connection may be dead for %v", all)
	}
}
