package gemini

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/gemini/livetest"
	"parley/inference/realtime"
	"parley/inference/remote"
)

func speaking(t *testing.T, script livetest.Script, model string) (*livetest.Server, *duplex.Engine) {
	t.Helper()
	script.Utterances = enginetest.AskedOften()
	s := livetest.New(t, script)
	silence := `{"silence_ms": 400}`
	e, err := NewLive(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Model: model, Options: inference.Options(silence)})
	if err != nil {
		t.Fatal(err)
	}
	return s, e
}

// models are one of each generation: they take histories in different ways.
var models = []string{"gemini-2.5-flash-native-audio", "gemini-3.1-flash-live"}

// vendor is Gemini with one of them.
func vendor(model string) enginetest.RealtimeStart {
	return func(t *testing.T, replies []livetest.Reply, faults []livetest.Fault) enginetest.RealtimeVendor {
		s, e := speaking(t, livetest.Script{Replies: replies, Faults: faults}, model)
		return enginetest.RealtimeVendor{Realtime: e, Key: s.Key, Last: inference.RealtimeUsed,
			Used: func() inference.Usage {
				b := s.Books()
				return inference.Usage{In: b.TokensIn - b.AudioTokensIn, Out: b.TokensOut - b.AudioTokensOut, AudioIn: b.AudioTokensIn, AudioOut: b.AudioTokensOut}
			},
			History: func() (list []string) {
				for _, c := range s.Contents() {
					list = append(list, c.Role+" "+strings.ReplaceAll(c.Text, "\n", " "))
				}
				return list
			},
			Asked: func(t *testing.T) {
				if b := s.Books(); !strings.Contains(string(b.Body), "Be kind.") || !strings.Contains(string(b.Body), `"Kore"`) {
					t.Errorf("it began with %s", b.Body)
				}
			},
		}
	}
}

func TestLiveSuite(t *testing.T) {
	t.Parallel()
	pace := livetest.Pace{Piece: func() time.Duration { return 10 * time.Millisecond }}
	s, e := speaking(t, livetest.Script{Replies: []livetest.Reply{{Text: "Once upon a time there was a baker.", Length: 2 * time.Second}}, Pace: pace}, models[1])
	s2, binary := speaking(t, livetest.Script{Pace: pace, Spelling: livetest.Spelling{Binary: true, Finished: true, Activity: true}}, models[0])
	t.Run("as it comes", func(t *testing.T) {
		t.Parallel()
		enginetest.TestRealtime(t, e, enginetest.RealtimeOptions{Busy: s.Busy})
	})
	t.Run("spelt otherwise", func(t *testing.T) {
		t.Parallel()
		enginetest.TestRealtime(t, binary, enginetest.RealtimeOptions{Busy: s2.Busy})
	})
}

func TestLiveConversation(t *testing.T) {
	t.Parallel()
	enginetest.TestRealtimeConversation(t, vendor(models[1]))
}

func TestLiveHistory(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		enginetest.TestRealtimeHistory(t, vendor(model), "user Are you open?", "model Let me … hours{}", `user {"output":"yes"}`, "user Say hello.", "model Yes, I can help.")
	}
}

// TestLiveInterrupted: of a reply that is interrupted nothing more is reported, and the next one, asked for meanwhile, is whole.
func TestLiveInterrupted(t *testing.T) {
	t.Parallel()
	pace := livetest.Pace{Piece: func() time.Duration { return 20 * time.Millisecond }}
	_, e := speaking(t, livetest.Script{Pace: pace, Replies: []livetest.Reply{{Text: "A long story follows.", Length: 2 * time.Second}, {Text: "Sorry?", Length: 200 * time.Millisecond}}}, models[1])
	s := enginetest.Talk(t, e)
	s.Reply("Tell a story.")
	item := enginetest.Until(t, s, inference.RealtimeAudio)[0].Item
	s.Interrupt(item)
	s.Truncate(item, 0)
	s.Reply("Be sorry.")
	samples, text := 0, ""
	for _, x := range append(enginetest.Until(t, s, inference.RealtimeDone), enginetest.Until(t, s, inference.RealtimeDone)...) {
		if x.Item == item {
			continue
		}
		samples += len(x.Chunk.Samples)
		text += x.Text
	}
	if samples != 4800 || text != "Sorry?" {
		t.Errorf("then it said %q in %d samples", text, samples)
	}
}

// TestLiveExpires: Gemini says that it goes away, and what it cannot change takes another session; that is said once.
func TestLiveExpires(t *testing.T) {
	t.Parallel()
	_, e := speaking(t, livetest.Script{Lifetime: time.Hour, Notice: time.Hour}, models[1])
	s := enginetest.Talk(t, e)
	s.Reply("Hello.")
	enginetest.Until(t, s, inference.RealtimeDone)
	s.Update("Be kind.", nil)
	enginetest.Until(t, s, inference.RealtimeExpires)
	s.Update("Be very kind.", nil)
	s.Reply("Go on.")
	for _, x := range enginetest.Until(t, s, inference.RealtimeDone) {
		if x.Kind == inference.RealtimeExpires {
			t.Error("it is said twice")
		}
	}
	_, e = speaking(t, livetest.Script{Lifetime: 4 * time.Second, Notice: 4 * time.Second}, models[1])
	enginetest.Until(t, enginetest.Talk(t, e), inference.RealtimeExpires)
}

