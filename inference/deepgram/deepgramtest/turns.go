package deepgramtest

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
)

// turnsFields are those of the messages of Flux TTS.
var turnsFields = map[string][]string{"Speak": {"text"}, "Flush": nil, "Interrupt": {"playback_offset"}, "Configure": {"speed"}, "Close": nil}

// turns is one connection to /v2/speak. Its speeches are turns.
type turns struct {
	*session
	begun map[*Speech]time.Duration // where turns begin in the audio of the session; of the playout's goroutine

	interrupting atomic.Bool  // an Interrupt is unanswered
	played       atomic.Int64 // ms until which the last Interrupt said that the client heard
}

// serveTurns serves one connection until it ends.
func serveTurns(v *session) {
	t := &turns{session: v, begun: map[*Speech]time.Duration{}}
	v.out.tell(map[string]any{"type": "Connected", "request_id": v.id, "model_name": v.query.model, "model_version": "2026.06.01", "model_uuids": []string{voiceUUID}})
	v.serve(turnsFields, func(o *order) {
		switch o.Type {
		case "Speak":
			t.say(o)
		case "Flush":
			t.flush()
		case "Interrupt":
			t.interrupt(o)
		case "Configure":
			t.configure(o)
		case "Close": // ends when all turns that were flushed are over
			v.out.tell(t.total)
			v.finish()
		}
	})
}

// speechID is a new id in the vendor's form.
func speechID() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("dg_sp_%x", b)
}

// say says more in a turn, or begins it. A turn waits for those before it.
func (t *turns) say(o *order) {
	begun, ok := t.take(o, speechID)
	if !ok {
		return
	}
	if sp := t.current; begun {
		t.out.tell(func() any {
			t.begun[sp] = t.out.sent()
			return map[string]any{"type": "SpeechStarted", "speech_id": sp.ID}
		})
	}
	if synthesizable(t.held) {
		t.sayUntil(loopbacktest.Sentences(t.held))
	}
}

// flush ends a turn. Flushed comes at once, before the rest of the turn's audio.
func (t *turns) flush() {
	t.server.Note(func(b *Books) { b.Finishes++ })
	sp := t.current
	if sp == nil {
		t.warn("NO_ACTIVE_SPEECH")
		return
	}
	var text string
	t.server.Change(func() { text = sp.Text })
	if !synthesizable(text) {
		t.held = ""
		t.warn("NO_SYNTHESIZABLE_TEXT")
	}
	t.out.Insert(loopbacktest.Outgoing{Message: map[string]any{"type": "Flushed", "speech_id": sp.ID}}, sp)
	t.sayUntil(len(t.held))
	t.current, t.loose = nil, false
	t.out.tell(func() any {
		t.server.Over(sp, "done")
		m := t.metadata(sp)
		m["type"] = "SpeechMetadata"
		return m
	})
}

// synthesizable says whether a text has anything to be spoken.
func synthesizable(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
	}
	return false
}

// warn tells at once of what was ignored.
func (t *turns) warn(code string) { _ = t.wire.Write(warning(code)) }

func warning(code string) map[string]any {
	return map[string]any{"type": "Warning", "code": code, "description": code}
}

// interrupt ends the turn that speaks, and those that wait.
func (t *turns) interrupt(o *order) {
	live := t.live()
	switch {
	case len(live) == 0:
		t.out.tell(warning("NO_ACTIVE_SPEECH")) // after the end of the last turn, which may be on its way
		return
	case t.server.script.Voice.Traps.NoAudioGenerated && t.out.sent() == 0:
		t.warn("NO_AUDIO_GENERATED")
		return
	case t.interrupting.Load():
		t.server.Violate("Interrupt while another was unanswered")
		t.warn("INTERRUPT_IN_PROGRESS")
		return
	case o.Offset != nil && (o.Offset.Type != "time_ms" || int64(o.Offset.Value) <= t.played.Load()):
		t.server.Violate("Interrupt: its offset %+v does not go beyond %d ms", *o.Offset, t.played.Load())
		t.warn("INVALID_INTERRUPT_OFFSET")
		return
	}
	t.server.Note(func(b *Books) { b.Cancels++ })
	t.interrupting.Store(true)
	character := float64(CharacterTime.Milliseconds()) / t.query.speed
	t.drop()
	t.out.Add(loopbacktest.Outgoing{Delay: t.server.script.Voice.Delays.Cleared, Message: func() any { return t.interrupted(live, o, character) }})
}

// interrupted answers an Interrupt. character is the audio of one in ms.
func (t *turns) interrupted(live []*Speech, o *order, character float64) any {
	defer t.interrupting.Store(false)
	live = slices.DeleteFunc(live, func(sp *Speech) (isOver bool) { // when the Interrupt came
		t.server.Change(func() { isOver = sp.End != "" })
		return isOver
	})
	for _, each := range live {
		t.server.Over(each, "interrupted")
	}
	if len(live) == 0 {
		return warning("NO_ACTIVE_SPEECH")
	}
	sp := live[0]
	m := map[string]any{"type": "SpeechInterrupted", "speech_id": sp.ID, "metadata": t.metadata(sp), "audio_played_ms": t.out.sent().Milliseconds()}
	if t.server.script.Voice.Traps.InterruptedWithoutID {
		delete(m, "speech_id")
	}
	t.played.Store(t.out.sent().Milliseconds())
	if o.Offset != nil {
		t.played.Store(int64(o.Offset.Value))
		var all []rune
		t.server.Change(func() { all = []rune(sp.Text) })
		heard := int(float64(int64(o.Offset.Value)-t.begun[sp].Milliseconds()) / character)
		heard = max(0, min(heard, len(all)))
		m["audio_played_ms"], m["text_spoken"], m["text_remaining"] = o.Offset.Value, string(all[:heard]), string(all[heard:])
	}
	return m
}

// metadata is what a turn is billed by.
func (t *turns) metadata(sp *Speech) (m map[string]any) {
	t.server.Change(func() {
		m = map[string]any{"speech_id": sp.ID, "audio_duration_ms": sp.Audio.Milliseconds(), "input_character_count": utf8.RuneCountInString(sp.Text),
			"billable_character_count": billable(sp.Text),
			"controls_applied":         map[string]int{"pronunciations_applied": 0, "breaks_applied": 0, "pronunciation_warnings": 0}}
	})
	return m
}

// billable counts characters without control characters.
func billable(text string) (n int) {
	for _, r := range text {
		if !unicode.IsControl(r) {
			n++
		}
	}
	return n
}

// total is what the session is billed by.
func (t *turns) total() any {
	input, bill := 0, 0
	t.server.Change(func() {
		for _, sp := range t.speeches {
			input, bill = input+utf8.RuneCountInString(sp.Text), bill+billable(sp.Text)
		}
	})
	return map[string]any{"type": "SessionMetadata", "total_audio_duration_ms": t.out.sent().Milliseconds(),
		"total_input_character_count": input, "total_billable_character_count": bill}
}

// configure changes the speed of texts that follow.
func (t *turns) configure(o *order) {
	applied := map[string]any{}
	if o.Speed != nil {
		if code := checkSpeed(*o.Speed); code != "" {
			t.server.Violate("Configure: speed %v: %s", *o.Speed, code)
			_ = t.wire.Write(map[string]any{"type": "ConfigureFailure", "code": code, "field": "speed", "value": *o.Speed, "description": code})
			return
		}
		t.query.speed, applied["speed"] = *o.Speed, *o.Speed
	}
	_ = t.wire.Write(map[string]any{"type": "ConfigureSuccess", "applied": applied})
}
