package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
)

// streams gives the scene a voice that streams, with the times of its own.
func streams(s *pipelinetest.Scene) *enginetest.FakeStreamingTTS {
	v := &enginetest.FakeStreamingTTS{FakeTTS: s.TTS}
	s.Voice = v
	return v
}

// playStream conducts a scene with a voice that streams: one that marks the ends of sentences, and one that does not.
// No utterance may be open after it.
func playStream(t *testing.T, limit time.Duration, setup func(*pipelinetest.Scene, *enginetest.FakeStreamingTTS),
	check func(*testing.T, *pipelinetest.Scene, *enginetest.FakeStreamingTTS), said ...pipelinetest.Said) {
	for _, unmarked := range []bool{false, true} {
		t.Run(fmt.Sprintf("unmarked %v", unmarked), func(t *testing.T) {
			var v *enginetest.FakeStreamingTTS
			play(t, limit, func(s *pipelinetest.Scene) {
				v = streams(s)
				v.Unmarked = unmarked
				setup(s, v)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				closed(t, v)
				check(t, s, v)
			}, said...)
		})
	}
}

// closed checks that no utterance is open.
func closed(t *testing.T, v *enginetest.FakeStreamingTTS) {
	t.Helper()
	for i, u := range v.Utterances() {
		if !u.Over {
			t.Errorf("utterance %d is left open: %+v", i+1, u)
		}
	}
}

// says checks what the voice was given, utterance by utterance.
func says(t *testing.T, v *enginetest.FakeStreamingTTS, want ...string) {
	t.Helper()
	var got []string
	for _, u := range v.Utterances() {
		got = append(got, strings.Join(u.Says, "|"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the voice was given %q, want %q", got, want)
	}
}

// TestStreamingBargeIn: who interrupts in the second sentence ends the utterance; what was heard counts, and nothing that
// was made is heard later.
func TestStreamingBargeIn(t *testing.T) {
	playStream(t, 8000, func(s *pipelinetest.Scene, _ *enginetest.FakeStreamingTTS) { fourSentences(s) },
		func(t *testing.T, s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
			cutAt(6340)(t, s)
			says(t, v, "We have a table. |It is for four. |It is by the window. ", "We have a table. |It is for four. ")
			if u := v.Utterances()[0]; !u.Cancelled || u.Ended {
				t.Errorf("the interrupted utterance: %+v", u)
			}
			has(t, s, "6340 interrupted", `6340 agent_line "We have a table. It"`, "7640 speaking 2")
		}, table, said(6000, 7200, "no wait, I meant Friday"))
}

// TestStreamingAhead: the voice has the second sentence while it speaks the first one, and the third one when the first was
// played.
func TestStreamingAhead(t *testing.T) {
	var mu sync.Mutex
	var given []int // how many sentences the voice had when one became audible
	playStream(t, 11000, func(s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
		fourSentences(s)
		v.Every = 90 * ms // hardly faster than it is played
		given = nil
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			if e.Kind == event.AgentPartial {
				time.AfterFunc(10*ms, func() {
					mu.Lock()
					defer mu.Unlock()
					given = append(given, len(v.Utterances()[0].Says))
				})
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
		if want := []int{2, 3, 4, 4}; !slices.Equal(given, want) {
			t.Errorf("as each sentence began, the voice had %d, want %d", given, want)
		}
		says(t, v, "We have a table. |It is for four. |It is by the window. |It is quiet there. ")
		if u := v.Utterances()[0]; !u.Ended || u.Cancelled {
			t.Errorf("the utterance: %+v", u)
		}
		has(t, s, `agent_line "We have a table. It is for four. It is by the window. It is quiet there."`, "used 1 committed", "listening")
	}, table)
}

// TestStreamingWordTimes: the words of each sentence were said when they were heard, though the voice counts from the beginning
// of the reply.
func TestStreamingWordTimes(t *testing.T) {
	var words []string
	playStream(t, 11000, func(s *pipelinetest.Scene, _ *enginetest.FakeStreamingTTS) {
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(160*ms, "One. ", "It is €25. ", "Three.")}
		words = nil
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			if e.Kind == event.AgentLine {
				for _, w := range e.Said.Words {
					words = append(words, fmt.Sprintf("%s %d", w.Text, w.From.Duration().Milliseconds()-words0))
				}
			}
		}
	}, func(t *testing.T, _ *pipelinetest.Scene, _ *enginetest.FakeStreamingTTS) {
		// "It is twenty-five euros." has four marks of 250 ms.
		if want := []string{"One. 0", "It 1000", "is 1250", "€25. 1500", "Three. 2000"}; !slices.Equal(words, want) {
			t.Errorf("words at %q, want %q", words, want)
		}
	}, table)
}

// words0 is when the answer to table is audible first, in ms.
const words0 = 5000

// TestStreamingTexts: a voice that normalises texts has them as they are shown, others as they are spoken; one reply is one
// utterance.
func TestStreamingTexts(t *testing.T) {
	for _, normalises := range []bool{false, true} {
		playStream(t, 12000, func(s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
			v.Normalises, s.Config.Agent.VoiceNormalises = normalises, normalises
			s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(160*ms, "It is €25. ", "At 9:30."), enginetest.Sentences(160*ms, "🙂 ", "Yes.")}
		}, func(t *testing.T, s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
			first := "It is twenty-five euros. |At nine thirty. "
			if normalises {
				first = "It is €25. |At 9:30. "
			}
			says(t, v, first, v.Utterances()[1].Says[0])
			has(t, s, `agent_line "It is €25. At 9:30."`, `agent_line "🙂 Yes."`)
		}, table, said(8000, 9000, "thank you"))
	}
}

