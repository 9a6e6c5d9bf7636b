package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/billing"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store"
	"parley/store/ledger"
)

func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 2)
		a, b := o.Enter(web), o.Enter(web)
		if _, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Terms: web}}); err != session.ErrFull || o.Live() != 2 {
			t.Errorf("a third of two: %v, %d live", err, o.Live())
		}
		a.End(hungUp)
		busy := true
		o.Refuse(func() bool { return busy })
		if _, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Terms: web}}); err != session.ErrFull || o.Live() != 1 {
			t.Errorf("a second of two on a busy node: %v, %d live", err, o.Live())
		}
		busy = false
		o.Ledger.Start = func() error { return store.ErrConcurrency }
		if _, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Terms: web}}); err != store.ErrConcurrency || o.Live() != 1 {
			t.Errorf("refused by the store: %v, %d live", err, o.Live())
		}
		b.End(hungUp)
		b.End(media.Ended{Reason: media.Failed})
		a.End(hungUp)
		if err := o.Drain(t.Context()); err != nil || o.Live() != 0 {
			t.Errorf("drained: %v", err)
		}
		a.End(hungUp)
		if _, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Terms: web}}); err != session.ErrDraining {
			t.Errorf("while draining: %v", err)
		}
		if err := o.Drain(t.Context()); err != nil {
			t.Errorf("drained again: %v", err)
		}
		if n := len(o.Ledger.Closings); n != 2 {
			t.Errorf("%d sessions were closed, want each of 2 once", n)
		}
	})
}

// TestAdmissionWaitsForTheWallet: where many sessions of an account begin at once, the last of them wait longer than a statement
// does; one that others keep for good is given up.
func TestAdmissionWaitsForTheWallet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		locked := store.Fail("start session", &pgconn.PgError{Code: "55P03"})
		asked := 0
		o.Ledger.Start = func() error {
			if asked++; asked < 3 {
				return locked
			}
			return nil
		}
		s, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Terms: web}})
		if err != nil || asked != 3 {
			t.Fatalf("%v after %d attempts", err, asked)
		}
		s.End(hungUp)
		asked, o.Ledger.Start = 0, func() error { asked++; return locked }
		if _, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Terms: web}}); !errors.Is(err, store.ErrUnavailable) || asked != 3 || o.Live() != 0 {
			t.Errorf("a wallet that is locked for good: %v after %d attempts, %d live", err, asked, o.Live())
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		asked = 0
		if _, err := o.Admit(gone, session.Admission{Start: ledger.Start{Terms: web}}); err == nil || asked != 1 {
			t.Errorf("a caller who has left: %v after %d attempts", err, asked)
		}
	})
}

// TestCheckpoints: with a call's answer and every 5 s, what was used since the clock
// began, which ends with the call and not with its leg.
func TestCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		waiting := o.Enter(web)
		time.Sleep(2500 * ms)
		o.Call(inbound, func(s *pipelinetest.Scene) {
			s.Config.MaxDuration = 20 * time.Second
			s.Leg.Linger = 30 * time.Second
		})
		o.Calls.Wait()
		waiting.End(hungUp)
		o.Wait()
		var log []string
		for _, r := range o.Ledger.Reports {
			log = append(log, fmt.Sprintf("%v %s #%d %v %d %d", r.At, r.ID, r.Seq, !r.StartedAt.IsZero(), r.Usage[billing.AgentTime], r.Usage[billing.LineTime]))
		}
		want := []string{"1s s1 #1 false 0 0", "2.5s s2 #1 true 0 0", "6s s1 #2 false 0 0", "6s s2 #2 true 3500 3500", "11s s1 #3 false 0 0",
			"11s s2 #3 true 8500 8500", "16s s1 #4 false 0 0", "16s s2 #4 true 13500 13500", "21s s1 #5 false 0 0", "21s s2 #5 true 18500 18500",
			"26s s1 #6 false 0 0", "26s s2 #6 true 22200 22200"}
		slices.SortStableFunc(log, func(a, b string) int { return at(a) - at(b) })
		if got := log[:len(want)]; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		// Twenty seconds, two seconds of goodbye and the silence after it.
		for _, c := range o.Ledger.Closings {
			switch c.ID {
			case "s1":
				if c.Usage != (billing.Usage{}) || !c.StartedAt.IsZero() {
					t.Errorf("a session without a call used %v", c.Usage)
				}
			case "s2":
				if c.Reason != "max_duration" || c.Usage[billing.AgentTime] != 22200 || c.Usage[billing.LineTime] != 22200 || c.Ended != 24700*ms || c.At != 54700*ms {
					t.Errorf("closed %+v", c)
				}
			}
		}
	})
}

