package pipeline_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/remote"
	"parley/inference/soniox"
	"parley/inference/soniox/sonioxtest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/pipelinetest"
)

// turnIn is a turn of the caller's in a language.
type turnIn struct{ language, text string }

// turnsIn has the caller say a turn every 6 s from the first second on, each 1 s long, and the agent follow to Spanish and French.
func turnsIn(s *pipelinetest.Scene, turns ...turnIn) {
	s.Config.Agent.Follows, s.ASR.Caps.Detects = []string{"en", "es", "fr"}, true
	s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "One. "), enginetest.Sentences(150*ms, "Two. "), enginetest.Sentences(150*ms, "Three. "),
		enginetest.Sentences(150*ms, "Four. "), enginetest.Sentences(150*ms, "Five. ")}
	s.Leg.Speech, s.ASR.Plan = nil, nil
	for i, turn := range turns {
		from := time.Duration(1+6*i) * time.Second
		s.Leg.Speech = append(s.Leg.Speech, pipelinetest.Utterance{From: from, To: from + time.Second})
		for _, h := range enginetest.Spoken(from, from+time.Second, turn.text) {
			h.Language = turn.language
			s.ASR.Plan = append(s.ASR.Plan, h)
		}
	}
}

// answersIn are the languages in which the model was asked to answer, and in which the voice spoke the answers.
func answersIn(s *pipelinetest.Scene) (model, voice string) {
	for _, c := range s.LLM.Calls() {
		model += " " + c.Request.Language
	}
	for _, c := range s.TTS.Calls() {
		if slices.Contains(strings.Fields("One. Two. Three. Four. Five."), strings.TrimSpace(c.Speech.Text)) {
			voice += " " + c.Speech.Language
		}
	}
	return strings.TrimSpace(model), strings.TrimSpace(voice)
}

var (
	hola   = turnIn{"es", "hola quería reservar una mesa"}
	manana = turnIn{"es", "para mañana a las nueve"}
	thanks = turnIn{"en", "thank you very much"}
	bye    = turnIn{"en", "that is all for today"}
)

// TestFollowsTheCaller: with the second turn in another language the model answers in it, and the voice speaks it; one turn in
// between changes nothing, nor does a language that the agent does not follow to.
func TestFollowsTheCaller(t *testing.T) {
	ca := turnIn{"ca", "bon dia voldria una taula"}
	for name, c := range map[string]struct {
		turns        []turnIn
		change       func(*pipelinetest.Scene)
		model, voice string
	}{
		"there and back":           {[]turnIn{hola, manana, thanks, bye}, nil, "en es es en", "en es es en"},
		"one turn of another":      {[]turnIn{thanks, hola, bye}, nil, "en en en", "en en en"},
		"nothing said of a turn":   {[]turnIn{hola, {"", "forty two"}, manana}, nil, "en en es", "en en es"},
		"not to all":               {[]turnIn{ca, ca}, nil, "en en", "en en"},
		"an agent that does not":   {[]turnIn{hola, manana}, func(s *pipelinetest.Scene) { s.Config.Agent.Follows = nil }, "en en", "en en"},
		"with speculative replies": {[]turnIn{hola, manana, hola}, ahead, "en en es es", "en es es"}, // of the second turn's, one is dropped
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 6000*time.Duration(len(c.turns)), func(s *pipelinetest.Scene) {
				turnsIn(s, c.turns...)
				if c.change != nil {
					c.change(s)
				}
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if model, voice := answersIn(s); model != c.model || voice != c.voice {
					t.Errorf("the model was asked for %s, the voice for %s; want %s and %s", model, voice, c.model, c.voice)
				}
				want := "en"
				if len(s.Config.Agent.Follows) > 0 {
					want = ""
				}
				if got := s.ASR.Streams()[0].Config().Language; got != want {
					t.Errorf("the recogniser listens for %q, want %q", got, want)
				}
			})
		})
	}
}