// TestStreamingSlowModel: a voice that has said what it has does not owe anything, unless it does not mark where a sentence
// ends: then it is asked again after 1.5 s, with what follows.
func TestStreamingSlowModel(t *testing.T) {
	playStream(t, 16000, func(s *pipelinetest.Scene, _ *enginetest.FakeStreamingTTS) {
		s.LLM.Replies = [][]enginetest.Step{{{After: 160 * ms, Text: "One moment please. "}, {After: 5 * time.Second, Text: "It is booked."}}}
	}, func(t *testing.T, s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
		has(t, s, `agent_line "One moment please. It is booked."`, "used 1 committed")
		if !v.Unmarked {
			says(t, v, "One moment please. |It is booked. ")
			if strings.Contains(s.Log(), "recovered") {
				t.Error("the voice is taken to be silent")
			}
		}
	}, table)
}

// TestStreamingIdles: a voice may give up an utterance while there is nothing to speak.
func TestStreamingIdles(t *testing.T) {
	for _, failover := range []bool{false, true} {
		var failed []string
		play(t, 16000, func(s *pipelinetest.Scene) {
			v := streams(s)
			v.Idle = time.Second
			if failover {
				s.Voice = inference.NewFailoverTTS(inference.FailoverConfig{Failed: func(engine string, _ error) { failed = append(failed, engine) }}, v)
			}
			s.LLM.Replies = [][]enginetest.Step{{{After: 160 * ms, Text: "One moment please. "}, {After: 3 * time.Second, Text: "It is booked."}}}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, `agent_line "One moment please. It is booked."`, "used 1 committed")
			if strings.Contains(s.Log(), "recovered") || failed != nil {
				t.Errorf("the voice is taken to be broken: %q", failed)
			}
		}, table)
	}
}

// TestStreamingBreaks: what a voice that breaks off has left, and what it was given after that, another utterance speaks.
func TestStreamingBreaks(t *testing.T) {
	const line = `agent_line "We have a table. It is for four. It is by the window. It is quiet there."`
	const twice = `agent_line "We have a table. It is It is for four. It is by the window. It is quiet there."`
	for name, c := range map[string]struct {
		err   error
		words bool   // it says when they are said
		again string // what the second utterance is given
		line  string
	}{
		"breaks off":                  {broken, true, "for four. |It is by the window. |It is quiet there. ", line},
		"falls silent":                {nil, true, "for four. |It is by the window. |It is quiet there. ", line},
		"breaks off, without words":   {broken, false, "It is for four. |It is by the window. |It is quiet there. ", twice},
		"falls silent, without words": {nil, false, "It is for four. |It is by the window. |It is quiet there. ", twice},
	} {
		t.Run(name, func(t *testing.T) {
			playStream(t, 16000, func(s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
				fourSentences(s)
				v.Limit, v.LimitIn, v.Err = 5, "It is for", c.err
				if !c.words {
					v.MarkEvery = 0
				}
				s.Observe = func(_ *pipeline.Call, e event.Event) {
					if e.Kind == event.Recovered {
						v.Limit = -1 // it may be given the same text again
					}
				}
			}, func(t *testing.T, s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
				has(t, s, "5000 speaking 1", c.line, "used 1 committed", "listening")
				if n := strings.Count(s.Log(), "recovered"); n != 1 {
					t.Errorf("recovered %d times", n)
				}
				if u := v.Utterances(); len(u) != 2 || strings.Join(u[1].Says, "|") != c.again {
					t.Errorf("the voice was given %+v", u)
				}
			}, table)
		})
	}
}

