// Package replay conducts a recorded call again, as it was or with other settings: the same inputs give the same events,
// byte for byte. With other settings it shows where the call would have gone another way.
//
// Replay feeds a journal.File to the conductor (replay.go); match.go finds what belongs to a call that goes another way, Compare
// lines up two logs, and settings.go names what a replay may change.
package replay

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"parley/media"
	"parley/pipeline"
	"parley/pipeline/journal"
)

// silenceMost is how long a call that outlives its record goes on in silence, before the
// far end is taken to hang up.
const silenceMost = time.Minute

// Result is the result of a replay.
type Result struct {
	Events []journal.Event // the log
	Ended  media.Ended
	// Same says that the log is that of the record, byte for byte: as far as it goes,
	// when the rest was not kept.
	Same bool
	// Parted is the number of the first event, from 0, that is another one; -1: the call
	// went its way to the end.
	Parted int
	// Unheard counts replies that the record has no words for.
	Unheard int
}

// Replay conducts the call again.
//
// Until an event differs the inputs are fed as they came. From there on, what the caller
// did and what the recogniser made of it keep their time, and what engines and functions
// gave comes as long after they were asked as it did then. A reply is the recorded one to
// the same words, else the next that was recorded.
//
// The error is journal.ErrFormat, for inputs that no call has had.
func Replay(f *journal.File, change func(*pipeline.Config)) (result Result, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%w: the conductor broke on it: %v", journal.ErrFormat, broken)
		}
	}()
	p := &player{file: f, result: Result{Parted: -1}, used: map[int]bool{}, plays: map[int]int{}}
	p.run = pipeline.NewReplay(&f.Origin, change, p)
	defer p.run.Close()
	p.sort()
	p.play()
	if p.result.Same = reflect.DeepEqual(p.result.Events, f.Events); p.result.Same {
		p.result.Parted = -1
	}
	p.result.Ended = p.run.Ended()
	return p.result, nil
}

// player feeds a call and is the sink of its journal: what the call does has inputs follow.
type player struct {
	file   *journal.File
	run    *pipeline.Simulation
	result Result

	fixed  []item // what comes when it came, oldest first
	tied   []item // what comes so long after something that the call does, likewise
	bound  map[int][]item
	after  map[string][]item
	used   map[int]bool // recorded replies that were given
	plays  map[int]int  // which recorded reply a reply is
	opened []journal.Note
	now    time.Duration

	concluded bool
}

// item is an input to come. Of two at one time that with the lower seq is first.
type item struct {
	at   time.Duration
	seq  int
	in   *journal.Input
	step int // of the record; -1: none
}

// sort says of each input whether it is tied to what the call does.
func (p *player) sort() {
	p.bound, p.after = map[int][]item{}, map[string][]item{}
	for i := range p.file.Steps {
		in := p.file.Steps[i].Input
		it := item{at: in.At, seq: i, in: in, step: i}
		if m := in.Message; m != nil {
			asked, reply := p.file.Replies[m.Gen]
			began, function := p.file.Functions[m.ID]
			switch {
			case m.Gen > 0 && reply:
				it.at -= asked.At
				p.bound[m.Gen] = append(p.bound[m.Gen], it)
				continue
			case m.ID != "" && function:
				it.at -= began.At
				p.after[m.ID] = append(p.after[m.ID], it)
				continue
			}
		}
		p.fixed = append(p.fixed, it)
	}
}

// next takes the input that is due first.
func (p *player) next() (item, bool) {
	list := &p.fixed
	if len(p.tied) > 0 && (len(p.fixed) == 0 || before(p.tied[0], p.fixed[0]) < 0) {
		list = &p.tied
	}
	if len(*list) == 0 {
		return item{}, false
	}
	it := (*list)[0]
	*list = (*list)[1:]
	return it, true
}

func before(a, b item) int {
	if a.at != b.at {
		return int(min(1, max(-1, a.at-b.at)))
	}
	return a.seq - b.seq
}

