package elevenlabstest

import (
	"math"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestTwoSentencesInOneContext(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s, path)
	c.open("c1")
	c.say("c1", "First. ")
	c.say("c1", "Second one. ")
	c.end("c1")
	list := c.final("c1")
	audio, written, readAloud := sum(list)
	if want := 19 * 60 * 16; audio != want || written != "First. Second one. " || readAloud != written {
		t.Errorf("%d bytes, want %d; %q, %q", audio, want, written, readAloud)
	}
	if last := list[len(list)-1]; last.Audio != "" || last.Alignment != nil {
		t.Errorf("%+v", last)
	}
	contexts := s.Contexts()
	if len(contexts) != 1 || contexts[0].Text != "First. Second one. " || contexts[0].Audio != 1140*ms || contexts[0].End != "closed" {
		t.Errorf("%+v", contexts)
	}
	if b := s.Books(); b.Characters != 19 || b.Requests != 1 || b.Audio != 1140*ms || len(b.Body) == 0 || s.Busy() != 0 {
		t.Errorf("%+v", b)
	}
}

// TestAlignment: both time bases say the same, in each spelling.
func TestAlignment(t *testing.T) {
	for _, script := range []Script{{}, {Absolute: true}, {Absolute: true, Spelling: Spelling{Context: true, Final: true, Starts: true, Durations: true}}} {
		for _, path := range []string{path, strings.Replace(path, "&sync_alignment=true", "", 1)} {
			s := New(t, script)
			c := dial(t, s, path)
			c.JSON(fieldsOf{"context_id": "c1", "text": " ", "voice_settings": fieldsOf{"speed": 1.1}})
			c.say("c1", "First. ")
			c.say("c1", "Second. ")
			c.end("c1")
			var starts []int
			at, bytes, aligned := 0, 0, 0
			for _, m := range c.final("c1") {
				if m.Alignment == nil {
					bytes += len(m.audio())
					continue
				}
				aligned++
				base := int(math.Round(float64(bytes) / 16))
				if script.Absolute {
					base = 0
				} else if at > 0 && m.Alignment.Starts[0] >= at {
					t.Errorf("%+v is not relative", m.Alignment)
				}
				durations := append(m.Alignment.Durations, m.Alignment.Durations2...)
				for i, start := range append(m.Alignment.Starts, m.Alignment.Starts2...) {
					starts = append(starts, base+start)
					at = base + start + durations[i]
				}
				bytes += len(m.audio())
			}
			if len(starts) != 15 || starts[14] != 764 || at != 818 || strings.Contains(path, "sync") != (aligned == 8) {
				t.Errorf("%+v: %d aligned, %v until %d", script, aligned, starts, at)
			}
		}
	}
}

func TestTextIsReadAloudOtherwise(t *testing.T) {
	spoken := func(text string) string { return strings.ReplaceAll(text, "$5", "five dollars") }
	for _, path := range []string{path, path + "&apply_text_normalization=off"} {
		s := New(t, Script{Spoken: spoken})
		c := dial(t, s, path)
		c.open("c1")
		c.say("c1", "It is $5. ")
		c.end("c1")
		audio, written, readAloud := sum(c.final("c1"))
		want := "It is five dollars. "
		if strings.HasSuffix(path, "off") {
			want = "It is $5. "
		}
		if audio != len(want)*60*16 || written != "It is $5. " || readAloud != want {
			t.Errorf("%d bytes, %q, %q", audio, written, readAloud)
		}
	}
}

func TestAudioIsATone(t *testing.T) {
	for name, f := range formats {
		s := New(t, Script{})
		c := dial(t, s, strings.Replace(path, "pcm_8000", name, 1))
		c.JSON(fieldsOf{"context_id": "c1", "text": "Hello. ", "flush": true, "voice_settings": fieldsOf{"speed": 1.2}})
		c.end("c1")
		var pcm []int16
		for _, m := range c.final("c1") {
			pcm = append(pcm, f.coding.Decode(m.audio())...)
		}
		if level := loopbacktest.Level(pcm); len(pcm) != int(math.Round(7*float64(f.rate)/20)) || math.Abs(level+15) > .5 {
			t.Errorf("%s: %d samples at %v dBFS", name, len(pcm), level)
		}
	}
}

func TestTextIsHeld(t *testing.T) {
	for _, tt := range []struct {
		path     string
		schedule []int
		texts    []string
		want     string
	}{
		{held, nil, []string{"One. ", "Two. "}, ""},
		{held, []int{50, 60}, []string{strings.Repeat("x", 40) + " ", "yyyyyyyy ", strings.Repeat("z", 58) + " "}, strings.Repeat("x", 40) + " yyyyyyyy "},
		{path, nil, []string{"One. ", "Two ", "three. Four "}, "One. Two three. "},
	} {
		s := New(t, Script{})
		c := dial(t, s, tt.path)
		first := fieldsOf{"context_id": "c1", "text": " "}
		if tt.schedule != nil {
			first["generation_config"] = fieldsOf{"chunk_length_schedule": tt.schedule}
		}
		c.JSON(first)
		for _, text := range tt.texts {
			c.JSON(fieldsOf{"context_id": "c1", "text": text})
		}
		c.end("c1") // without a flush: the rest is never spoken
		if _, written, _ := sum(c.final("c1")); written != tt.want {
			t.Errorf("%q: %q", tt.texts, written)
		}
	}
}

func TestLateAudio(t *testing.T) {
	for late, want := range map[int]int{0: 8, 2: 3, -1: 1} {
		ready := make(chan struct{})
		pause := func() time.Duration {
			if late == 0 {
				return 0
			}
			select {
			case <-ready:
			default:
				close(ready)
			}
			return time.Hour
		}
		s := New(t, Script{LateChunks: late, Delays: Delays{Chunk: pause}})
		c := dial(t, s, path)
		c.open("c1")
		c.say("c1", "A sentence. ")
		c.say("c1", "Two ")
		c.JSON(fieldsOf{"context_id": "c1", "text": "never "})
		if late != 0 {
			<-ready
		}
		c.end("c1")
		list := c.final("c1")
		if got := s.Contexts()[0]; len(list)-1 != want || s.Busy() != 0 || got.End != "closed" {
			t.Errorf("late %d: %d chunks, want %d; %+v", late, len(list)-1, want, got)
		}
	}
}

func TestContextsSpeakAtOnce(t *testing.T) {
	s := New(t, Script{Delays: Delays{Chunk: func() time.Duration { return 5 * ms }}})
	c := dial(t, s, path)
	c.open("c1")
	c.open("c2")
	c.say("c1", "The first one is long. ")
	c.say("c2", "Hi. ")
	c.end("c1")
	c.end("c2")
	c.final("c2")
	if s.Busy() != 1 {
		t.Errorf("%d busy", s.Busy())
	}
	c.final("c1")
}
