package ratelimit_test

import (
	"context"
	"encoding/binary"
	"math"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
)

// generous grants everything at once, so that the benchmarks see memory only.
func generous(_ context.Context, _ access.ClientNo, _, n int64, now time.Time) (ratelimit.Grant, error) {
	return ratelimit.Grant{Granted: n, Used: n, WindowEnd: now.Add(ratelimit.Window)}, nil
}

func BenchmarkTake(b *testing.B) {
	const limit = math.MaxInt64 / 2
	ahead := func(int64) int64 { return limit - 1000 }
	b.Run("the clock alone", func(b *testing.B) { // the floor of all below
		now := time.Now
		for b.Loop() {
			now()
		}
	})
	b.Run("spare", func(b *testing.B) {
		l := ratelimit.New(generous, nil, ahead, time.Now)
		b.ReportAllocs()
		for b.Loop() {
			l.Take(context.Background(), client, limit)
		}
	})
	b.Run("refused", func(b *testing.B) {
		l := newLedger().limiter(0, time.Now)
		b.ReportAllocs()
		for b.Loop() {
			l.Take(context.Background(), client, 1)
		}
	})
	b.Run("parallel/one client", func(b *testing.B) {
		l := ratelimit.New(generous, nil, ahead, time.Now)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.Take(context.Background(), client, limit)
			}
		})
	})
	b.Run("parallel/own client", func(b *testing.B) {
		l := ratelimit.New(generous, nil, ahead, time.Now)
		var next atomic.Int64
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			own := access.ClientNo(next.Add(1))
			for pb.Next() {
				l.Take(context.Background(), own, limit)
			}
		})
	})
	b.Run("store each time", func(b *testing.B) {
		l := ratelimit.New(newLedger().reserve, nil, func(int64) int64 { return 0 }, time.Now)
		b.ReportAllocs()
		for b.Loop() {
			l.Take(context.Background(), client, limit)
		}
	})
}

func BenchmarkAddresses(b *testing.B) {
	b.Run("one address", func(b *testing.B) {
		l := ratelimit.NewAddresses(1000, 100_000, time.Now)
		addr := netip.MustParseAddr("2001:db8::1")
		b.ReportAllocs()
		for b.Loop() {
			l.Take(addr)
		}
	})
	b.Run("flood", func(b *testing.B) {
		l := ratelimit.NewAddresses(1000, 100_000, time.Now)
		var ip [16]byte
		n := uint64(0)
		b.ReportAllocs()
		for b.Loop() {
			n++
			binary.BigEndian.PutUint64(ip[:], n)
			l.Take(netip.AddrFrom16(ip))
		}
	})
}

func BenchmarkSet(b *testing.B) {
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		ratelimit.Set(h, ratelimit.Decision{Limit: 100_000, Remaining: 99_995, Reset: 1768473000, ResetIn: 3500})
	}
}
