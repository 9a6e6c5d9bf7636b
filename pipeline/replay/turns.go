package replay

import (
	"slices"
	"strings"
	"time"

	"parley/pipeline/journal"
)

// Turn is a turn of a call as people compare it: what the caller said, and what the agent made of it.
type Turn struct {
	No          int           // from 1; 0 is what is before the caller's first turn
	At          time.Duration // when the caller's words were taken to be over, since the call's first moment
	Heard       string        // the caller's words
	Said        string        // the agent's, as far as they were heard
	Functions   []string      // that were called, in their order
	Interrupted bool          // the caller cut the agent off
	// Latency is from the end of the caller's speech to the first sound of the answer; negative: there was none.
	Latency time.Duration
}

// Turns are those of a log, in the order in which they began.
func Turns(events []journal.Event) []Turn {
	list := []Turn{{Latency: -1}}
	at := func(no int) *Turn {
		if i := slices.IndexFunc(list, func(t Turn) bool { return t.No == no }); i >= 0 {
			return &list[i]
		}
		return &list[len(list)-1]
	}
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case "user_line":
			if last := &list[len(list)-1]; e.Turn > last.No {
				list = append(list, Turn{No: e.Turn, At: e.At(), Latency: -1})
			}
			t := at(e.Turn)
			t.Heard = joined(t.Heard, e.Text)
		case "user_line_again":
			t := at(e.Turn)
			t.Heard = strings.Replace(t.Heard, e.Replaces, e.Text, 1)
		case "agent_line":
			t := at(e.Turn)
			t.Said = joined(t.Said, e.Text)
		case "tool_begun", "tool_asked":
			if t := at(e.Turn); e.Call != nil {
				t.Functions = append(t.Functions, e.Call.Name)
			}
		case "interrupted":
			list[len(list)-1].Interrupted = true // it names no turn: it is the one that lasts
		case "timed":
			if t := at(e.Turn); t.Latency < 0 && e.Timing != nil {
				t.Latency = time.Duration(e.Timing.TotalUS) * time.Microsecond
			}
		}
	}
	return list
}

func joined(text, more string) string { return strings.TrimSpace(text + " " + more) }

// TurnDifference is a turn of two logs.
type TurnDifference struct {
	Then *Turn // nil: there was none
	Now  *Turn // nil: there is none
}

// Same says that the turn is the same but for when it was, and its number.
func (d *TurnDifference) Same() bool {
	a, b := d.Then, d.Now
	return a != nil && b != nil && a.Heard == b.Heard && a.Said == b.Said && a.Interrupted == b.Interrupted &&
		a.Latency.Milliseconds() == b.Latency.Milliseconds() && slices.Equal(a.Functions, b.Functions)
}

// CompareTurns lines up the turns of two logs by what the caller said in them.
func CompareTurns(then, now []journal.Event) []TurnDifference {
	was, is := Turns(then), Turns(now)
	var list []TurnDifference
	i, j := 0, 0
	if len(was)*len(is) <= maxDiff {
		a, b := heard(was), heard(is)
		for rest := longest(a, b); i < len(a) && j < len(b); {
			switch {
			case a[i] == b[j]:
				list = append(list, TurnDifference{&was[i], &is[j]})
				i, j = i+1, j+1
			case rest[i+1][j] >= rest[i][j+1]:
				list = append(list, TurnDifference{Then: &was[i]})
				i++
			default:
				list = append(list, TurnDifference{Now: &is[j]})
				j++
			}
		}
	}
	for ; i < len(was); i++ {
		list = append(list, TurnDifference{Then: &was[i]})
	}
	for ; j < len(is); j++ {
		list = append(list, TurnDifference{Now: &is[j]})
	}
	return list
}

// heard is what the caller said in each turn.
func heard(turns []Turn) []string {
	list := make([]string, len(turns))
	for i := range turns {
		list[i] = turns[i].Heard
	}
	return list
}