// tie has inputs come after a moment.
func (p *player) tie(list []item, at time.Duration) {
	for _, it := range list {
		it.at = max(it.at+at, p.now)
		p.tied = append(p.tied, it)
	}
	slices.SortStableFunc(p.tied, before)
}

// play feeds what was recorded until the call has gone another way and is over, or the
// record is.
func (p *player) play() {
	for {
		it, ok := p.next()
		switch {
		case !ok:
			p.outlive()
			return
		case p.parted() && p.run.Over():
			p.close()
			return
		case it.in.Kind == journal.Concluded && !p.run.Over() && !it.in.Outside:
			// It had ended by itself then, and does not now.
			p.part()
			p.outlive()
			return
		}
		p.feed(it)
		if p.parted() && it.in.Kind == journal.Concluded {
			p.close()
			return
		}
	}
}

func (p *player) feed(it item) {
	in := *it.in
	in.At = it.at
	p.now = it.at
	if p.parted() && in.Message != nil {
		p.adapt(&in)
	}
	p.run.Feed(&in)
	p.concluded = p.concluded || in.Kind == journal.Concluded
	if !p.parted() && (it.step >= 0 && len(p.result.Events) != p.file.Steps[it.step].Events || p.run.Parted()) {
		p.part()
	}
}

func (p *player) parted() bool { return p.result.Parted >= 0 }

// part notes that the call goes another way from here on.
func (p *player) part() {
	if p.parted() {
		return
	}
	n := 0
	for n < len(p.result.Events) && n < len(p.file.Events) && reflect.DeepEqual(p.result.Events[n], p.file.Events[n]) {
		n++
	}
	p.result.Parted = n
	p.run.Part()
}

// outlive ends a call that has gone on for longer than its record.
func (p *player) outlive() {
	if !p.parted() && (p.file.Cut || p.run.Over()) {
		return
	}
	p.part()
	p.fixed = nil
	until := p.now + silenceMost
	for !p.run.Over() && p.now < until {
		quiet := &journal.Input{Kind: journal.Ticked}
		quiet.AddHeard(journal.Heard{Level: -90})
		it := item{at: p.now + media.FrameDuration, seq: len(p.file.Steps), in: quiet, step: -1}
		for len(p.tied) > 0 && p.tied[0].at <= it.at {
			first, _ := p.next()
			p.feed(first)
		}
		p.feed(it)
	}
	p.close()
}

// close feeds the end of a call that went another way.
func (p *player) close() {
	last := func(in journal.Input) { p.feed(item{at: p.now, in: &in, step: -1}) }
	if !p.concluded {
		last(journal.Input{Kind: journal.Concluded, Ended: &media.Ended{Reason: media.UserHangup}, Outside: true})
	}
	for _, it := range p.tied {
		if it.in.Message != nil && it.in.Message.Usage != nil { // consumption is reported
			late := *it.in
			late.Kind = journal.Late
			last(late)
		}
	}
	last(journal.Input{Kind: journal.Closed})
}

// Begin implements journal.Sink.
func (p *player) Begin(journal.Origin) {}

// Input implements journal.Sink: inputs are what is fed.
func (p *player) Input(*journal.Input) {}

// Close implements journal.Sink.
func (p *player) Close() {}

// Event implements journal.Sink.
func (p *player) Event(e journal.Event) {
	n := len(p.result.Events)
	e = p.file.Comparable(e)
	p.result.Events = append(p.result.Events, e)
	if !p.parted() && (n >= len(p.file.Events) || !reflect.DeepEqual(e, p.file.Events[n])) {
		p.part()
	}
}

// Note implements journal.Sink.
func (p *player) Note(n journal.Note) {
	switch n.Kind {
	case journal.NoteReply:
		p.answer(n)
	case journal.NoteFunction:
		p.tie(p.after[p.recorded(n.Text)], n.At)
	case journal.NoteUtterance:
		p.opened = append(p.opened, n)
	}
}
