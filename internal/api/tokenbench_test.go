package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/worker"
)

// BenchmarkIssueToken requests tokens from the handler, without connections:
// 64 concurrent callers, each with its own client.
func BenchmarkIssueToken(b *testing.B) {
	const atOnce = 64
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			n := start(b, engine, nil)
			var bodies []string
			for range atOnce {
				bodies = append(bodies, n.callerOf("bench", access.Enterprise, access.AllScopes).credentials(grantType, clientCredentials).Encode())
			}
			workers := worker.NewGroup(n.database.Log)
			defer workers.Stop()
			workers.Start("revocations", func(ctx context.Context) error {
				return n.authority.Watch(ctx, n.database.Log, worker.NewRounds(nil, "revocations", oauth.WatchEvery))
			})
			var next atomic.Int64
			b.SetParallelism(atOnce / 2)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				body := bodies[int(next.Add(1))%atOnce]
				for pb.Next() {
					r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(body))
					r.Header["Content-Type"] = []string{formType}
					w := httptest.NewRecorder()
					n.api.ServeHTTP(w, r)
					if w.Code != http.StatusOK && w.Code != http.StatusTooManyRequests {
						b.Errorf("%d %s", w.Code, w.Body)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
