package portal

import (
	"time"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/store/clients"
)

// usageTable is one week of an application's requests by day and outcome. The
// chart above it shows hours.
type usageTable struct {
	Days  []usageDay
	Hours []usageHour
	Total int64
}

type usageDay struct {
	Day    time.Time
	Counts [clients.UsageOutcomes]int64
}

type usageHour struct {
	Hour   time.Time
	Counts [clients.UsageOutcomes]int64
}

// chart returns the hourly bar chart.
func (t *usageTable) chart() *chart.Usage {
	c := &chart.Usage{Title: "Requests by hour"}
	for _, h := range t.Hours {
		c.Hours = append(c.Hours, chart.UsageHour{
			Start: h.Hour, OK: int(h.Counts[clients.UsageAnswered]), Refused: int(h.Counts[clients.UsageRefused]),
			Limited: int(h.Counts[clients.UsageLimited]), Failures: int(h.Counts[clients.UsageFailed]),
		})
	}
	return c
}

// tableOf groups counts by day and hour, including those without requests.
func tableOf(usage []clients.Usage, since, now time.Time) usageTable {
	var t usageTable
	for hour := since; !hour.After(now); hour = hour.Add(time.Hour) {
		t.Hours = append(t.Hours, usageHour{Hour: hour})
		if hour.Hour() == 0 {
			t.Days = append(t.Days, usageDay{Day: hour})
		}
	}
	for _, u := range usage {
		hour := int(u.Hour.Sub(since) / time.Hour)
		if hour < 0 || hour >= len(t.Hours) || u.Outcome >= clients.UsageOutcomes {
			continue
		}
		t.Hours[hour].Counts[u.Outcome] += u.Requests
		t.Days[hour/24].Counts[u.Outcome] += u.Requests
		t.Total += u.Requests
	}
	return t
}
