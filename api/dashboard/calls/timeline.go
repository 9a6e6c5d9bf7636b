package calls

import (
	"cmp"
	"fmt"
	"time"

	"parley/api/wire"
)

// timeline is a call on one axis of time, which is as long as its recording where there is one: who
// spoke when, what functions ran, and how long the caller waited for each answer. Its lines are axis
// units long.
type timeline struct {
	Lanes []lane
	Marks []string // moments, at equal distances
}

const (
	axis  = 10_000
	marks = 4 // parts of the axis
	least = 20
)

// lane is a row of it.
type lane struct {
	Name  string
	Spans []span
}

// span is something that lasted.
type span struct {
	Class       string
	From, Width int64
	Title       string
}

// timelineOf lays a call out; nil: nothing happened in it.
func timelineOf(v *callView) *timeline {
	c := &v.Call
	length := int64(1)
	if v.Waveform != nil {
		length = max(length, int64(1000*v.Waveform.Duration))
	} else {
		length = max(length, lastMoment(c))
	}
	at := func(ms int64) int64 { return min(axis, max(0, ms*axis/length)) }
	stretch := func(class string, from, to int64, title string) span {
		x := min(at(from), axis-least)
		return span{class, x, max(least, at(to)-x), title}
	}
	caller, agent, functions, waits := lane{Name: v.FarEnd()}, lane{Name: "Agent"}, lane{Name: "Functions"}, lane{Name: "Waits for the answer"}
	for i := range c.Transcript {
		l := &c.Transcript[i]
		s := stretch(l.Role, int64(1000*l.Began()), overAt(l), l.Text)
		if l.Role != "user" {
			agent.Spans = append(agent.Spans, s)
		} else {
			caller.Spans = append(caller.Spans, s)
		}
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		to := f.StartMS
		if f.EndMS != nil {
			to = *f.EndMS
		}
		functions.Spans = append(functions.Spans, stretch("function", f.StartMS, to, f.Name))
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		waits.Spans = append(waits.Spans, stretch("wait", t.AtMS-t.TotalMS, t.AtMS, fmt.Sprintf("%d ms", t.TotalMS)))
	}
	out := &timeline{}
	for _, l := range []lane{caller, agent, functions, waits} {
		if len(l.Spans) > 0 {
			out.Lanes = append(out.Lanes, l)
		}
	}
	if len(out.Lanes) == 0 {
		return nil
	}
	for i := range marks + 1 {
		at := time.Duration(length*int64(i)/marks) * time.Millisecond
		out.Marks = append(out.Marks, fmt.Sprintf("%d:%02d", int(at.Minutes()), int(at.Seconds())%60))
	}
	return out
}

// overAt is when a line was over, in milliseconds of the call.
func overAt(l *wire.CallLine) int64 {
	if n := len(l.Words); n > 0 {
		return l.Words[n-1].EndMS
	}
	return int64(1000 * l.At)
}

// lastMoment is when the last thing happened in a call.
func lastMoment(c *wire.CallDetail) (ms int64) {
	ms = 1000 * c.Duration
	for i := range c.Transcript {
		ms = max(ms, overAt(&c.Transcript[i]))
	}
	for _, f := range c.Functions {
		ms = max(ms, *cmp.Or(f.EndMS, &f.StartMS))
	}
	for _, t := range c.Turns {
		ms = max(ms, t.AtMS)
	}
	return ms
}
