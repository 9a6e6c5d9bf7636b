package pipeline_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference/enginetest"
	"parley/media"
	onhold "parley/media/hold"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/listen"
	"parley/pipeline/pipelinetest"
)

// desk is whom agents of these tests may transfer to.
func desk() *bridge.Transfer {
	return &bridge.Transfer{
		To: []agent.Destination{{Number: "+34911234567", Name: "sales", Description: "Orders"}, {Number: "+34911234568"}},
		Check: func(_ context.Context, number string) (string, error) {
			if strings.HasPrefix(number, "+349") {
				return number, nil
			}
			return "", errors.New("this number cannot be called")
		},
	}
}

// hands over has the model transfer the caller after some words.
func handsOver(s *pipelinetest.Scene, arguments string) {
	s.Leg.Telephone()
	s.Config.Transfer = desk()
	s.LLM.Replies = [][]enginetest.Step{with("I will put you through. ", "transfer_call", arguments), enginetest.Sentences(150*ms, "It is busy. ")}
}

// rings is a far end that takes a while for a transfer.
func rings(d time.Duration, err error) func(context.Context, string) error {
	return func(ctx context.Context, _ string) error {
		select {
		case <-time.After(d):
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var transfers = []scenario{
	{name: "transfer", said: []pipelinetest.Said{said(1000, 2500, "sales please")}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"Sales"}`)
			s.Leg.Moves = rings(3*time.Second, nil)
		}},
	{name: "transfer fails", said: []pipelinetest.Said{said(1000, 2500, "sales please")}, limit: 12000,
		setup: func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"+34 911 234 567"}`)
			s.Leg.Moves = rings(3*time.Second, errors.New("the number is busy"))
		}},
	{name: "transfer that the caller follows", said: []pipelinetest.Said{said(1000, 2500, "sales please")}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"sales"}`)
			// The far end leaves in the same moment.
			s.Leg.Moves = rings(3*time.Second, nil)
			s.Leg.HangUp = 4140*ms + 3*time.Second
		}},
	{name: "transfer hung up on", said: []pipelinetest.Said{said(1000, 2500, "sales please")}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"sales"}`)
			s.Leg.Moves = rings(2*time.Second, errors.New("the call is over"))
			s.Leg.HangUp = 5010 * ms
		}},
	{name: "transfer interrupted", said: []pipelinetest.Said{said(1000, 2500, "sales please"), said(3140, 4000, "no wait")}, limit: 8000,
		setup: func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"sales"}`)
			s.Leg.Moves = func(context.Context, string) error { panic("it was interrupted") }
		}},
}

func TestTransfers(t *testing.T) {
	for _, sc := range transfers {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(sc.said...)
				sc.setup(s)
				s.Play(t, sc.limit*ms+10*ms)
				everyFrame(t, s)
				golden(t, filepath.Join("testdata", strings.ReplaceAll(sc.name, " ", "_")+".log"), s.Log()+"\n")
			})
		})
	}
}

// TestRefusedTransfers: the model learns why nobody was transferred.
func TestRefusedTransfers(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"to":"marketing"}`:     "not on the list",
		`{"to":"+447700900123"}`: "not on the list",
		`{"to":""}`:              "not on the list",
		`{"to":7}`:               "do not fit",
		`{"to":"sales"}`:         "does not transfer calls",
	} {
		play(t, 8000, func(s *pipelinetest.Scene) { handsOver(s, arguments) }, func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, "tool_ended call_1_1 error", `agent_line "It is busy."`)
			wantResult(t, s.Prompts()[1], want)
		}, said(1000, 2500, "sales please"))
	}
	play(t, 8000, func(s *pipelinetest.Scene) {
		handsOver(s, `{"to":"+447700900123"}`)
		s.Config.Transfer.Any = true
	}, func(t *testing.T, s *pipelinetest.Scene) {
		wantResult(t, s.Prompts()[1], "this number cannot be called")
	}, said(1000, 2500, "sales please"))
}

