package ledger_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"parley/billing"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// volatile is what the other tests use; durable waits for the disk at each commit.
func BenchmarkCheckpoint(b *testing.B) {
	b.Run("volatile", func(b *testing.B) { benchmarkCheckpoint(b, setup(b)) })
	b.Run("durable", func(b *testing.B) {
		db := storetest.Open(b, durableCluster(b))
		if err := db.Migrate(b.Context()); err != nil {
			b.Fatal(err)
		}
		benchmarkCheckpoint(b, prepare(b, db))
	})
}

func benchmarkCheckpoint(b *testing.B, f *fixture) {
	s := f.Start(f.NewAccount(10*usd), web)
	b.ResetTimer()
	for i := range b.N {
		u := billing.Usage{billing.AgentTime: int64(i) * 1000}
		if _, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: int64(i + 1), StartedAt: t0, Usage: u}); err != nil {
			b.Fatal(err)
		}
	}
}

// Many nodes' sessions over many wallets, as fast as they can.
func BenchmarkCheckpointParallel(b *testing.B) {
	f := setup(b)
	var sessions []*ledger.Session
	for range 100 {
		sessions = append(sessions, f.Start(f.NewAccount(10*usd), web))
	}
	var next atomic.Int64
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := next.Add(1)
			c := ledger.Checkpoint{Session: sessions[i%100], Seq: i, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: i * 10}}
			if _, err := f.Checkpoint(f.Context(), c); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkCheckpointBatch(b *testing.B) {
	for _, n := range []int{50, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := setup(b)
			var cs []ledger.Checkpoint
			for range n {
				cs = append(cs, ledger.Checkpoint{Session: f.Start(f.NewAccount(10*usd), web), StartedAt: t0})
			}
			b.ResetTimer()
			for range b.N {
				for i := range cs {
					cs[i].Seq++
					cs[i].Usage[billing.AgentTime] += 5000
				}
				if _, err := f.Checkpoints(f.Context(), cs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "checkpoints/s")
		})
	}
}

func BenchmarkSession(b *testing.B) {
	f := setup(b)
	acc := f.NewAccount(1000 * usd)
	b.ResetTimer()
	for range b.N {
		s := f.Start(acc, web)
		f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 5000, billing.ReplyIn: 100, billing.ReplyOut: 10})
		f.CloseWith(s, billing.Usage{billing.AgentTime: 6000})
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	f := setup(b)
	_, secret, err := people.New(f.DB).MakeKey(b.Context(), people.NewKey{Account: f.NewAccount(0), Name: "k", Role: people.RoleMember})
	f.OK(err)
	b.ResetTimer()
	for range b.N {
		if _, err := people.New(f.DB).Authenticate(b.Context(), secret); err != nil {
			b.Fatal(err)
		}
	}
}