// at is the seconds that a line of a log begins with, and the number of its session.
func at(line string) int {
	d, session, _ := strings.Cut(line, " ")
	when, err := time.ParseDuration(d)
	if err != nil {
		panic(err)
	}
	return int(when/time.Millisecond)*10 + int(session[1]-'0')
}

// TestWhatCannotBeStored: a session whose report the ledger refuses says goodbye,
// for nothing more of it would be paid for; the others go on.
func TestWhatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad *session.Session
		o := (&sessiontest.FakeLedger{Checkpoint: func(at time.Duration, s *ledger.Session) (r ledger.CheckpointResult) {
			if s.ID == "s2" && at > 3*time.Second {
				r.Err = fmt.Errorf("%w: too much", store.ErrInvalid)
			}
			return r
		}}).Open(t, 0)
		good := o.Call(web, until(9500*ms))
		bad = o.Call(web, until(9500*ms))
		o.Wait()
		o.WantEnd(good, "9.5s user_hangup")
		if got := o.Ended[bad.ID()]; !strings.HasSuffix(got, "failed: node_lost") || got[0] != '6' && got[0] != '8' {
			t.Errorf("ended %q", got)
		}
	})
}

// TestAnswersAreReportedAtOnce: a number that rang has been called, even if this
// node dies in the seconds before the next round.
func TestAnswersAreReportedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		time.Sleep(1300 * ms)
		o.Call(inbound, until(2500*ms))
		o.Call(web, until(2500*ms))
		o.Wait()
		first := o.Ledger.Reports[0]
		if first.At != 1300*ms || first.ID != "s1" || first.StartedAt.IsZero() || len(o.Ledger.Reports) != 1 {
			t.Errorf("got %+v", o.Ledger.Reports)
		}
	})
}

// TestTokensAreReportedSoon, of the session that used them alone.
func TestTokensAreReportedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		o.Call(web, until(9500*ms))
		time.Sleep(5 * ms)
		s := o.Call(web, func(s *pipelinetest.Scene) {
			thirsty(s, 1000, 50)
			s.Leg.HangUp = 9500 * ms
			s.Act = nil
			s.Leg.Speech = []pipelinetest.Utterance{{From: 1000 * ms, To: 2500 * ms}}
			s.ASR.Plan, s.ASR.FinalAfter = nil, 100*ms
		})
		o.Wait()
		var soon []string
		for _, r := range o.Ledger.Reports {
			if r.At%time.Second != 0 {
				soon = append(soon, fmt.Sprintf("%v %s %d %d", r.At, r.ID, r.Usage[billing.ReplyIn], r.Usage[billing.ReplyOut]))
			}
		}
		if want := []string{"3.945s s2 1000 50"}; !slices.Equal(soon, want) {
			t.Errorf("got %q, want %q", soon, want)
		}
		talk := o.Ledger.Talks[s.ID()]
		if len(talk.Transcript) != 2 || talk.Transcript[0].Role != "user" || talk.Transcript[1].Text != "Yes." || len(talk.Generations) != 1 {
			t.Fatalf("stored %+v", talk)
		}
		g := talk.Generations[0]
		if want := (store.Generation{Gen: 1, Turn: 1, Kind: "reply", Outcome: "committed", InTokens: 1000, OutTokens: 50, Source: "provider", Engine: "fake-llm"}); g != want {
			t.Errorf("stored %+v, want %+v", g, want)
		}
		if !strings.Contains(string(talk.Turns), `"endpoint_ms":200,"model_ms":150,"voice_ms":80,"total_ms":430`) {
			t.Errorf("stored turns %s", talk.Turns)
		}
	})
}

