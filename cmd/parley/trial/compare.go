package trial

import (
	"bytes"
	"fmt"
	"time"

	"parley/api/wire"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/replay"
)

// Compare conducts a recorded call again with the settings of an agent, and says what differs: from the call as it
// was, or as it goes with those of other. Both are agents as Options.Draft and Options.Stored make them; other may be
// nil. The engines give what they gave: no model is asked. The error is about the agents; a record that cannot be
// conducted again is an outcome.
func Compare(record []byte, of, other any) (wire.ComparedCall, error) {
	settings, err := settingsOf(of)
	if err != nil {
		return wire.ComparedCall{}, err
	}
	f, err := journal.Read(bytes.NewReader(record))
	if err != nil {
		return unreadable(), nil
	}
	now, err := replay.Replay(f, replay.Today(settings))
	if err != nil {
		return unreadable(), nil
	}
	then := replay.Result{Events: f.Events}
	if other != nil {
		was, err := settingsOf(other)
		if err != nil {
			return wire.ComparedCall{}, err
		}
		if then, err = replay.Replay(f, replay.Today(was)); err != nil {
			return unreadable(), nil
		}
	}
	return compared(&then, &now), nil
}

func unreadable() wire.ComparedCall {
	return wire.ComparedCall{Outcome: "unreadable", Turns: []wire.ComparedTurn{}}
}

// settingsOf are the settings of an agent.
func settingsOf(of any) (agent.Settings, error) {
	d, ok := of.(agent.Document)
	if !ok {
		return agent.Settings{}, fmt.Errorf("trial: %T is no agent", of)
	}
	return agent.ParseSettings(d.Settings)
}

// compared says what differs between two logs of a call.
func compared(then, now *replay.Result) wire.ComparedCall {
	out := wire.ComparedCall{Outcome: "same", Turns: []wire.ComparedTurn{}, Unheard: now.Unheard}
	all := replay.CompareTurns(then.Events, now.Events)
	out.TurnsTotal = len(all)
	for i := range all {
		if !all[i].Same() {
			out.Turns = append(out.Turns, wire.ComparedTurn{Then: side(all[i].Then), Now: side(all[i].Now)})
		}
	}
	out.EndedThen, out.EndedNow = ending(then.Events), ending(now.Events)
	if len(out.Turns) > 0 || out.EndedThen != out.EndedNow {
		out.Outcome = "differs"
	}
	return out
}

// side is a turn as it is shown.
func side(t *replay.Turn) *wire.TurnSide {
	if t == nil {
		return nil
	}
	s := &wire.TurnSide{Turn: t.No, AtMS: t.At.Milliseconds(), Heard: t.Heard, Said: t.Said, Functions: append([]string{}, t.Functions...), Interrupted: t.Interrupted}
	if t.Latency >= 0 {
		ms := int64(t.Latency / time.Millisecond)
		s.LatencyMS = &ms
	}
	return s
}

// ending is why a call ended; empty: that was not kept.
func ending(events []journal.Event) string {
	if n := len(events); n > 0 && events[n-1].Kind == event.End.String() {
		return events[n-1].Reason
	}
	return ""
}