// TestLiveRenewed: a session that is replaced goes on by its handle, and has no history besides; without a handle it begins with
// the history. Nobody is greeted again, and everything was said once.
func TestLiveRenewed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, model := range models {
		server, e := speaking(t, livetest.Script{Replies: []livetest.Reply{{Text: "We are.", Length: 100 * time.Millisecond}, {Text: "At nine.", Length: 100 * time.Millisecond}}}, model)
		c := realtime.New(e, inference.RealtimeConfig{Voice: "F1", Language: "en"}, nil)
		hears := func() inference.Recognition {
			r, err := c.ASR().Open(ctx, inference.ASRConfig{Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		answers := func(system, want string, messages ...inference.Message) {
			t.Helper()
			text := ""
			for d, err := range c.LLM().Complete(ctx, inference.Request{System: system, Language: "en", Messages: messages}) {
				if err != nil {
					t.Fatal(err)
				}
				text += d.Text
			}
			u, err := c.TTS().Open(ctx, inference.VoiceConfig{})
			if err != nil {
				t.Fatal(err)
			}
			u.Say(text)
			u.End()
			for x := range u.Chunks() {
				if x.Err != nil {
					t.Fatal(x.Err)
				}
			}
			if text != want {
				t.Errorf("%s: it says %q, want %q", model, text, want)
			}
		}
		user := func(text string) inference.Message {
			return inference.Message{Role: inference.RoleUser, Text: text}
		}
		agent := func(text string) inference.Message {
			return inference.Message{Role: inference.RoleAgent, Text: text}
		}
		var r inference.Recognition
		begins := func(sockets int) string {
			t.Helper()
			loopbacktest.Await(t, "the setup of another session", func() bool {
				r.Write(make([]int16, 640))
				b := server.Books()
				return b.Opened == sockets && strings.Contains(string(b.Body), "Be kind.")
			})
			return string(server.Books().Body)
		}
		remembers := func(want ...string) {
			t.Helper()
			var got []string
			for _, x := range server.Contents() {
				got = append(got, x.Role+" "+strings.TrimSuffix(strings.TrimPrefix(x.Text, `The caller has typed this; answer it: "`), `"`))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: it remembers %q, want %q", model, got, want)
			}
		}

		r = hears()
		answers("Be brief.", "We are.", user("Are you open?"))
		answers("Be kind.", "At nine.", user("Are you open?"), agent("We are."), user("Since when?")) // which takes another session
		if setup := begins(2); !strings.Contains(setup, `"sessionResumption":{"handle":"handle_`) || strings.Contains(setup, "historyConfig") {
			t.Errorf("%s: it goes on with %s", model, setup)
		}
		said := []inference.Message{user("Are you open?"), agent("We are."), user("Since when?"), agent("At nine."), user("Every day?")}
		answers("Be kind.", "At nine.", said...)
		remembers("user Are you open?", "model We are.", "user Since when?", "model At nine.", "user Every day?", "model At nine.")

		r.Close()
		r = hears()
		said = append(said, agent("At nine."), user("Sunday?"))
		answers("Be kind.", "We are.", said...)
		if setup := begins(3); strings.Contains(setup, "handle_") {
			t.Errorf("%s: it begins with %s", model, setup)
		}
		remembers("user Are you open?", "model We are.", "user Since when?", "model At nine.", "user Every day?", "model At nine.", "user Sunday?", "model We are.")
		r.Close()
	}
}

func TestLiveRefused(t *testing.T) {
	t.Parallel()
	enginetest.TestRealtimeFaults(t, vendor(models[1]), map[livetest.Fault]inference.Fault{
		{Status: http.StatusForbidden}:                                                                  inference.ErrRefused,
		{Status: http.StatusTooManyRequests}:                                                            inference.ErrUnavailable,
		{AfterMessages: 1, Then: loopbacktest.Cut}:                                                      inference.ErrFailed,
		{AfterMessages: 1, Then: loopbacktest.Invalid}:                                                  inference.ErrFailed,
		{AfterMessages: 1, Then: loopbacktest.Close, Code: 1007, Reason: "API key not valid."}:          inference.ErrRefused,
		{AfterMessages: 1, Then: loopbacktest.Close, Code: 1011, Reason: "Internal error encountered."}: inference.ErrFailed,
		{AfterMessages: 1, Then: loopbacktest.Unknown}:                                                  0,
		{AfterMessages: 1, Then: loopbacktest.Nulls}:                                                    0,
	})
}

func TestLiveConfig(t *testing.T) {
	for _, tt := range []struct {
		config remote.Engine
		want   string
	}{
		{remote.Engine{Model: "m"}, "it needs a key"},
		{remote.Engine{APIKey: "k"}, "it needs a model"},
		{remote.Engine{APIKey: "k", Model: "m", Options: inference.Options(`{"start_sensitivity": "some"}`)}, "low or high"},
		{remote.Engine{APIKey: "k", Model: "m", Options: inference.Options(`{"silence_ms": -1}`)}, "silence_ms"},
		{remote.Engine{APIKey: "k", Model: "m", Options: inference.Options(`{"silence": 1}`)}, "options"},
		{remote.Engine{APIKey: "k", Model: "m", Voices: map[string]string{"X": "Kore"}}, "voices"},
	} {
		if _, err := NewLive(tt.config); err == nil || !strings.HasPrefix(err.Error(), "gemini: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.config, err)
		}
	}
}