// poor is a wallet at the floor.
var poor = ledger.CheckpointResult{Pots: billing.Pots{Paid: -card.Wallet().Overdraft}}

// TestFloor: at the overdraft floor the agent says goodbye; the others go on.
func TestFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Checkpoint: func(at time.Duration, s *ledger.Session) (r ledger.CheckpointResult) {
			if s.ID == "s1" && at >= 10*time.Second {
				return poor
			}
			return ledger.CheckpointResult{Pots: billing.Pots{Paid: 1}}
		}}).Open(t, 0)
		a, b := o.Call(web, nil), o.Call(web, until(20*time.Second))
		o.Wait()
		o.WantEnd(a, "13.2s balance_exhausted")
		o.WantEnd(b, "20s user_hangup")
	})
}

// TestLineMinutes are asked for ten seconds before they begin, once each.
func TestLineMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		o.Call(inbound, until(165*time.Second))
		o.Call(web, until(165*time.Second))
		o.Wait()
		if want := []string{"s1 2 at 50s: <nil>", "s1 3 at 1m50s: <nil>"}; !slices.Equal(o.Ledger.Minutes, want) {
			t.Errorf("got %q", o.Ledger.Minutes)
		}
	})
}

// TestRefusedLineMinute: the call says goodbye within the minute that is paid.
func TestRefusedLineMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Permit: func(at time.Duration, minute int64) error {
			if minute == 3 {
				return store.ErrInsufficientBalance
			}
			return nil
		}}).Open(t, 0)
		s := o.Call(inbound, func(s *pipelinetest.Scene) { s.Config.Agent.FirstMessage = strings.Repeat("Long sentence. ", 300) })
		o.Wait()
		o.WantEnd(s, "1m53.28s balance_exhausted")
	})
}

// TestUnansweredLineMinute: no answer is no refusal; it is asked for again.
func TestUnansweredLineMinute(t *testing.T) {
	for _, no := range []error{store.ErrUnavailable, ledger.ErrLater, store.ErrInvalid} {
		synctest.Test(t, func(t *testing.T) {
			o := (&sessiontest.FakeLedger{Permit: func(at time.Duration, _ int64) error {
				if at < 55*time.Second {
					return no
				}
				return nil
			}}).Open(t, 0)
			s := o.Call(inbound, until(70*time.Second))
			o.Wait()
			o.WantEnd(s, "1m10s user_hangup")
			if n := len(o.Ledger.Minutes); n != 6 || !strings.HasSuffix(o.Ledger.Minutes[5], "2 at 55s: <nil>") {
				t.Errorf("%v: asked %q", no, o.Ledger.Minutes)
			}
		})
	}
}

// TestLineMinutesOfManyCalls are asked for together, and each call has its own answer.
func TestLineMinutesOfManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 30
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		refused := 0
		o.Ledger.Permit = func(time.Duration, int64) error {
			if refused++; refused == 7 {
				return store.ErrInsufficientBalance
			}
			return nil
		}
		var all []*session.Session
		for range calls {
			all = append(all, o.Call(inbound, until(70*time.Second)))
		}
		time.Sleep(50500 * ms)
		o.Ledger.Mu.Lock()
		if o.Ledger.Asked != 1 || len(o.Ledger.Minutes) != calls {
			t.Errorf("%d minutes were asked for in %d questions, want %d in one", len(o.Ledger.Minutes), o.Ledger.Asked, calls)
		}
		o.Ledger.Mu.Unlock()
		o.Wait()
		ends := map[string]int{}
		for _, s := range all {
			ends[o.EndOf(s)]++
		}
		if want := map[string]int{"1m10s user_hangup": calls - 1, "52.2s balance_exhausted": 1}; !maps.Equal(ends, want) {
			t.Errorf("ended %v, want %v", ends, want)
		}
	})
}

// TestFencedNode: a younger process has the name. Its calls are closed there, so
// they are hung up here, at once.
func TestFencedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Beat: func(at time.Duration) error {
			if at > 9*time.Second {
				return store.ErrFenced
			}
			return nil
		}, Close: func(time.Duration) error { return store.ErrFenced }}).Open(t, 0)
		s := o.Call(web, nil)
		o.Wait()
		o.WantEnd(s, "10s failed: node_lost")
		if err := <-o.Ran; !errors.Is(err, store.ErrFenced) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// TestFencedSession: one session is somebody else's.
