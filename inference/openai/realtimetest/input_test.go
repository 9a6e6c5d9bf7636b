package realtimetest

import (
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

var greeting = TranscriptionScript{Utterances: []Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}, {Text: "Bye."}, {Text: "Wait."}}}

func TestTheClientCommits(t *testing.T) {
	s := NewTranscription(t, greeting)
	c := configured(t, s.server, "gpt-4o-transcribe", "null")
	c.Hush(200 * ms)
	c.Say(900 * ms)
	c.Hush(300 * ms)
	c.commit()
	first := c.Until("completed")
	loopbacktest.Same(t, loopbacktest.Shorts(first), "committed", "delta Good", "delta  morning,", "delta  Ana.", "completed Good morning, Ana.")
	for _, m := range first {
		if m.Item == "" || m.Item != first[0].Item || m.Previous != "" || m.Event == "" {
			t.Errorf("%+v", m)
		}
	}
	if u := first[4].Usage; u.Type != "tokens" || u.Details.Audio != 14 || u.In != 14 || u.Out != 5 || u.Total != 19 {
		t.Errorf("%+v", u)
	}
	c.Say(260 * ms)
	c.commit()
	second := c.Until("completed")
	loopbacktest.Same(t, loopbacktest.Shorts(second), "committed", "delta Bye.", "completed Bye.")
	if m := second[0]; m.Previous != first[0].Item || m.Item == m.Previous {
		t.Errorf("%+v", m)
	}
	if b := s.Books(); b.Audio != 1660*ms || b.Finishes != 2 {
		t.Errorf("%+v", b)
	}
}

// TestBooksHaveTheUsage: what was sent is what was counted.
func TestBooksHaveTheUsage(t *testing.T) {
	s := NewTranscription(t, greeting)
	c := dial(t, s.server, path, header(s.Key))
	c.Text(strings.Replace(configuration("gpt-4o-mini-transcribe", "null"), `"language":"en"`, `"language":"en","prompt":"A hairdresser."`, 1))
	c.Say(1000 * ms)
	c.commit()
	c.Until("completed")
	c.Say(500 * ms)
	c.commit()
	c.Until("committed")
	s.Close()
	if b := s.Books(); b.TokensIn < 14 || b.TokensOut < 5 {
		t.Errorf("%+v", b)
	}
}

func TestWordsAreStreamed(t *testing.T) {
	s := NewTranscription(t, greeting)
	c := configured(t, s.server, live, "null")
	c.Say(900 * ms)
	deltas := c.Until("delta  Ana.")
	loopbacktest.Same(t, loopbacktest.Shorts(deltas), "delta Good", "delta  morning,", "delta  Ana.")
	c.commit()
	list := c.Until("completed")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "committed", "completed Good morning, Ana.")
	if m := list[1]; m.Item != deltas[0].Item || m.Item != list[0].Item || m.Usage.Type != "duration" || m.Usage.Seconds != .9 || len(m.Languages) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestTheServerCommits(t *testing.T) {
	s := NewTranscription(t, greeting)
	c := configured(t, s.server, "whisper-1", `{"type":"server_vad","silence_duration_ms":400,"prefix_padding_ms":100}`)
	c.Hush(300 * ms)
	c.Say(900 * ms)
	c.Hush(500 * ms)
	c.commit() // too late, but no mistake
	list := []event{}
	for range 8 { // the error does not wait for the transcript
		m, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	for _, want := range []string{"speech_started", "speech_stopped", "committed", "error input_audio_buffer_commit_empty", "delta Good", "completed Good morning, Ana."} {
		found := false
		for _, m := range list {
			found = found || m.Short() == want
			if m.Type == "input_audio_buffer.speech_started" && m.Start != 200 || m.Type == "input_audio_buffer.speech_stopped" && m.End != 1600 {
				t.Errorf("%+v", m)
			}
			if m.Type == completed && (m.Usage.Seconds != 1.3 || m.Item != list[0].Item) {
				t.Errorf("%+v", m)
			}
		}
		if !found {
			t.Errorf("%q in %q", want, loopbacktest.Shorts(list))
		}
	}
	c.Say(260 * ms)
	c.Hush(400 * ms)
	if m := c.Until("speech_started")[0]; m.Item == list[0].Item || m.Start != 1600 {
		t.Errorf("%+v", m)
	}
	c.Until("completed Bye.")
}

func TestShortCommits(t *testing.T) {
	s := NewTranscription(t, TranscriptionScript{Expects: []string{"buffer only has 80.00ms", "buffer only has 0.00ms"}})
	c := configured(t, s.server, "gpt-transcribe", "null")
	c.Say(80 * ms)
	c.Text(`{"type":"input_audio_buffer.commit","event_id":"mine"}`)
	if m := c.Until("error")[0]; m.Error.Code != "input_audio_buffer_commit_empty" || m.Error.Event != "mine" || m.Error.Type != invalidRequest {
		t.Errorf("%+v", m)
	}
	c.Say(40 * ms) // the session goes on with the same buffer
	c.commit()
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("completed")), "committed", "completed")
	c.Say(200 * ms)
	c.Text(`{"type":"input_audio_buffer.clear"}`)
	c.commit()
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("error")), "cleared", "error input_audio_buffer_commit_empty")
}