// TestOneTransferAtATime: while it is under way the caller may speak, and the model be
// asked again, which must not ring a second telephone.
func TestOneTransferAtATime(t *testing.T) {
	asked := 0
	play(t, 16000, func(s *pipelinetest.Scene) {
		handsOver(s, `{"to":"sales"}`)
		s.LLM.Replies = [][]enginetest.Step{s.LLM.Replies[0], with("I am on it. ", "transfer_call", `{"to":"sales"}`), enginetest.Sentences(150*ms, "Still ringing. ")}
		s.Leg.Moves = func(ctx context.Context, to string) error {
			asked++
			return rings(8*time.Second, errors.New("the number is busy"))(ctx, to)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if asked != 1 {
			t.Errorf("%d transfers at once", asked)
		}
		wantResult(t, s.Prompts()[2], "under way")
	}, said(1000, 2500, "sales please"), said(5500, 6500, "hurry up please"))
}

// colleague is the leg of somebody who is called for a transfer.
type colleague struct {
	*pipelinetest.Leg
	ended chan media.Ended
}

// consults has the server call the office for a transfer.
func consults(s *pipelinetest.Scene, setup func(*pipelinetest.Leg), err error) *colleague {
	o := &colleague{ended: make(chan media.Ended, 1)}
	s.Config.Transfer.Consult = func(context.Context, string) (media.Leg, func(media.Ended), error) {
		if err != nil {
			return nil, nil, err
		}
		o.Leg = pipelinetest.NewLeg().Telephone()
		setup(o.Leg)
		return o.Leg, func(e media.Ended) { o.ended <- e }, nil
	}
	return o
}

// TestConnect: somebody is called, told what it is about, and connected to the caller;
// the call ends with them.
func TestConnect(t *testing.T) {
	for name, leaves := range map[string]func(caller, office *pipelinetest.Leg){
		"the office":  func(_, office *pipelinetest.Leg) { office.HangUp = 5 * time.Second },
		"the caller":  func(caller, _ *pipelinetest.Leg) { caller.HangUp = 9 * time.Second },
		"the clock":   nil,
		"an operator": nil,
		"another rate": func(_, office *pipelinetest.Leg) {
			if office.HangUp = 5 * time.Second; office.Format().Continuous {
				office.Wideband()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var o *colleague
			play(t, 20000, func(s *pipelinetest.Scene) {
				handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
				s.Leg.Tone = [2]time.Duration{7 * time.Second, 8 * time.Second}
				s.Leg.Digits = map[time.Duration]byte{8010 * ms: '5'}
				o = consults(s, func(l *pipelinetest.Leg) {
					l.Tone = [2]time.Duration{2 * time.Second, 3 * time.Second}
					if leaves != nil {
						leaves(new(pipelinetest.Leg), l)
					}
				}, nil)
				if leaves != nil {
					leaves(s.Leg, new(pipelinetest.Leg))
				}
				if name == "the clock" {
					s.Config.MaxDuration = 9 * time.Second
					s.Act = func(*pipeline.Call) {
						time.Sleep(8500 * ms)
						if n := s.ASR.Busy(); n != 0 {
							t.Errorf("%d recognisers listen to two people talking", n)
						}
					}
				}
				if name == "an operator" {
					s.Act = func(c *pipeline.Call) {
						time.Sleep(9 * time.Second)
						c.Stop(media.BalanceExhausted, "", true)
					}
				}
			}, func(t *testing.T, s *pipelinetest.Scene) {
				reason := map[string]string{"the clock": "max_duration", "an operator": "balance_exhausted"}[name]
				if reason == "" {
					reason = "completed: transferred"
				}
				has(t, s, `agent_line "I will put you through."`, "tool_ended call_1_1 ok")
				if !strings.HasSuffix(s.Log(), " end "+reason) {
					t.Errorf("it did not end with %s", reason)
				}
				select {
				case <-o.ended:
				default:
					t.Error("the second call has no end")
				}
				// The office heard the summary, then the caller; the caller the office.
				wantAudible(t, "the office", o.Sent(), 0, 2*time.Second)
				wantAudible(t, "the office", o.Sent(), 2700*ms, 3600*ms)
				wantAudible(t, "the caller", s.Leg.Sent(), 6200*ms, 7100*ms)
				if got := o.Pressed(); !strings.HasSuffix(got, ":5") {
					t.Errorf("pressed to the office: %q", got)
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// TestJoin: where the far ends connect the two by themselves the call ends at once, however the office leaves it; where that fails the
// two are connected here, unless the office has gone or the two are to be recorded.
func TestJoin(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome error
		leaves  time.Duration // the office, after it was called; 0: it stays
		record  bool
		end     string // empty: the agent talks on
	}{
		"joined":               {nil, 0, false, "completed: transferred"},
		"joined, and gone":     {nil, 4 * time.Second, false, "completed: transferred"},
		"refused":              {bridge.ErrNoReferral, 8 * time.Second, false, "completed: transferred"},
		"refused, and gone":    {errors.New("the number is busy"), 4 * time.Second, false, ""},
		"recorded, so bridged": {errors.New("it was not to be asked"), 8 * time.Second, true, "completed: transferred"},
	} {
		t.Run(name, func(t *testing.T) {
			var o *colleague
			asked := time.Duration(0)
			play(t, 20000, func(s *pipelinetest.Scene) {
				handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
				s.Config.Transfer.Record = tt.record
				o = consults(s, func(l *pipelinetest.Leg) { l.HangUp = tt.leaves }, nil)
				s.Leg.Joins = func(ctx context.Context, other media.Leg) error {
					began := time.Now()
					if other != media.Leg(o.Leg) {
						t.Error("it is joined to another leg")
					}
					err := rings(3*time.Second, tt.outcome)(ctx, "")
					asked = time.Since(began)
					return err
				}
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if want := 3 * time.Second; (asked == want) == tt.record {
					t.Errorf("the far end was asked for %v", asked)
				}
				if tt.end == "" {
					has(t, s, "tool_ended call_1_1 error", `agent_line "It is busy."`)
					wantResult(t, s.Prompts()[1], "hung up before")
				} else if has(t, s, "tool_ended call_1_1 ok"); !strings.HasSuffix(s.Log(), " end "+tt.end) {
					t.Errorf("it did not end with %s", tt.end)
				}
				want := media.Ended{Reason: media.Completed, Detail: media.Transferred}
				if e := <-o.ended; tt.outcome == nil && tt.leaves == 0 && e != want {
					t.Errorf("the second call ended with %+v", e)
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// wantAudible wants sound between two times, after the leg was made.
func wantAudible(t *testing.T, who string, frames []pipelinetest.Sent, from, to time.Duration) {
	t.Helper()
	n := 0
	for _, f := range frames {
		if f.At >= from && f.At < to && f.Level > 100 {
			n++
		}
	}
	if n < 30 {
		t.Errorf("%s heard %d frames of sound from %v to %v", who, n, from, to)
	}
}

// TestConsultationFails: the caller stays with the agent.
func TestConsultationFails(t *testing.T) {
	for name, test := range map[string]struct {
		setup func(*pipelinetest.Leg)
		err   error
		want  string
	}{
		"busy":     {err: errors.New("the number is busy"), want: "the number is busy"},
		"hangs up": {setup: func(l *pipelinetest.Leg) { l.HangUp = 500 * ms }, want: "hung up before"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 12000, func(s *pipelinetest.Scene) {
				handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
				consults(s, test.setup, test.err)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				has(t, s, "tool_ended call_1_1 error", `agent_line "It is busy."`, "12010 end api_hangup")
				wantResult(t, s.Prompts()[1], test.want)
			}, said(1000, 2500, "sales please"))
		})
	}
}

// TestMachineInsteadOfAColleague: a machine that answers the call for a transfer is told
// nothing, and the caller stays with the agent; a person is told when they have greeted.
func TestMachineInsteadOfAColleague(t *testing.T) {
	for name, test := range map[string]struct {
		greeting pipelinetest.Utterance
		machine  bool
	}{
		"a person":  {pipelinetest.Utterance{From: 300 * ms, To: 900 * ms}, false},
		"nobody":    {pipelinetest.Utterance{}, false},
		"a machine": {pipelinetest.Utterance{From: 300 * ms, To: 9000 * ms}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var o *colleague
			play(t, 20000, func(s *pipelinetest.Scene) {
				handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
				o = consults(s, func(l *pipelinetest.Leg) {
					l.Speech = []pipelinetest.Utterance{test.greeting}
					l.HangUp = 10 * time.Second
				}, nil)
				s.Config.Transfer.Listen = func(media.Rate) (listen.FrontEnd, error) { return pipelinetest.FrontEnd{Leg: o.Leg}, nil }
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if !test.machine {
					has(t, s, "tool_ended call_1_1 ok")
					wantAudible(t, "the office", o.Sent(), 2*time.Second, 7*time.Second)
				} else {
					has(t, s, "tool_ended call_1_1 error", `agent_line "It is busy."`)
					wantResult(t, s.Prompts()[1], "an answering machine")
					if e := <-o.ended; e.Reason != media.Voicemail {
						t.Errorf("the second call ended %v", e)
					}
				}
				for _, f := range o.Sent() {
					if f.Level > 0 && (test.machine || f.At < 1900*ms) {
						t.Fatalf("the office hears something after %v", f.At)
					}
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// TestTypedWhenConnected: what the caller types at the moment in which they are connected to
// somebody else begins no reply, which nobody would hear.
func TestTypedWhenConnected(t *testing.T) {
	play(t, 20000, func(s *pipelinetest.Scene) {
		s.Unkept = true
		handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
		consults(s, func(l *pipelinetest.Leg) { l.HangUp = 8 * time.Second }, nil)
		s.Act = func(c *pipeline.Call) {
			time.Sleep(5 * time.Second)
			// The conductor is away while the summary ends, and finds both in its mailbox.
			c.Update(func(*agent.Agent) { time.Sleep(3 * time.Second) })
			time.Sleep(2500 * ms)
			c.Type("Hello?")
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "tool_ended call_1_1 ok")
		if !strings.HasSuffix(s.Log(), " end completed: transferred") {
			t.Error("the caller was not connected")
		}
		if n := len(s.Prompts()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if strings.Contains(s.Log(), "Hello?") {
			t.Error("a turn began")
		}
	}, said(1000, 2500, "sales please"))
}

// TestRingback: who is being transferred hears a telephone ring until somebody talks to
// them, and nobody says meanwhile that they are still working on it.
func TestRingback(t *testing.T) {
	for name, warm := range map[string]bool{"by the far end": false, "by a call of ours": true} {
		t.Run(name, func(t *testing.T) {
			play(t, 30000, func(s *pipelinetest.Scene) {
				handsOver(s, `{"to":"sales"}`)
				s.Leg.Moves = rings(20*time.Second, nil)
				if warm {
					consults(s, func(*pipelinetest.Leg) {}, nil)
					consult := s.Config.Transfer.Consult
					s.Config.Transfer.Consult = func(ctx context.Context, to string) (media.Leg, func(media.Ended), error) {
						_ = rings(20*time.Second, nil)(ctx, to)
						return consult(ctx, to)
					}
					s.Leg.Moves = rings(0, bridge.ErrNoReferral)
				}
			}, func(t *testing.T, s *pipelinetest.Scene) {
				// It begins at 4,140 ms and sounds for 1.5 of each 4.5 s, in Spain.
				for _, at := range []int{4200, 8700, 13200, 22200} {
					wantAudible(t, "the caller", s.Leg.Sent(), time.Duration(at)*ms, time.Duration(at+1400)*ms)
				}
				for _, l := range levelsOf(s, 5700, 8600) {
					if l != 0 {
						t.Fatal("the tone has no pause")
					}
				}
				for _, l := range levelsOf(s, 24600, 29000) {
					if l != 0 {
						t.Fatal("it rings when the transfer is over")
					}
				}
				if strings.Contains(s.Log(), "working on it") {
					t.Error("the agent speaks over it")
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// strength is the amplitude of a frequency in what the caller hears.
func strength(s *pipelinetest.Scene, from, to time.Duration, hz float64) float64 {
	re, im, n := 0.0, 0.0, 0
	for _, f := range s.Leg.Sent() {
		if f.At < from || f.At >= to {
			continue
		}
		for _, x := range f.Samples {
			w := 2 * math.Pi * hz * float64(n) / float64(s.Leg.Format().Out)
			re, im, n = re+float64(x)*math.Cos(w), im+float64(x)*math.Sin(w), n+1
		}
	}
	return 2 * math.Hypot(re, im) / float64(max(1, n))
}

// TestHoldMusic: while this server calls somebody the caller hears what is there for them, of the right pitch, and the ringing tone
// until it is; where the far end transfers the call, the tone alone.
func TestHoldMusic(t *testing.T) {
	tone := make([]int16, 16000)
	for i := range tone {
		tone[i] = int16(4000 * math.Sin(2*math.Pi*1000*float64(i)/16000))
	}
	codes := onhold.Encode(tone)
	for name, test := range map[string]struct {
		sound   func(media.Rate) *onhold.Player
		after   time.Duration // it is there
		hz, off float64       // what is heard of it, and what is not
		far     bool          // the far end transfers the call
	}{
		"music":          {sound: onhold.Music, hz: 261.63, off: 277.18},
		"recording":      {sound: func(r media.Rate) *onhold.Player { return onhold.Recording(codes, r) }, hz: 1000, off: 425},
		"late":           {sound: func(r media.Rate) *onhold.Player { return onhold.Recording(codes, r) }, after: 5 * time.Second, hz: 1000, off: 425},
		"deleted":        {sound: func(media.Rate) *onhold.Player { return nil }, hz: 425, off: 1000},
		"by the far end": {sound: onhold.Music, hz: 425, off: 261.63, far: true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 30000, func(s *pipelinetest.Scene) {
				handsOver(s, `{"to":"sales"}`)
				s.Leg.Keeps = true
				consults(s, func(*pipelinetest.Leg) {}, nil)
				consult := s.Config.Transfer.Consult
				s.Config.Transfer.Consult = func(ctx context.Context, to string) (media.Leg, func(media.Ended), error) {
					_ = rings(12*time.Second, nil)(ctx, to)
					return consult(ctx, to)
				}
				if test.far {
					s.Leg.Moves = rings(12*time.Second, nil)
				}
				s.Config.Transfer.Hold = func(ctx context.Context, rate media.Rate) *onhold.Player {
					_ = rings(test.after, nil)(ctx, "")
					return test.sound(rate)
				}
			}, func(t *testing.T, s *pipelinetest.Scene) {
				// It is called from 4,140 ms on, and the tone of Spain sounds for 1.5 of each 4.5 s.
				if test.after > 0 {
					if ring, own := strength(s, 4200*ms, 5600*ms, 425), strength(s, 4200*ms, 9*time.Second, test.hz); ring < 1000 || own > 100 {
						t.Errorf("before it is there, the tone has %.0f and the sound %.0f", ring, own)
					}
				}
				from, to := 13200*ms, 14600*ms
				if name == "music" {
					from, to = 4200*ms, 5600*ms // its first bar
				}
				if on, off := strength(s, from, to, test.hz), strength(s, from, to, test.off); on < 100 || off > on/4 {
					t.Errorf("%.0f Hz has %.0f, and %.0f Hz %.0f", test.hz, on, test.off, off)
				}
				for _, l := range levelsOf(s, 17000, 29000) {
					if l != 0 {
						t.Fatal("it sounds when the transfer is over")
					}
				}
			}, said(1000, 2500, "sales please"))
		})
	}
}

// TestHoldOfEarlierTransfer: what comes for a transfer that has failed meanwhile does not sound in the next one.
func TestHoldOfEarlierTransfer(t *testing.T) {
	tone := make([]int16, 16000)
	for i := range tone {
		tone[i] = int16(4000 * math.Sin(2*math.Pi*1000*float64(i)/16000))
	}
	codes := onhold.Encode(tone)
	play(t, 30000, func(s *pipelinetest.Scene) {
		const sales = `{"to":"sales"}`
		handsOver(s, sales)
		s.LLM.Replies = [][]enginetest.Step{with("I will put you through. ", "transfer_call", sales), with("Once more. ", "transfer_call", sales)}
		s.Leg.Keeps = true
		consults(s, func(*pipelinetest.Leg) {}, nil)
		var tries, holds atomic.Int32 // asked from a goroutine each
		s.Config.Transfer.Consult = func(ctx context.Context, to string) (media.Leg, func(media.Ended), error) {
			if tries.Add(1) == 1 {
				return nil, nil, errors.New("the number is busy")
			}
			return nil, nil, rings(12*time.Second, errors.New("nobody answered"))(ctx, to)
		}
		s.Config.Transfer.Hold = func(_ context.Context, rate media.Rate) *onhold.Player {
			if holds.Add(1) > 1 {
				return nil
			}
			time.Sleep(5 * time.Second) // a database that does not end when it is told to
			return onhold.Recording(codes, rate)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "tool_ended call_1_1 error", "tool_ended call_2_1 error")
		if own, ring := strength(s, 10200*ms, 11500*ms, 1000), strength(s, 10200*ms, 11500*ms, 425); own > ring/10 || ring < 500 {
			t.Errorf("the sound has %.0f and the tone %.0f", own, ring)
		}
	}, said(1000, 2500, "sales please"))
}