// hearsIn are the languages of the recogniser's streams, the first first.
func hearsIn(s *pipelinetest.Scene) (languages string) {
	for _, stream := range s.ASR.Streams() {
		languages += " " + stream.Config().Language
	}
	return strings.TrimSpace(languages)
}

// TestRecogniserFollowsTheCaller: one that hears one language at a time is opened again for the one that the agent comes to
// speak, before the next turn, of which it hears all. Another goes on, and so does one that does not know the language.
func TestRecogniserFollowsTheCaller(t *testing.T) {
	for name, c := range map[string]struct {
		detects bool
		knows   []string
		opened  string
	}{
		"one at a time":              {false, []string{"en", "es"}, "en es en"},
		"several":                    {true, []string{"en", "es"}, ""},
		"one at a time, and not all": {false, []string{"en", "fr"}, "en"},
	} {
		t.Run(name, func(t *testing.T) {
			turns := []turnIn{hola, manana, hola, thanks, bye}
			play(t, 6000*time.Duration(len(turns)), func(s *pipelinetest.Scene) {
				turnsIn(s, turns...)
				s.ASR.Caps.Detects, s.ASR.Languages = c.detects, c.knows
				s.Config.Agent.FirstMessage, s.TTS.Sentence = "Casa Lola.", 300*ms
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if got := hearsIn(s); got != c.opened {
					t.Errorf("the recogniser was opened for %q, want %q", got, c.opened)
				}
				if model, voice := answersIn(s); model != "en es es es en" || voice != model {
					t.Errorf("the model was asked for %s, the voice for %s", model, voice)
				}
				var lines []string
				for _, turn := range turns {
					lines = append(lines, fmt.Sprintf("user_line %q", turn.text))
				}
				has(t, s, lines...)
				for i, stream := range s.ASR.Streams() {
					if a := stream.Config(); (a.Hints.Context != "") != (a.Language != "es") {
						t.Errorf("stream %d knows the first message in %s", i+1, a.Language)
					}
				}
			})
		})
	}
}

// TestLanguageOfAVendor: a vendor that hears several languages says which, in a stream that goes on.
func TestLanguageOfAVendor(t *testing.T) {
	t.Parallel()
	script := sonioxtest.Script{}
	for _, turn := range []turnIn{hola, manana} {
		script.Utterances = append(script.Utterances, sonioxtest.Utterance{Text: turn.text, Length: 800 * ms, Language: turn.language})
	}
	server := sonioxtest.New(t, script)
	asr, err := soniox.NewASR(remote.Engine{BaseURL: server.URL, APIKey: server.Key})
	if err != nil {
		t.Fatal(err)
	}
	s := pipelinetest.NewScene()
	turnsIn(s)
	s.Recogniser, s.Unkept = asr, true // sockets keep real time
	s.Leg.Audio = make([]int16, 7*16000)
	for i := range script.Utterances {
		from := time.Duration(500+3500*i) * ms
		s.Leg.Speech = append(s.Leg.Speech, pipelinetest.Utterance{From: from, To: from + 800*ms})
		for k := range 800 * 16 {
			s.Leg.Audio[int(from/ms)*16+k] = int16(8000 * math.Sin(2*math.Pi*440*float64(k)/16000))
		}
	}
	s.Play(t, 6500*ms)
	if model, voice := answersIn(s); model != "en es" || voice != model {
		t.Errorf("the model was asked for %s, the voice for %s\n%s", model, voice, s.Log())
	}
	if b := server.Books(); b.Opened != 1 {
		t.Errorf("%d streams were opened", b.Opened)
	}
}