func TestTraps(t *testing.T) {
	script := greeting
	script.Traps = Traps{Late: []int{0}, Failed: []int{2}, Unanswered: []int{3}}
	s := NewTranscription(t, script)
	c := configured(t, s.server, live, "null")
	c.Say(900 * ms)
	c.commit()
	c.Hush(300 * ms)
	c.Say(260 * ms)
	c.commit()
	list := c.Until("completed Good")
	var got []string
	for _, m := range list {
		if m.Type == completed {
			got = append(got, m.Short())
		}
	}
	loopbacktest.Same(t, got, "completed Bye.", "completed Good morning, Ana.")
	c.Hush(300 * ms)
	c.Say(260 * ms)
	c.commit()
	c.Until("failed")
	c.Say(260 * ms)
	c.commit()
	c.Until("committed")
	c.Say(260 * ms)
	c.commit()
	if list := c.Until("completed"); len(list) != 2 || list[1].Item != list[0].Item {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
}

func TestEmptyTranscripts(t *testing.T) {
	s := NewTranscription(t, TranscriptionScript{Utterances: []Utterance{{Text: "yes please", EmptyFinal: true}}})
	c := dial(t, s.server, path, header(s.Key))
	c.Text(strings.Replace(configuration("gpt-4o-transcribe", "null"), `"type":"transcription",`, `"type":"transcription","include":["item.input_audio_transcription.logprobs"],`, 1))
	c.Say(500 * ms)
	c.commit()
	list := c.Until("completed")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "session.created", "session.updated", "committed", "delta yes", "delta  please", "completed")
	if len(list[3].Logprobs) != 1 || list[5].Logprobs == nil {
		t.Errorf("%+v", list)
	}
}

// TestDelays: transcripts wait for the script, and other events do not wait for them.
func TestDelays(t *testing.T) {
	script := greeting
	script.Delays = Delays{Final: func() time.Duration { return 200 * ms }}
	s := NewTranscription(t, script)
	c := configured(t, s.server, "gpt-4o-transcribe", `{"type":"server_vad"}`)
	begun := time.Now()
	c.Say(900 * ms)
	c.Hush(520 * ms)
	c.Say(260 * ms)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("delta")), "speech_started", "speech_stopped", "committed", "speech_started", "delta Good")
	if took := time.Since(begun); took < 200*ms {
		t.Errorf("the transcript came after %v", took)
	}
}

func TestGoesOnOverConnections(t *testing.T) {
	script := greeting
	script.Continue = true
	script.Faults = []Fault{{Connections: 1, AfterMessages: 7, Then: loopbacktest.Cut}}
	s := NewTranscription(t, script)
	c := configured(t, s.server, live, "null")
	c.Say(900 * ms)
	c.commit()
	c.Until("completed")
	if _, err := c.Read(); err == nil {
		t.Fatal("the connection was not cut")
	}
	c = configured(t, s.server, live, "null")
	c.Say(260 * ms)
	c.commit()
	c.Until("completed Bye.")
}
