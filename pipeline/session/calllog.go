package session

import (
	"time"

	"parley/store/history"
)

// Bounds of a call's log. Of a longer one the oldest events are left out, a quarter
// at once, and the log begins with how the call stood after them.
const (
	maxLogEvents = 2000
	maxLogBytes  = 512 << 10 // about, as JSON
	eventBytes   = 80        // of one without its text
)

// callLog grows with a call. The zero callLog is not kept.
type callLog struct {
	history.CallLog
	bytes int
	now   func() time.Time
}

func newCallLog(status CallStatus, now func() time.Time) callLog {
	return callLog{CallLog: history.CallLog{At: now().UTC().Truncate(time.Microsecond), Status: string(status)}, now: now}
}

func sizeOf(e *history.CallEvent) int {
	n := eventBytes
	if e.Line != nil {
		n += len(e.Line.Text)
	}
	if e.Correction != nil {
		n += len(e.Correction.Text)
	}
	if e.Function != nil {
		n += functionBytes(e.Function)
	}
	return n
}

// add adds what happens now.
func (l *callLog) add(e history.CallEvent) {
	e.At = l.now().UTC().Truncate(time.Microsecond)
	l.Events = append(l.Events, e)
	l.bytes += sizeOf(&e)
	for len(l.Events) > maxLogEvents || l.bytes > maxLogBytes && len(l.Events) > 1 {
		l.shorten(max(1, len(l.Events)/4))
	}
}

// shorten leaves out the oldest n events.
func (l *callLog) shorten(n int) {
	for i := range l.Events[:n] {
		e := &l.Events[i]
		l.At = e.At
		switch {
		case e.Status != "":
			l.Status = e.Status
		case e.AnsweredBy != "":
			l.AnsweredBy = e.AnsweredBy
		case e.Line != nil:
			l.Lines++
		}
		l.bytes -= sizeOf(e)
	}
	l.Omitted += n
	l.Events = append([]history.CallEvent(nil), l.Events[n:]...)
}
