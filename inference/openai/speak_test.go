package openai

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/openai/speaktest"
	"parley/inference/remote"
)

// speaker is a voice of the fake, and how its server differs.
func speaker(t *testing.T, script speaktest.Script) (*TTS, *speaktest.Server) {
	t.Helper()
	s := speaktest.New(t, script)
	e, err := NewTTS(remote.Engine{BaseURL: s.URL + "/v1", APIKey: s.Key, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}

// servers are OpenAI's, with events, and a compatible one, which sends audio whatever it is asked for.
var servers = map[string]speaktest.Traps{"events": {}, "other name": {Delta: true}, "audio": {Plain: true}}

func TestSpeakConforms(t *testing.T) {
	for _, name := range []string{"events", "audio"} {
		t.Run(name, func(t *testing.T) {
			s := speaktest.New(t, speaktest.Script{Traps: servers[name]})
			e, err := NewTTS(remote.Engine{BaseURL: s.URL + "/v1", APIKey: s.Key, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			enginetest.TestTTS(t, e, enginetest.TTSOptions{Text: good.Text, Busy: s.Busy})
		})
	}
}

// speakText reads all audio of a text, and the last usage.
func speakText(t *testing.T, e *TTS, text string) (length time.Duration, usage inference.Usage, err error) {
	t.Helper()
	for c, err := range e.Speak(t.Context(), inference.Speech{Text: text, VoiceConfig: good.VoiceConfig}) {
		if err != nil {
			return length, usage, err
		}
		if length += c.Length(); c.Usage != nil {
			usage = *c.Usage
		}
	}
	return length, usage, nil
}

// TestSpeakUsage: what is charged is what the server's books say, where it says so.
func TestSpeakUsage(t *testing.T) {
	for name, traps := range servers {
		e, s := speaker(t, speaktest.Script{Traps: traps})
		const text = "Good morning, Ana. We are open."
		length, usage, err := speakText(t, e, text)
		want := inference.Usage{Characters: len(text), Requests: 1, Source: inference.UsageCounted}
		if b := s.Books(); !traps.Plain {
			want.In, want.AudioOut, want.Source = b.TokensIn, b.TokensOut, inference.UsageProvider
		}
		if usage != want || err != nil || length.Round(time.Millisecond) != time.Duration(len(text))*speaktest.CharacterTime {
			t.Errorf("%s: %v of audio, %v, usage %+v, want %+v", name, length, err, usage, want)
		}
	}
}

// TestSpeakFaults: an answer that breaks off is no whole one, and its error tells no secret.
func TestSpeakFaults(t *testing.T) {
	for name, traps := range servers {
		for what, fault := range map[string]loopbacktest.Fault{
			"cut": {AfterMessages: 3, Then: loopbacktest.Cut}, "bytes": {AfterBytes: 4000}, "stalled": {AfterMessages: 3, Then: loopbacktest.Stall},
			"invalid": {AfterMessages: 3, Then: loopbacktest.Invalid}, "huge": {AfterMessages: 3, Then: loopbacktest.Huge},
			"ended": {AfterMessages: 3, Then: loopbacktest.Close}, "reported": {AfterMessages: 3, Then: loopbacktest.Fail, Reason: "Good morning"},
		} {
			if traps.Plain && what != "cut" && what != "bytes" && what != "stalled" {
				continue // audio has no messages
			}
			e, s := speaker(t, speaktest.Script{Traps: traps, Faults: []loopbacktest.Fault{fault}})
			length, _, err := speakText(t, e, strings.Repeat("Good morning to all of you. ", 20))
			if inference.FaultOf(err) != inference.ErrFailed || strings.Contains(fmt.Sprint(err), "Good morning") || strings.Contains(fmt.Sprint(err), s.Key) {
				t.Errorf("%s, %s: %v of audio, %v", name, what, length, err)
			}
		}
	}
	for status, want := range map[int]inference.Fault{
		http.StatusUnauthorized: inference.ErrRefused, http.StatusTooManyRequests: inference.ErrUnavailable, http.StatusInternalServerError: inference.ErrFailed,
	} {
		e, _ := speaker(t, speaktest.Script{Faults: []loopbacktest.Fault{{Status: status}}})
		if _, _, err := speakText(t, e, "Hello."); inference.FaultOf(err) != want {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
