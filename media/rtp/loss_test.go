package rtp_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/quality"
	"parley/media/rtp"
)

// relay loses packets by a pattern and keeps account of it.
type relay struct {
	rng  *rand.Rand
	loss float64 // share of packets at which a run of losses begins
	run  int     // packets of it

	sent, lost, bursts int
	left               int
	wasLost            bool
}

func (r *relay) drop(p []byte) bool {
	if len(p) != 172 {
		return false // a report
	}
	r.sent++
	if r.left == 0 && r.rng.Float64() < r.loss {
		r.left = r.run
	}
	if r.left == 0 {
		r.wasLost = false
		return false
	}
	r.left--
	r.lost++
	if !r.wasLost {
		r.bursts++
	}
	r.wasLost = true
	return true
}

// The score of a call is the E-model's for what the network really did.
func TestScoreOfLossPatterns(t *testing.T) {
	for _, p := range []struct {
		name string
		loss float64
		run  int
	}{
		{"random 1 %", 0.01, 1},
		{"random 5 %", 0.05, 1},
		{"5 % in bursts of 6", 0.05 / 6, 6},
	} {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				const delay = 40 * time.Millisecond
				n.delay = delay
				r := &relay{rng: rand.New(rand.NewPCG(3, 4)), loss: p.loss, run: p.run}
				a := newCall(t, n, func(cfg *rtp.Config) { cfg.RTCP = n.host(ourRTCP.String()) })
				b := newCall(t, n, func(cfg *rtp.Config) {
					cfg.RTP, cfg.Remote, cfg.RTCP = n.host(phoneAddr.String()), ourAddr, n.host(phoneRTCP.String())
				})
				// Only what goes to a is lost: the receiver scores.
				far := n.hosts[phoneAddr]
				n.drop = func(p []byte) bool { return n.sender == far && r.drop(p) }
				together(time.Minute, a, b)
				s := a.s.Stats()
				if r.lost == 0 || s.Lost != uint64(r.lost) && s.Lost+uint64(r.run) < uint64(r.lost) || s.Lost > uint64(r.lost) {
					t.Errorf("lost %d, counted %d", r.lost, s.Lost)
				}
				want := quality.MOS(quality.G711, delay+media.FrameDuration, float64(r.lost)/float64(r.sent), float64(r.lost)/float64(r.bursts))
				if math.Abs(s.MOS-want) > 0.1 {
					t.Errorf("MOS %.3f, the E-model says %.3f: lost %d of %d in %d runs", s.MOS, want, r.lost, r.sent, r.bursts)
				}
				if s.MOSMin > s.MOS || s.MOSMin < 1 {
					t.Errorf("least %.3f, mean %.3f", s.MOSMin, s.MOS)
				}
				q := s.Quality()
				if q.Lost != s.Lost || math.Abs(q.Loss-float64(r.lost)/float64(r.sent)) > 0.002 || q.MOS != s.MOS ||
					math.Abs(q.RTTMS-80) > 2 || q.ConcealedMS < int64(r.lost)*15 || q.ConcealedMS > int64(r.lost)*21 {
					t.Errorf("%+v", q)
				}
				// What it reports to the far end, and what that makes of it.
				if far := b.s.Stats(); far.Lost != 0 || math.Abs(far.RemoteLost-p.loss*float64(p.run)) > 0.08 {
					t.Errorf("the far end: %+v", far)
				}
				a.hangUp()
				b.hangUp()
			})
		})
	}
}
