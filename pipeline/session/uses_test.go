package session_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
)

// TestEnginesOnOwnKeys: what the engines of a call have used is stored by engine and unit, with what their vendors charge the
// operator, and tokens on a key of the account's are counted as that.
func TestEnginesOnOwnKeys(t *testing.T) {
	for _, c := range []struct {
		own   string // the engine with a key of the account's
		want  []string
		reply int64 // tokens that the model's reply is charged for
	}{
		{"", []string{
			"asr ears of ears-1 operator open_seconds 12000 counted costs 0.001",
			"asr ears of ears-1 operator requests 2 counted",
			"llm fake-llm of fake-llm-1 operator tokens_in 1000 provider costs 0.002 at 0.0006",
			"llm fake-llm of fake-llm-1 operator tokens_out 50 provider at 0.00012",
			"tts voice of voice-1 operator characters 30 provider",
		}, 1000},
		{"fake-llm", []string{
			"asr ears of ears-1 operator open_seconds 12000 counted costs 0.001",
			"asr ears of ears-1 operator requests 2 counted",
			"llm fake-llm of fake-llm-1 account tokens_in 1000 provider at 0",
			"llm fake-llm of fake-llm-1 account tokens_out 50 provider at 0",
			"tts voice of voice-1 operator characters 30 provider",
		}, 0},
		{"ears", []string{
			"asr ears of ears-1 account open_seconds 12000 counted at 0",
			"asr ears of ears-1 account requests 2 counted at 0",
			"llm fake-llm of fake-llm-1 operator tokens_in 1000 provider costs 0.002 at 0.0006",
			"llm fake-llm of fake-llm-1 operator tokens_out 50 provider at 0.00012",
			"tts voice of voice-1 operator characters 30 provider",
		}, 1000},
	} {
		t.Run(c.own, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := (&sessiontest.FakeLedger{}).Open(t, 0)
				s := o.Call(web, func(s *pipelinetest.Scene) {
					thirsty(s, 1000, 50)
					s.Leg.HangUp = 9500 * ms
					s.Act = nil
					s.Leg.Speech = []pipelinetest.Utterance{{From: 1000 * ms, To: 2500 * ms}}
					s.ASR.Plan, s.ASR.FinalAfter = nil, 100*ms
				})
				s.Serves(func(stage agent.Stage, name string) session.Engine {
					return session.Engine{Stage: stage, Name: name, Model: name + "-1", Own: name == c.own,
						Costs: billing.Costs{billing.OpenSeconds: 5_000_000, billing.TokensIn: 2 * billing.USD}}
				})
				for range 2 {
					s.Spent(inference.StageASR, "ears", inference.Usage{Open: 6 * time.Second, Requests: 1, Source: inference.UsageCounted})
					s.Spent(inference.StageTTS, "voice", inference.Usage{Characters: 15, Source: inference.UsageProvider})
				}
				o.Wait()
				var got []string
				for _, u := range o.Ledger.Closings[0].Uses {
					whose := "operator"
					if u.Own {
						whose = "account"
					}
					line := fmt.Sprintf("%s %s of %s %s %s %d %s", u.Stage, u.Engine, u.Model, whose, u.Unit, u.Quantity, u.Source)
					if u.Cost != nil {
						line += " costs " + u.Cost.String()
					}
					if u.Price != nil {
						line += " at " + u.Price.String()
					}
					got = append(got, line)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q", got)
				}
				last := o.Ledger.Reports[len(o.Ledger.Reports)-1].Usage
				if last[billing.ReplyIn] != c.reply || last[billing.OwnIn] != 1000-c.reply || (last[billing.OwnOut] == 50) != (c.reply == 0) {
					t.Errorf("counted %v", last)
				}
				if g := o.Ledger.Talks[s.ID()].Generations; len(g) != 1 || g[0].Own != (c.reply == 0) {
					t.Errorf("%+v", g)
				}
			})
		})
	}
}