// TestChangeOfLanguage: what a client changes is heard from then on, after what the caller is saying.
func TestChangeOfLanguage(t *testing.T) {
	for name, c := range map[string]struct {
		at    time.Duration
		again bool // and back
		first int  // utterances that the first stream hears
		want  string
	}{
		"before they speak":  {500 * ms, false, 0, "en es"},
		"while they speak":   {1500 * ms, false, 1, "en es"},
		"and back meanwhile": {1500 * ms, true, 2, "en"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 14000, func(s *pipelinetest.Scene) {
				turnsIn(s, hola, manana)
				s.Config.Agent.Follows, s.Config.Agent.Goodbye = nil, "Bye now."
				s.Act = func(call *pipeline.Call) {
					time.Sleep(c.at)
					call.Update(func(a *agent.Agent) { a.Language = "es" })
					if c.again {
						call.Update(func(a *agent.Agent) { a.Language = "en" })
						return
					}
					time.Sleep(11*time.Second - c.at)
					call.Stop(media.MaxDuration, "", true)
				}
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if got := hearsIn(s); got != c.want || s.ASR.Streams()[0].Finishes() != c.first {
					t.Errorf("the recogniser was opened for %q, and the first stream heard %d utterances", got, s.ASR.Streams()[0].Finishes())
				}
				has(t, s, `user_line "hola quería reservar una mesa"`, `user_line "para mañana a las nueve"`)
				if !c.again {
					has(t, s, `agent_line "Tengo que terminar la llamada. Adiós."`)
				}
			})
		})
	}
}

// TestFirstMessageHasItsLanguage: in another one the model greets who has only said hello over it.
func TestFirstMessageHasItsLanguage(t *testing.T) {
	for language, asked := range map[string]int{"en": 0, "es": 1} {
		play(t, 12000, func(s *pipelinetest.Scene) {
			s.Config.Agent.FirstMessage = "Casa Lola."
			s.TTS.Sentence = 3 * time.Second
			s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "One. ")}
			s.Act = func(call *pipeline.Call) {
				time.Sleep(500 * ms)
				call.Interrupt()
				call.Update(func(a *agent.Agent) { a.Language = language })
			}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			if n := len(s.LLM.Calls()); n != asked {
				t.Errorf("in %s the model was asked %d times, want %d", language, n, asked)
			}
		}, said(3000, 3500, map[string]string{"en": "hello", "es": "hola"}[language]))
	}
}

// TestLinesFollowTheCaller: what the agent says without the model is in the caller's language, too, and is made ahead, once for each; a
// goodbye of its own is of the language that it began with.
func TestLinesFollowTheCaller(t *testing.T) {
	for _, c := range []struct {
		turns                       []turnIn
		language, reprompt, goodbye string
	}{
		{[]turnIn{hola, manana}, "es", "¿Sigue ahí?", "Tengo que terminar la llamada. Adiós."},
		{[]turnIn{hola, manana, thanks, bye}, "en", "Are you still there?", "Bye now."},
	} {
		play(t, 80000, func(s *pipelinetest.Scene) {
			turnsIn(s, c.turns...)
			s.Config.Agent.Goodbye = "Bye now."
			s.Config.Turn.Idle, s.Config.Turn.Reprompts = 5*media.Second, 1
		}, func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, `agent_line "`+c.reprompt+`"`, `agent_line "`+c.goodbye+`"`)
			n := 0
			for _, made := range s.TTS.Calls() {
				if strings.TrimSpace(made.Speech.Text) != c.reprompt {
					continue
				}
				if n++; made.Speech.Language != c.language || made.Start.Sub(s.Leg.Start()) > 9*time.Second {
					t.Errorf("%q was made in %s at %v", c.reprompt, made.Speech.Language, made.Start.Sub(s.Leg.Start()))
				}
			}
			if n != 1 {
				t.Errorf("%q was made %d times", c.reprompt, n)
			}
		})
	}
}

// TestScorerFollowsTheCaller: pauses are judged in the language that is spoken.
func TestScorerFollowsTheCaller(t *testing.T) {
	scorer := &enginetest.FakeTurnScorer{Prob: func(inference.Pause) float64 { return 0.9 }}
	play(t, 18000, func(s *pipelinetest.Scene) {
		turnsIn(s, hola, manana, hola)
		s.Config.Scorer = scorer
	}, func(t *testing.T, _ *pipelinetest.Scene) {
		pauses := scorer.Pauses()
		if first, last := pauses[0].Language, pauses[len(pauses)-1].Language; first != "en" || last != "es" {
			t.Errorf("judged in %s, then in %s", first, last)
		}
	})
}