// TestStreamingRate: a voice whose audio cannot be played is stopped, though more is to be said.
func TestStreamingRate(t *testing.T) {
	playStream(t, 9000, func(s *pipelinetest.Scene, v *enginetest.FakeStreamingTTS) {
		v.Rate = 11025
		s.LLM.Replies = [][]enginetest.Step{{{After: 160 * ms, Text: "One moment please. "}, {After: 30 * time.Second, Text: "It is booked."}}}
	}, func(t *testing.T, s *pipelinetest.Scene, _ *enginetest.FakeStreamingTTS) {
		has(t, s, "5000 fault fake-tts: failed: a sample rate that no call has", "5000 used 1 failed")
	}, table)
}

// TestStreamingFailover: an engine that fails between two sentences is replaced within the utterance; one that breaks off in a
// sentence by the next utterance. Either way all is said once.
func TestStreamingFailover(t *testing.T) {
	const line = `agent_line "We have a table. It is for four. It is by the window. It is quiet there."`
	for _, limit := range []int{0, 5} {
		for _, whole := range []bool{false, true} {
			var first, second *enginetest.FakeStreamingTTS
			play(t, 12000, func(s *pipelinetest.Scene) {
				second = streams(s)
				first = enginetest.NewFakeStreamingTTS()
				first.Name, first.Limit, first.LimitIn, first.Err = "first", limit, "It is for", broken
				engines := []inference.TTS{first, second}
				if whole {
					engines[1] = s.TTS
				}
				s.Voice = inference.NewFailoverTTS(inference.FailoverConfig{}, engines...)
				fourSentences(s)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				has(t, s, "5000 speaking 1", line, "used 1 committed", "listening")
				if got := strings.Contains(s.Log(), "recovered"); got != (limit > 0) {
					t.Errorf("recovered: %v", got)
				}
				closed(t, first)
				closed(t, second)
				if n := len(first.Utterances()); n != 1 {
					t.Errorf("%d utterances of the first", n)
				}
				if n := len(second.Utterances()); n != 1 && !whole || n != 0 && whole {
					t.Errorf("%d utterances of the second", n)
				}
				if n := first.Busy() + second.Busy(); n != 0 {
					t.Errorf("%d texts are still spoken", n)
				}
			}, table)
		}
	}
}

// TestFailoverCostsNoWord: an engine that breaks off in a sentence is followed by another from the first word that was not
// spoken to its end or, without the times of words, from the beginning of the sentence.
func TestFailoverCostsNoWord(t *testing.T) {
	for limit := 1; limit < 10; limit++ {
		for _, words := range []bool{true, false} {
			var first, second *enginetest.FakeStreamingTTS
			play(t, 13000, func(s *pipelinetest.Scene) {
				second = streams(s)
				first = enginetest.NewFakeStreamingTTS()
				first.Name, first.Limit, first.LimitIn, first.Err = "first", limit, "It is for", broken
				if !words {
					first.MarkEvery = 0
				}
				s.Voice = inference.NewFailoverTTS(inference.FailoverConfig{}, first, second)
				fourSentences(s)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				left := strings.Fields("It is for four.") // 250 ms each, of which limit times 100 ms were spoken
				if words {
					left = left[limit*100/250:]
				}
				says(t, second, strings.Join(left, " ")+" |It is by the window. |It is quiet there. ")
				has(t, s, "5000 speaking 1", "used 1 committed", "listening")
				closed(t, first)
				closed(t, second)
			}, table)
		}
	}
}

// TestScenariosStream: the conversations go the same way, byte for byte, with a voice that streams, and it has one utterance for each
// reply at most.
func TestScenariosStream(t *testing.T) {
	for _, sc := range slices.Concat(scenarios, speculative, functions) {
		for _, unmarked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, unmarked %v", sc.name, unmarked), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := pipelinetest.NewScene(sc.said...)
					if sc.setup != nil {
						sc.setup(s)
					}
					if s.Voice != nil || s.TTS.Every > 0 {
						t.Skip("the times of the voice are part of the scene")
					}
					v := streams(s)
					v.Unmarked = unmarked
					s.Play(t, sc.limit*ms+10*ms)
					want, err := os.ReadFile(filepath.Join("testdata", strings.ReplaceAll(sc.name, " ", "_")+".log"))
					if err != nil {
						t.Fatal(err)
					}
					if got := s.Log() + "\n"; settled(got) != settled(string(want)) {
						t.Errorf("the conversation went differently.\ngot:\n%s\nwant:\n%s", got, want)
					}
					if sc.check != nil {
						sc.check(t, s)
					}
					closed(t, v)
					if n, replies := len(v.Utterances()), max(len(s.LLM.Calls()), strings.Count(s.Log(), " thinking ")); n > replies {
						t.Errorf("%d utterances for %d replies", n, replies)
					}
				})
			})
		}
	}
}
