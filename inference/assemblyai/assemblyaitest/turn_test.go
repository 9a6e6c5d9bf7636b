package assemblyaitest

import (
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// haircut is the turn of the reference, and one with a pause.
var haircut = Script{Burst: -1, Utterances: []Utterance{
	{Text: "How much is a haircut?", Length: 1500 * ms},
	{Text: "My number is five, five.", Length: 2000 * ms, Pauses: []Pause{{After: 3, Length: 500 * ms}}},
}}

func TestUniversalFormatsTurns(t *testing.T) {
	s := New(t, haircut)
	c := dial(t, s, universalPath)
	c.Hush(200 * ms)
	c.Say(1500 * ms)
	c.Hush(500 * ms)
	list := c.Until("formatted")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "Begin", "turn  [how]", "turn how [much]", "turn how much [is]", "turn how much is [a]", "turn how much is a [haircut]",
		"end how much is a haircut", "formatted How much is a haircut?")
	if m := list[0]; m.ID == "" || m.Expires < time.Now().Unix() {
		t.Errorf("%+v", m)
	}
	for _, m := range list[6:] {
		if m.Order != 0 || m.Utterance != m.Transcript || m.Confidence < .4 || !m.Words[4].Final || m.Words[1].Start != 500 || m.Words[1].End != 800 {
			t.Errorf("%+v", m)
		}
	}
	c.Text(`{"type":"Terminate"}`)
	last := c.Closed(1000, "")
	if len(last) != 1 || last[0].Type != "Termination" || last[0].Audio != 3 || last[0].Session < 1 {
		t.Errorf("%+v", last)
	}
	if b := s.Books(); b.Audio != 2200*ms || b.AudioBytes != 2200*8 || b.Opened != 1 {
		t.Errorf("%+v", b)
	}
}

func TestUniversalPausesAreEndsOfUtterances(t *testing.T) {
	s := New(t, Script{Burst: -1, Utterances: haircut.Utterances[1:]})
	c := dial(t, s, universalPath)
	c.Say(900 * ms)
	c.Hush(500 * ms)
	c.Say(600 * ms)
	c.Hush(500 * ms)
	var got []string
	for _, m := range c.Until("formatted") {
		if m.End || m.Utterance != "" {
			got = append(got, m.Short())
		}
	}
	loopbacktest.Same(t, got, "turn my number is utterance my number is", "end my number is five five", "formatted My number is five, five.")
}

func TestUniversalEndsByItsOptions(t *testing.T) {
	for _, tt := range []struct {
		options string
		pause   time.Duration
		want    string
	}{
		{"&end_of_turn_confidence_threshold=.2", 500 * ms, "formatted My number is"},
		{"&max_turn_silence=420", 500 * ms, "formatted My number is"},
		{"&min_turn_silence=200", 500 * ms, "formatted My number is five, five."},
		{"&end_of_turn_confidence_threshold=.9&max_turn_silence=1300", 500 * ms, ""},
		{"&min_turn_silence=60000&max_turn_silence=60000", 2000 * ms, ""},
	} {
		s := New(t, Script{Burst: -1, Utterances: haircut.Utterances[1:]})
		c := dial(t, s, universalPath+tt.options)
		c.Say(900 * ms)
		c.Hush(tt.pause)
		c.Say(600 * ms)
		c.Hush(500 * ms)
		if tt.want == "" {
			c.Text(`{"type":"ForceEndpoint"}`)
			tt.want = "formatted My number is five, five."
		}
		var got []string
		for _, m := range c.Until("formatted") {
			if m.End {
				got = append(got, m.Short())
			}
		}
		loopbacktest.Same(t, got, "end "+strings.ToLower(strings.NewReplacer(",", "", ".", "").Replace(strings.TrimPrefix(tt.want, "formatted "))), tt.want)
	}
}

func TestForceEndpoint(t *testing.T) {
	s := New(t, Script{Burst: -1, Utterances: []Utterance{{Text: "one two three four", Length: 1200 * ms}}})
	c := dial(t, s, strings.Replace(universalPath, "format_turns=true", "format_turns=false", 1))
	c.Text(`{"type":"ForceEndpoint"}`) // without a turn it is not answered
	c.Say(800 * ms)
	c.Text(`{"type":"ForceEndpoint"}`)
	c.Say(400 * ms)
	c.Text(`{"type":"ForceEndpoint"}`)
	c.Text(`{"type":"Terminate"}`)
	var got []string
	for i, m := range c.Closed(1000, "") {
		if m.End {
			got = append(got, m.Short())
			if m.Order != len(got)-1 {
				t.Errorf("message %d: turn %d", i, m.Order)
			}
		}
	}
	loopbacktest.Same(t, got, "end one two three", "end four")
	if n := s.Books().Finishes; n != 3 {
		t.Error(n)
	}
}

