package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/listen"
	"parley/pipeline/pipelinetest"
)

// TestBatchRecogniser: one that recognises whole utterances is asked once a turn, though
// the caller pauses in it, and how long it took is measured from then on.
func TestBatchRecogniser(t *testing.T) {
	var waits []time.Duration
	turn := []pipelinetest.Said{said(1000, 1500, ""), said(1660, 2200, ""), said(2360, 3000, "")}
	for name, c := range map[string]struct {
		batch bool
		asked int
		log   string
	}{"batch": {true, 1, "3500 user_line"}, "stream": {false, 3, "3400 user_line"}} {
		t.Run(name, func(t *testing.T) {
			waits = nil
			play(t, 6000, func(s *pipelinetest.Scene) {
				s.ASR.Plan, s.ASR.FinalAfter, s.ASR.Texts = nil, 300*ms, []string{"a table for two please"}
				s.Config.Turn.Batch = c.batch
				if c.batch {
					s.ASR.Feed = inference.FeedBatch
				}
				s.Config.Recognised = func(wait time.Duration) { waits = append(waits, wait) }
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if n := s.ASR.Streams()[0].Finishes(); n != c.asked {
					t.Errorf("asked %d times, want %d", n, c.asked)
				}
				if want := []time.Duration{300 * ms}; !slices.Equal(waits, want) {
					t.Errorf("took %v, want %v", waits, want)
				}
				if !strings.Contains(s.Log(), c.log+` "a table for two please"`) {
					t.Errorf("no %q in\n%s", c.log, s.Log())
				}
			}, turn...)
		})
	}
}

// TestBatchStandIn: a recogniser of whole utterances that takes over from one that gets all audio is given speech alone, and once it
// has answered it is asked once a turn.
func TestBatchStandIn(t *testing.T) {
	other := enginetest.NewFakeASR()
	play(t, 15000, func(s *pipelinetest.Scene) {
		other.Name, other.Feed, other.FinalAfter, other.Texts = "other", inference.FeedBatch, 300*ms, []string{"and on Sunday", "a table for two please"}
		s.ASR.Plan, s.ASR.Feed = enginetest.Spoken(1000*ms, 1500*ms, "good morning"), inference.FeedContinuous
		s.Recogniser = inference.NewFailoverASR(inference.FailoverConfig{}, s.ASR, other)
		s.Act = func(*pipeline.Call) {
			time.Sleep(4000 * ms)
			s.ASR.Streams()[0].Fail(broken)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `user_line "good morning"`, `user_line "and on Sunday"`, `user_line "a table for two please"`)
		heir := other.Streams()[0]
		if n := heir.Finishes(); n != 2 {
			t.Errorf("it was asked %d times in two turns", n)
		}
		if n := heir.Written() / 16; n > 4500 {
			t.Errorf("it was given %d ms of audio, with 2,300 of speech in it", n)
		}
	}, said(1000, 1500, ""), said(5500, 6100, ""), said(11500, 12000, ""), said(12160, 12700, ""), said(12860, 13500, ""))
}

// TestWordsEndTurnsForAStandIn: where the recogniser that finds the ends of turns has failed and another took over that does
// not, the words end them, and no turn waits for what never comes.
func TestWordsEndTurnsForAStandIn(t *testing.T) {
	play(t, 12000, func(s *pipelinetest.Scene) {
		other := enginetest.NewFakeASR()
		other.Name, other.Feed, other.FinalAfter = "other", inference.FeedContinuous, -1
		other.Plan = enginetest.Spoken(6000*ms, 7500*ms, "and on Sunday")
		s.ASR.Plan = enginetest.SpokenTurn(1000*ms, 2500*ms, 0, "what time do you open")
		s.ASR.Feed, s.ASR.Caps = inference.FeedContinuous, inference.Caps{Turns: true}
		s.Recogniser = inference.NewFailoverASR(inference.FailoverConfig{}, s.ASR, other)
		s.Config.Turn.EngineTurns = true
		s.Act = func(*pipeline.Call) {
			other.Origin = s.ASR.Origin
			time.Sleep(5000 * ms)
			s.ASR.Streams()[0].Fail(broken)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `2620 user_line "what time do you open"`, `7700 user_line "and on Sunday"`)
	}, said(1000, 2500, ""), said(6000, 7500, ""))
}

