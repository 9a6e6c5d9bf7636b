package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline/pipelinetest"
)

// turnIn is a turn of the caller's in a language.
type turnIn struct{ language, text string }

// turnsIn has the caller say a turn every 6 s from the first second on, each 1 s long, and the agent follow to Spanish and French.
func turnsIn(s *pipelinetest.Scene, turns ...turnIn) {
	s.Config.Agent.Follows = []string{"en", "es", "fr"}
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