func TestProWritesAsItHears(t *testing.T) {
	s := New(t, Script{Burst: -1, Utterances: haircut.Utterances[1:]})
	c := dial(t, s, proPath+"&language_detection=true&speaker_labels=true")
	c.Hush(200 * ms)
	c.Say(900 * ms)
	c.Hush(500 * ms)
	c.Say(600 * ms)
	c.Hush(200 * ms)
	list := c.Until("formatted")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "Begin", "SpeechStarted", "turn My number is [My] [number] [is]", "turn My number is [My] [number] [is]", "formatted My number is five, five.")
	if m := list[1]; m.Timestamp != 200 {
		t.Errorf("speech started at %d", m.Timestamp)
	}
	if m := list[4]; m.Confidence != 1 || m.Utterance != m.Transcript || m.Language != "en" || m.Speaker != "A" {
		t.Errorf("%+v", m)
	}
	c.Hush(200 * ms)
	c.Say(300 * ms)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("SpeechStarted")), "SpeechStarted")
}

func TestProEndsWhereNoTextEnds(t *testing.T) {
	s := New(t, Script{Burst: -1, Utterances: []Utterance{{Text: "well I", Length: 500 * ms}}, Traps: Traps{SpeechStartedMissing: true}})
	c := dial(t, s, proPath)
	c.Say(500 * ms)
	c.Hush(900 * ms)
	c.Text(`{"type":"UpdateConfiguration","max_turn_silence":900}`)
	c.Hush(100 * ms)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("formatted")), "Begin", "turn well I [well] [I]", "formatted well I")
}

func TestProGoesOnInLongSpeech(t *testing.T) {
	s := New(t, Script{Burst: -1, Utterances: []Utterance{{Text: "a b c d e f g h i j k l.", Length: 3000 * ms}}})
	for options, want := range map[string]int{"": 1, "&continuous_partials=true": 3} {
		c := dial(t, s, proPath+options)
		c.Say(3000 * ms)
		c.Hush(200 * ms)
		partials := -2 // Begin, SpeechStarted
		for range c.Until("formatted") {
			partials++
		}
		if partials-1 != want {
			t.Errorf("%q: %d partials", options, partials-1)
		}
	}
}

func TestTraps(t *testing.T) {
	s := New(t, Script{Burst: -1, Traps: Traps{FormattedMissing: true}, Utterances: []Utterance{{Text: "Yes please.", EmptyFinal: true}, {Text: "Bye."}}})
	c := dial(t, s, universalPath)
	c.Say(500 * ms)
	c.Hush(500 * ms)
	c.Say(300 * ms)
	c.Text(`{"type":"Terminate"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "Begin", "turn  [yes]", "turn yes [please]", "end ", "turn  [bye]", "end bye", "Termination")
}

func TestFormattedEndsComeLater(t *testing.T) {
	script := haircut
	script.Delays = Delays{Word: func() time.Duration { return 5 * ms }, Final: func() time.Duration { return 60 * ms }, Formatted: func() time.Duration { return 60 * ms }}
	s := New(t, script)
	c := dial(t, s, universalPath)
	begun := time.Now()
	c.Say(1500 * ms)
	c.Hush(500 * ms)
	c.Until("formatted")
	if took := time.Since(begun); took < 120*ms {
		t.Errorf("the formatted end came after %v", took)
	}
}

func TestGoesOnOverConnections(t *testing.T) {
	s := New(t, Script{Burst: -1, Continue: true, Faults: []Fault{{Connections: 1, AfterMessages: 8, Then: loopbacktest.Cut}}, Utterances: haircut.Utterances})
	c := dial(t, s, universalPath)
	c.Say(1500 * ms)
	c.Hush(500 * ms)
	c.Until("formatted")
	if _, err := c.Read(); err == nil {
		t.Fatal("the connection was not cut")
	}
	c = dial(t, s, universalPath)
	c.Say(900 * ms)
	c.Text(`{"type":"ForceEndpoint"}`)
	if list := c.Until("formatted"); list[len(list)-1].Transcript != "My number is" {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
}
