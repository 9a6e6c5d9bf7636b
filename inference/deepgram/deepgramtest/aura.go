package deepgramtest

import (
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// voiceUUID is that of every model.
const voiceUUID = "5a1e0b52-0000-4000-8000-00000000c0de"

// auraFields are those of Aura's messages.
var auraFields = map[string][]string{"Speak": {"text"}, "Flush": nil, "Clear": nil, "Close": nil}

// aura is one connection to /v1/speak.
type aura struct {
	*session
	flushes  []time.Time // that were taken, of the last minute
	sequence int         // of answers; of the playout's goroutine
}

// serveAura serves one connection until it ends.
func serveAura(v *session) {
	a := &aura{session: v}
	v.out.tell(map[string]any{"type": "Metadata", "request_id": v.id, "model_name": v.query.model, "model_version": "2026-03-01.0", "model_uuid": voiceUUID})
	v.serve(auraFields, func(o *order) {
		switch o.Type {
		case "Speak":
			if _, ok := v.take(o, func() string { return "" }); ok {
				v.sayUntil(loopbacktest.Sentences(v.held))
			}
		case "Flush":
			a.flush()
		case "Clear":
			a.clear()
		case "Close": // ends at once, whatever was not sent
			v.out.Cut(0)
			v.finish()
		}
	})
}

// flush speaks what is held, and says when all was sent.
func (a *aura) flush() {
	a.server.Note(func(b *Books) { b.Finishes++ })
	window := a.server.script.Voice.FlushWindow
	for len(a.flushes) > 0 && time.Since(a.flushes[0]) >= window {
		a.flushes = a.flushes[1:]
	}
	if len(a.flushes) >= maxFlushes {
		a.server.Violate("more than %d flushes within %v", maxFlushes, window)
		code, description := "code", "description"
		if a.server.script.Voice.Traps.WarnFields {
			code, description = "warn_code", "warn_msg"
		}
		_ = a.wire.Write(map[string]any{"type": "Warning", code: "EXCESSIVE_FLUSH", description: "too many flushes"})
		return
	}
	a.flushes = append(a.flushes, time.Now())
	a.sayUntil(len(a.held))
	sp := a.current
	a.current, a.loose = nil, false
	a.out.tell(func() any {
		if sp != nil {
			a.server.Over(sp, "done")
		}
		return a.answer("Flushed")
	})
}

// clear ends all speech.
func (a *aura) clear() {
	live := a.live()
	if len(live) > 0 {
		a.server.Note(func(b *Books) { b.Cancels++ })
	}
	a.drop()
	a.out.Add(loopbacktest.Outgoing{Delay: a.server.script.Voice.Delays.Cleared, Message: func() any {
		for _, sp := range live {
			a.server.Over(sp, "cleared")
		}
		return a.answer("Cleared")
	}})
}

// answer is one that is numbered.
func (a *aura) answer(typ string) any {
	m := map[string]any{"type": typ, "sequence_id": a.sequence}
	a.sequence++
	return m
}