// TestRecogniserBehind: what a recogniser that is behind has heard so far is not the turn.
func TestRecogniserBehind(t *testing.T) {
	play(t, 9000, func(s *pipelinetest.Scene) {
		s.ASR.Plan = []enginetest.Heard{{At: 2000 * ms, Text: "what"}, {At: 5040 * ms, Text: "what time do you open", Final: true}}
		s.ASR.Lag = func(at time.Duration) time.Duration { return max(0, 5*time.Second-at) }
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if log := s.Log(); !strings.Contains(log, `user_line "what time do you open"`) || strings.Contains(log, `user_line "what"`) {
			t.Errorf("the turn is not what was said:\n%s", log)
		}
	}, said(1000, 2500, ""))
}

// TestContinuousRecogniser: one that finds the ends of turns by itself gets the call's whole
// audio, and the conversation is the same.
func TestContinuousRecogniser(t *testing.T) {
	heard, logs := map[inference.Feed]int{}, map[inference.Feed]string{}
	for _, feed := range []inference.Feed{inference.FeedUtterances, inference.FeedContinuous} {
		play(t, 6000, func(s *pipelinetest.Scene) {
			s.ASR.Feed, s.ASR.Keep = feed, true
		}, func(t *testing.T, s *pipelinetest.Scene) {
			heard[feed], logs[feed] = len(s.ASR.Streams()[0].Audio())/320, s.Log()
		}, said(1000, 2500, "what time do you open"))
	}
	if n := heard[inference.FeedContinuous]; n < 295 || n > 301 {
		t.Errorf("heard %d frames of 300", n)
	}
	if n := heard[inference.FeedUtterances]; n > 150 {
		t.Errorf("heard %d frames of an utterance of 75", n)
	}
	if logs[inference.FeedContinuous] != logs[inference.FeedUtterances] {
		t.Errorf("the conversations differ:\n%s\n%s", logs[inference.FeedUtterances], logs[inference.FeedContinuous])
	}
}

// TestTelephoneAudio: a recogniser that takes the rate of the telephone gets the caller's audio as it came; the scorer has its own
// rate, and the conversation is the same.
func TestTelephoneAudio(t *testing.T) {
	logs, scored := map[media.Rate]string{}, map[media.Rate]int{}
	for _, feed := range []inference.Format{{}, {Encoding: inference.PCMU, Rate: media.Rate8k}} {
		rate := feed.SampleRate()
		scorer := &enginetest.FakeTurnScorer{Prob: func(inference.Pause) float64 { return 0.9 }}
		play(t, 6000, func(s *pipelinetest.Scene) {
			s.Leg.Telephone()
			s.Leg.Tone = [2]time.Duration{0, 6 * time.Second}
			s.ASR.Feed, s.ASR.Keep = inference.FeedContinuous, true
			s.Config.Feed, s.Config.Scorer = feed, scorer
		}, func(t *testing.T, s *pipelinetest.Scene) {
			stream := s.ASR.Streams()[0]
			audio := stream.Audio()
			if n := len(audio) / rate.FrameSamples(); n < 295 || n > 301 || stream.Config().Format != feed {
				t.Errorf("heard %d frames of 300, as %+v", n, stream.Config().Format)
			}
			if feed.Rate != 0 && (audio[2] != 8000 || audio[6] != -8000) { // peaks of 1 kHz
				t.Errorf("the tone is %d", audio[:8])
			}
			logs[rate], scored[rate] = s.Log(), len(scorer.Pauses()[0].Audio)
		}, said(1000, 2500, "what time do you open"))
	}
	if logs[media.Rate8k] != logs[media.Rate16k] || scored[media.Rate8k] != scored[media.Rate16k] {
		t.Errorf("the conversations differ:\n%s\n%s\nthe scorer heard %v", logs[media.Rate16k], logs[media.Rate8k], scored)
	}
}