func TestFencedSession(t *testing.T) {
	for _, verdict := range []error{store.ErrFenced, store.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			o := (&sessiontest.FakeLedger{Checkpoint: func(at time.Duration, s *ledger.Session) (r ledger.CheckpointResult) {
				if s.ID == "s1" {
					r.Err = verdict
				}
				return r
			}}).Open(t, 0)
			a, b := o.Call(web, nil), o.Call(web, until(3*time.Second))
			o.Wait()
			o.WantEnd(a, "1s failed: node_lost")
			o.WantEnd(b, "3s user_hangup")
		})
	}
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Permit: func(time.Duration, int64) error { return store.ErrFenced }}).Open(t, 0)
		s := o.Call(inbound, nil)
		o.Wait()
		o.WantEnd(s, "50s failed: node_lost")
	})
}

// TestDatabaseAway: calls outlive a short outage; after 30 s without books they say
// goodbye, also when only the books fail.
func TestDatabaseAway(t *testing.T) {
	from12To := func(to time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at > 12*time.Second && at < to }
	}
	for _, c := range []struct {
		name   string
		ledger *sessiontest.FakeLedger
		ended  time.Duration
		reason string
	}{
		{"for 25 s", &sessiontest.FakeLedger{Away: from12To(37 * time.Second)}, 50 * time.Second, "user_hangup"},
		// The books were last stored at 11 s; the goodbye takes 2.2 s.
		{"for 43 s", &sessiontest.FakeLedger{Away: from12To(55 * time.Second)}, 44200 * ms, "failed"},
		{"but for the node's heartbeat", &sessiontest.FakeLedger{Locked: from12To(55 * time.Second)}, 44200 * ms, "failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := c.ledger.Open(t, 0)
				o.Call(web, until(50*time.Second))
				o.Wait()
				if got := o.Ledger.Closings; len(got) != 1 || got[0].Ended != c.ended || got[0].Reason != c.reason {
					t.Errorf("closed %+v, want %s at %v", got, c.reason, c.ended)
				}
			})
		})
	}
}

// TestCloseOutlivesTheCall: a database that is away for longer than anybody waits gets the
// end of the session all the same, as it was, when it is back.
func TestCloseOutlivesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Away: func(at time.Duration) bool { return at > 9*time.Second && at < 10*time.Minute }}).Open(t, 0)
		s := o.Call(web, until(10*time.Second))
		o.Wait()
		o.WantEnd(s, "1m10.5s user_hangup")
		o.Ledger.Mu.Lock()
		if n := len(o.Ledger.Closings); n != 0 {
			t.Errorf("%d closings of a ledger that is away", n)
		}
		o.Ledger.Mu.Unlock()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		o.Ledger.Mu.Lock()
		defer o.Ledger.Mu.Unlock()
		c := o.Ledger.Closings
		if len(c) != 1 || c[0].At != 10*time.Minute || c[0].Ended != 10*time.Second || c[0].Usage[billing.AgentTime] != 10000 || c[0].Reason != "user_hangup" {
			t.Errorf("closed %+v", c)
		}
		if len(o.Ledger.Talks) != 1 {
			t.Error("the conversation was not saved")
		}
	})
}

// TestOrphans: sessions that the ledger has and the node does not are closed; those that
// are here, or whose end is still to be stored, are not.
func TestOrphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Close: func(at time.Duration) error {
			if at < 5*time.Minute {
				return errors.New("deadlock detected")
			}
			return nil
		}}
		o := l.Open(t, 0)
		here := o.Call(web, until(4*time.Minute))
		ended := o.Call(web, until(10*time.Second))
		l.Mu.Lock()
		l.Live = []ledger.Lost{{Account: "a", ID: here.ID()}, {Account: "a", ID: ended.ID()}, {Account: "b", ID: "nobody's"}}
		l.Mu.Unlock()
		time.Sleep(3*time.Minute + time.Second)
		l.Mu.Lock()
		for _, lost := range l.Lost {
			if lost.ID != "nobody's" {
				t.Errorf("%s was closed as nobody's", lost.ID)
			}
		}
		if len(l.Lost) != 6 { // as often as the ledger shows it
			t.Errorf("%d sessions were closed as nobody's, want 6", len(l.Lost))
		}
		if closed, failed := o.LostSessions(); closed != 6 || failed != 0 {
			t.Errorf("counted are %d sessions, and %d failures", closed, failed)
		}
		l.Mu.Unlock()
		o.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(l.Closings); n != 2 {
			t.Errorf("%d closings, want 2", n)
		}
	})
}

