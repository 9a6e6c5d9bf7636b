package replay

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"parley/media"
	"parley/pipeline"
)

// Options change what a call is replayed with.
type Options struct {
	// Change is told of what the call was made of, before it begins; nil: nothing changes.
	Change func(*pipeline.Config)
}

// silenceMost is how long a call that outlives its record goes on in silence, before the
// far end is taken to hang up.
const silenceMost = time.Minute

// Result is what came of a replay.
type Result struct {
	Events []Event // the log
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
// The error is ErrFormat, for inputs that no call has had.
func Replay(f *File, o Options) (result Result, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%w: the conductor broke on it: %v", ErrFormat, broken)
		}
	}()
	p := &player{file: f, result: Result{Parted: -1}, used: map[int]bool{}, plays: map[int]int{}}
	p.run = pipeline.NewRerun(f.Origin, o.Change, p)
	defer p.run.Close()
	p.sort()
	p.play()
	if p.result.Same = reflect.DeepEqual(p.result.Events, f.Events); p.result.Same {
		p.result.Parted = -1
	}
	p.result.Ended = p.run.Ended()
	return p.result, nil
}

// player feeds a Rerun. It is its journal: what the call does has inputs follow.
type player struct {
	file   *File
	run    *pipeline.Rerun
	result Result

	fixed  []item // what comes when it came, oldest first
	tied   []item // what comes so long after something that the call does, likewise
	bound  map[int][]item
	after  map[string][]item
	used   map[int]bool // recorded replies that were given
	plays  map[int]int  // which recorded reply a reply is
	opened []pipeline.Note
	now    time.Duration
}

// item is an input to come. Of two at one time that with the lower seq is first.
type item struct {
	at   time.Duration
	seq  int
	in   *pipeline.Input
	step int // of the record; -1: none
}

// sort says of each input whether it is tied to what the call does.
func (p *player) sort() {
	p.bound, p.after = map[int][]item{}, map[string][]item{}
	for i := range p.file.steps {
		in := p.file.steps[i].in
		it := item{at: in.At, seq: i, in: in, step: i}
		if m := in.Message; m != nil {
			asked, reply := p.file.asked[m.Gen]
			began, function := p.file.began[m.ID]
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
		case it.in.Kind == pipeline.Concluded && !p.run.Over() && !it.in.Outside:
			// It had ended by itself then, and does not now.
			p.part()
			p.outlive()
			return
		}
		p.feed(it)
		if p.parted() && it.in.Kind == pipeline.Concluded {
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
	if !p.parted() && (it.step >= 0 && len(p.result.Events) != p.file.steps[it.step].events || p.run.Parted()) {
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
		quiet := &pipeline.Input{Kind: pipeline.Ticked}
		quiet.AddHeard(pipeline.Heard{Level: -90})
		it := item{at: p.now + media.FrameDuration, seq: len(p.file.steps), in: quiet, step: -1}
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
	last := func(in pipeline.Input) { p.feed(item{at: p.now, in: &in, step: -1}) }
	if !p.run.Concluded() {
		last(pipeline.Input{Kind: pipeline.Concluded, Ended: &media.Ended{Reason: media.UserHangup}, Outside: true})
	}
	for _, it := range p.tied {
		if it.in.Message != nil && it.in.Message.Usage != nil { // what was consumed is told of
			late := *it.in
			late.Kind = pipeline.Buried
			last(late)
		}
	}
	last(pipeline.Input{Kind: pipeline.Closed})
}

// Begin implements pipeline.Journal.
func (p *player) Begin(pipeline.Origin) {}

// Input implements pipeline.Journal. A Rerun tells of none.
func (p *player) Input(*pipeline.Input) {}

// Close implements pipeline.Journal.
func (p *player) Close() {}

// Event implements pipeline.Journal.
func (p *player) Event(e pipeline.Event) {
	n := len(p.result.Events)
	event := EventOf(e)
	if p.file.minor == 0 {
		event = event.before()
	}
	p.result.Events = append(p.result.Events, event)
	if !p.parted() && (n >= len(p.file.Events) || !reflect.DeepEqual(event, p.file.Events[n])) {
		p.part()
	}
}

// Note implements pipeline.Journal.
func (p *player) Note(n pipeline.Note) {
	switch n.Kind {
	case pipeline.NoteReply:
		p.answer(n)
	case pipeline.NoteFunction:
		p.tie(p.after[p.recorded(n.Text)], n.At)
	case pipeline.NoteUtterance:
		p.opened = append(p.opened, n)
	}
}