// TestFit: a call that was made for a telephone's usual rate, before it was known what the leg brings, hears one that brings
// another: the recogniser, open already, is opened once more for what it takes of that, and the conversation is the same.
func TestFit(t *testing.T) {
	narrow := inference.Format{Encoding: inference.PCMU, Rate: media.Rate8k}
	logs := map[bool]string{}
	for _, wide := range []bool{false, true} {
		play(t, 6000, func(s *pipelinetest.Scene) {
			s.Leg.Telephone()
			if wide {
				s.Leg.Wideband()
			}
			s.Leg.Tone = [2]time.Duration{0, 6 * time.Second}
			s.ASR.Feed, s.ASR.Keep, s.ASR.Raw = inference.FeedContinuous, true, true
			s.ASR.Caps.In = []inference.Format{narrow}
			s.Config.Feed = narrow
			if wide {
				s.FrontEnd = deaf{t}
				s.Fit = func(c *pipeline.Call) { c.Fit(s.Leg.Format().In, pipelinetest.FrontEnd{Leg: s.Leg}) }
			}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			streams := s.ASR.Streams()
			last := streams[len(streams)-1]
			format, count := narrow, 1
			if wide {
				format, count = inference.Format{}, 2
			}
			if len(streams) != count || last.Config().Format != format {
				t.Errorf("%d streams, the last of %+v", len(streams), last.Config().Format)
			}
			if n := len(last.Audio()) / format.SampleRate().FrameSamples(); n < 290 || n > 301 {
				t.Errorf("heard %d frames of 300", n)
			}
			logs[wide] = s.Log()
		}, said(1000, 2500, "what time do you open"))
	}
	if logs[true] != logs[false] {
		t.Errorf("the conversations differ:\n%s\n%s", logs[false], logs[true])
	}
}

// deaf is a front end that is not to be used.
type deaf struct{ t *testing.T }

func (d deaf) Hear(f media.Frame) (media.Frame, listen.Activity) {
	d.t.Error("a frame was heard as the configuration says")
	return f, listen.Activity{}
}

// TestEngineTurns: a recogniser that finds the ends of turns by itself shortens the wait after
// words that sound unfinished, and where turns are its own it alone ends them: a pause within
// one, which sounds complete, does not.
func TestEngineTurns(t *testing.T) {
	const text = "what time do you open and"
	for _, c := range []struct {
		name    string
		engine  bool
		plan    []enginetest.Heard
		pauses  bool
		commits string
	}{
		{"by words", false, enginetest.Spoken(1000*ms, 2500*ms, text), false, "4900"},
		{"with its score", false, enginetest.SpokenTurn(1000*ms, 2500*ms, 0, text), false, "2700"},
		{"by itself", true, enginetest.SpokenTurn(1000*ms, 2500*ms, 0, text), false, "2620"},
		{"and with a pause", true, enginetest.SpokenTurn(1000*ms, 3500*ms, 1800*ms, text), true, "3620"},
	} {
		t.Run(c.name, func(t *testing.T) {
			speech := []pipelinetest.Said{said(1000, 2500, "")}
			if c.pauses {
				speech = []pipelinetest.Said{said(1000, 1800, ""), said(2300, 3500, "")}
			}
			play(t, 8000, func(s *pipelinetest.Scene) {
				s.ASR.Plan, s.ASR.Feed, s.Config.Turn.EngineTurns = c.plan, inference.FeedContinuous, c.engine
				s.Config.Turn.Complete = func(string) float64 { return 0.1 }
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if want := c.commits + ` user_line "` + text + `"`; !strings.Contains(s.Log(), want) {
					t.Errorf("no %s in\n%s", want, s.Log())
				}
			}, speech...)
		})
	}
}