// TestStartOfUnknownOutcome: a session that was started without the node's hearing of it
// is closed.
func TestStartOfUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Unknown: true}
		o := l.Open(t, 0)
		_, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: "a", Terms: web}})
		if !errors.Is(err, store.ErrUnavailable) || o.Live() != 0 {
			t.Fatalf("admitted: %v, %d live", err, o.Live())
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if c := l.Closings; len(c) != 1 || c[0].ID != "s1" || c[0].Reason != "failed" || c[0].Usage != (billing.Usage{}) {
			t.Errorf("closed %+v", c)
		}
		if len(l.Talks) != 0 {
			t.Error("a conversation was saved that did not take place")
		}
	})
}

// TestCutOff: a node whose heartbeats do not arrive while those of others do hangs up
// before the others close its sessions; one that hears nobody goes on for 30 s.
func TestCutOff(t *testing.T) {
	for _, c := range []struct {
		name    string
		heard   time.Duration // the last that is heard of others
		ended   time.Duration
		whether string
	}{
		// The last heartbeat was at 10 s; the goodbye takes 2.2 s.
		{"among others", time.Minute, 20200 * ms, "failed"},
		{"alone", 0, 44200 * ms, "failed"},
		{"others are cut off, too", 15 * time.Second, 44200 * ms, "failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := (&sessiontest.FakeLedger{Away: func(at time.Duration) bool { return at > 11500*ms && at < 70*time.Second }}).Open(t, 0)
				done := make(chan struct{})
				go func() {
					defer close(done)
					for time.Since(o.Begun) < c.heard {
						o.Heard()
						time.Sleep(2 * time.Second)
					}
				}()
				o.Call(web, until(50*time.Second))
				o.Wait()
				<-done
				if got := o.Ledger.Closings; len(got) != 1 || got[0].Ended != c.ended || got[0].Reason != c.whether {
					t.Errorf("closed %+v, want %s at %v", got, c.whether, c.ended)
				}
			})
		})
	}
}

// TestLockedAccount: a wallet that another transaction has ends the calls of its account
// alone, and what only follows from a checkpoint ends none.
func TestLockedAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Follow: errors.New("webhooks"), Checkpoint: func(at time.Duration, s *ledger.Session) (r ledger.CheckpointResult) {
			if s.Account == "locked" && at > 12*time.Second {
				r.Err = ledger.ErrLater
			}
			return r
		}}
		o := l.Open(t, 0)
		o.Payer = "locked"
		waits := o.Call(web, until(2*time.Minute))
		o.Payer = "free"
		goesOn := o.Call(web, until(2*time.Minute))
		o.Wait()
		o.WantEnd(waits, "44.2s failed: node_lost")
		o.WantEnd(goesOn, "2m0s user_hangup")
	})
}

// TestCloseIsRetried while the database is away, and charges what was used up to
// the hang-up.
func TestCloseIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Away: func(at time.Duration) bool { return at > 9*time.Second && at < 20*time.Second }}).Open(t, 0)
		s := o.Call(web, until(10*time.Second))
		o.Wait()
		o.WantEnd(s, "20s user_hangup")
		if c := o.Ledger.Closings[0]; c.Usage[billing.AgentTime] != 10000 || c.Ended != 10*time.Second {
			t.Errorf("closed %+v", c)
		}
	})
}

