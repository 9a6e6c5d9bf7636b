package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/pipelinetest"
)

// asks makes a scene an outbound call whose agent has a first message.
func asks(on agent.OnMachine) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) {
		s.Config.Answering = &journal.Answering{OnMachine: on, Message: "Please call us back. Thank you."}
		s.Config.Agent.FirstMessage = "Hello, this is Ana."
		s.TTS.FirstAudio = 85 * ms // between two frames
	}
}

func also(setups ...func(*pipelinetest.Scene)) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) {
		for _, f := range setups {
			f(s)
		}
	}
}

func wordless(s *pipelinetest.Scene) { s.Config.Agent.FirstMessage = "" }

func toneAt(from, to time.Duration) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) { s.Leg.Tone = [2]time.Duration{from * ms, to * ms} }
}

var hello = said(500, 900, "hello")

// greeting is a machine's; its first words do not give it away.
var greeting = said(300, 5000, "hello this is Anna speaking from far away please leave a message after the tone")

// answers are outbound calls with a machine, an assistant or a person at the other end.
var answers = []scenario{
	{name: "answered by a person", said: []pipelinetest.Said{hello, said(4000, 5000, "yes that is me")}, setup: asks(agent.HangUp), limit: 9000},
	{name: "answered by a person whom the model answers", said: []pipelinetest.Said{hello}, setup: also(asks(agent.LeaveMessage), wordless), limit: 7000},
	{name: "answered by a machine to hang up on", said: []pipelinetest.Said{greeting}, setup: asks(agent.HangUp), limit: 9000},
	{name: "answered by a machine to leave a message to", said: []pipelinetest.Said{greeting}, setup: also(asks(agent.LeaveMessage), toneAt(5500, 6000)), limit: 12000},
	{name: "answered by a machine without a tone", said: []pipelinetest.Said{greeting}, setup: asks(agent.LeaveMessage), limit: 35000},
	{name: "answered by a machine that hangs up", said: []pipelinetest.Said{greeting}, limit: 9000,
		setup: also(asks(agent.LeaveMessage), func(s *pipelinetest.Scene) { s.Leg.HangUp = 6 * time.Second })},
	{name: "answered by a machine that talks into the message", said: []pipelinetest.Said{greeting, said(7000, 9000, "press one to listen to it")},
		setup: also(asks(agent.LeaveMessage), toneAt(5500, 6000)), limit: 12000},
	{name: "answered by a machine to talk to", said: []pipelinetest.Said{greeting}, setup: asks(agent.Continue), limit: 7000},
	{name: "answered by an assistant", said: []pipelinetest.Said{said(300, 4500, "hello say your name and why you are calling and wait")},
		setup: asks(agent.HangUp), limit: 8000},
	{name: "answered by nobody", setup: asks(agent.HangUp), limit: 7000},
	{name: "answered when the balance is used up", said: []pipelinetest.Said{greeting}, limit: 9000,
		setup: also(asks(agent.LeaveMessage), func(s *pipelinetest.Scene) {
			s.Act = func(c *pipeline.Call) {
				time.Sleep(3010 * ms)
				c.Stop(media.BalanceExhausted, "", true)
			}
		})},
	{name: "answered by a machine with a voice that fails", said: []pipelinetest.Said{greeting, said(6020, 8000, "are you there")}, limit: 20000,
		setup: also(asks(agent.LeaveMessage), toneAt(5500, 6000), func(s *pipelinetest.Scene) { s.TTS.Limit, s.TTS.Err = 0, broken })},
}

func TestAnswered(t *testing.T) {
	for _, sc := range answers {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(sc.said...)
				s.Leg.Telephone()
				sc.setup(s)
				ended := s.Play(t, sc.limit*ms+10*ms)
				everyFrame(t, s)
				golden(t, filepath.Join("testdata", strings.ReplaceAll(sc.name, " ", "_")+".log"), s.Log()+"\n")
				machine := strings.Contains(s.Log(), "answered \"machine\"") && s.Config.Answering.OnMachine != agent.Continue
				if machine && len(s.LLM.Calls()) > 0 {
					t.Error("the model was asked to talk to a machine")
				}
				if machine && ended.Reason != media.Voicemail && ended.Reason != media.BalanceExhausted {
					t.Errorf("it ended with %v", &ended)
				}
			})
		})
	}
}

// TestSecondHello: who says hello again as the first message begins hears it to its end.
func TestSecondHello(t *testing.T) {
	for _, c := range []struct {
		name, again string
		from, to    time.Duration // of it
		on          agent.OnMachine
		heard       string
	}{
		{"as it begins", "hello hello", 1950, 2550, agent.HangUp, "Hello, this is Ana. I am calling about your order."},
		{"before it begins", "hello hello", 1880, 2780, agent.HangUp, "Hello, this is Ana. I am calling about your order."},
		{"as two other words", "yellow low", 1950, 2750, agent.LeaveMessage, "Hello, this is Ana. I am calling about your order."},
		{"for so long that it interrupts", "hello", 2000, 3400, agent.HangUp, "I am calling about your order."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(hello, said(c.from, c.to, c.again))
				s.Leg.Telephone()
				asks(c.on)(s)
				s.Config.Agent.FirstMessage = "Hello, this is Ana. I am calling about your order."
				s.Play(t, 8010*ms)
				if !strings.Contains(s.Log(), "agent_line \""+c.heard+"\"") {
					t.Errorf("the first message was not heard to its end:\n%s", s.Log())
				}
			})
		})
	}
}

// TestInterruptedFirstMessage: who goes on talking is answered, by a model that knows what
// they have not heard.
func TestInterruptedFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(hello, said(2400, 4450, "hello who is this please"))
		s.Leg.Telephone()
		asks(agent.HangUp)(s)
		s.Config.Agent.FirstMessage = "Hello, this is Ana. I am calling about your order."
		s.Play(t, 9010*ms)
		calls := s.LLM.Calls()
		if len(calls) == 0 {
			t.Fatalf("nobody answered:\n%s", s.Log())
		}
		if got := calls[0].Request.Unheard; got != "your order." {
			t.Errorf("the model knows that this was not heard: %q\n%s", got, s.Log())
		}
	})
}