// TestCloseAnyhow: a conversation that cannot be stored does not keep the session
// open, nor does an error that nobody expected keep it from being closed later.
func TestCloseAnyhow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Save: func(time.Duration) error { return store.ErrInvalid },
			Close: func(at time.Duration) error {
				if at < 12*time.Second {
					return errors.New("deadlock detected")
				}
				return nil
			}}).Open(t, 0)
		o.Call(web, until(10*time.Second))
		o.Wait()
		if n := len(o.Ledger.Closings); n != 1 {
			t.Errorf("%d closings, want 1", n)
		}
		// A session that ends for no reason must be closed too.
		o.Enter(web).End(media.Ended{})
		if c := o.Ledger.Closings; len(c) != 2 || c[1].Reason != "failed" {
			t.Errorf("closed %+v", c)
		}
	})
}

// TestDrain waits for calls, then lets them say goodbye, then cuts them off.
func TestDrain(t *testing.T) {
	for _, c := range []struct {
		name     string
		patience time.Duration
		scene    func(*pipelinetest.Scene)
		ended    string
		drained  time.Duration
		failed   bool
	}{
		{"the caller hangs up", 30 * time.Second, until(20 * time.Second), "20s user_hangup", 20 * time.Second, false},
		{"the time is up", 15 * time.Second, nil, "18.2s api_hangup: drain", 18200 * ms, false},
		{"a goodbye that takes too long", 15 * time.Second, func(s *pipelinetest.Scene) { s.TTS.FirstAudio = time.Minute }, "24s api_hangup: drain", 24 * time.Second, false},
		{"one that does not even hear", 15 * time.Second, func(s *pipelinetest.Scene) {
			s.Observe = func(*pipeline.Call, event.Event) {
				if time.Since(s.Leg.Start()) > 15*time.Second {
					time.Sleep(20 * time.Second)
				}
			}
		}, "", 31 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := (&sessiontest.FakeLedger{}).Open(t, 0)
				s := o.Call(web, c.scene)
				time.Sleep(time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				err := o.Drain(ctx)
				if got := time.Since(o.Begun); got != c.drained || (err != nil) != c.failed {
					t.Errorf("drained after %v with %v, want %v", got, err, c.drained)
				}
				o.Calls.Wait()
				if c.ended != "" {
					o.WantEnd(s, c.ended)
				}
			})
		})
	}
}

// TestDrainCatchesLateComers: a session that is being admitted when all calls are
// told to end does not begin to talk.
func TestDrainCatchesLateComers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Start: func() error { time.Sleep(3 * time.Second); return nil }}
		o := l.Open(t, 0)
		go func() {
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := o.Drain(ctx); err != nil {
				t.Errorf("drained: %v", err)
			}
		}()
		s := o.Call(web, func(s *pipelinetest.Scene) { s.Config.Agent.FirstMessage = "Hello." })
		o.Wait()
		o.WantEnd(s, "3s api_hangup: drain")
	})
}

// TestStopDoesNotWait for a call whose conductor is stuck: the meter serves all.
func TestStopDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Checkpoint: func(time.Duration, *ledger.Session) ledger.CheckpointResult { return poor }}).Open(t, 0)
		stuck := o.Call(web, func(s *pipelinetest.Scene) {
			s.Observe = func(*pipeline.Call, event.Event) { time.Sleep(time.Minute) }
		})
		for range 20 {
			stuck.Stop(media.Ended{Reason: media.APIHangup})
		}
		if got := time.Since(o.Begun); got != 0 {
			t.Errorf("Stop took %v", got)
		}
		b := o.Call(web, nil)
		o.Wait()
		o.WantEnd(b, "3.2s balance_exhausted")
	})
}

// TestStoppedBeforeItsCall: a session that was stopped when it had no call yet.
func TestStoppedBeforeItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(web)
		s.Stop(media.Ended{Reason: media.APIHangup, Detail: "first"})
		s.Stop(media.Ended{Reason: media.APIHangup, Detail: "second"})
		scene := pipelinetest.NewScene()
		scene.Config.Agent.FirstMessage = "Hello."
		s.Bind(&scene.Config)
		call := scene.Call()
		if err := call.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ended := s.Conduct(call, scene.Leg); ended.Detail != "first" {
			t.Errorf("ended %v", ended)
		}
		if c := o.Ledger.Closings[0]; c.Usage != (billing.Usage{}) || len(scene.Leg.Sent()) != 0 {
			t.Errorf("it cost %v and said %d frames", c.Usage, len(scene.Leg.Sent()))
		}
	})
}
