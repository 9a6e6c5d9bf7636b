package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/media"
	"parley/media/ring"
	"parley/pipeline/listen"
	"parley/pipeline/playout"
)

// A transfer whose Destination says Stay begins with a conversation of three: the person who was called, the caller and the agent. The
// two hear each other from its first moment, and both hear the agent introduce them. When the person has spoken the agent's part is
// over and the conductor connects the two; when they leave before that, the caller is the agent's again.
//
// To the conductor the person is a Supervisor: they speak to the caller in the agent's place, and the caller's turns are kept and not
// answered. What the caller says comes back to them through guest.ears. The agent's voice is mixed in here, beside the call, so that
// the conductor knows nothing of it.

const (
	// metAfter is how long the person has to speak. The agent leaves metMost after the introduction at the latest.
	metAfter = 400 * time.Millisecond
	metMost  = 10 * time.Second
	// metBefore is how long before the end of the transfer's time the agent leaves at the latest: a transfer that runs out of time fails.
	metBefore = 2 * time.Second
)

// errLeftMeeting is what the model learns when the person left too early.
var errLeftMeeting = errors.New("the person hung up before the two had met; the caller is still here")

// guest is what a Supervisor has in addition who was called for the caller.
type guest struct {
	ears    *ring.Ring[spokenFrame] // the caller's voice; what finds no room is lost
	tone    Notice                  // over it: they are heard by those who listen in
	private bool                    // what they say is not recorded
}

// Carry gives a guest a frame of the caller's. It does not allocate.
func (s *Supervisor) Carry(f media.Frame, now time.Time) {
	g := s.guest
	if g == nil || g.ears.Free() == 0 {
		return
	}
	if g.tone.Sounds(now) {
		f = g.tone.Over(f)
	}
	copy(g.ears.Slot(0)[:], f.Samples)
	g.ears.Put(1)
}

// Private says that they must not be recorded: they were not told of it.
func (s *Supervisor) Private() bool { return s.guest != nil && s.guest.private }

// meeting is the conversation of three. All of its audio is at the rate that the second leg takes.
type meeting struct {
	second *Second
	guest  *Supervisor
	voice  *playout.Playout // the agent's
	caller *pipe
	person *pipe
	format media.Format // of the caller's leg

	listener listen.FrontEnd // hears the person; nil: nobody does
	spoke    time.Duration   // how much they have said
	finished int             // sentences of the introduction
	until    time.Time       // the agent leaves; zero: it is not known yet
	limit    time.Time       // and not later; zero: there is none

	toCaller, toPerson [media.MaxFrameSamples]int16
}

// introduce lets the three talk until the two have met. If another supervisor has the caller, only the person hears the introduction. An
// error: the person has left early, or ctx has ended, and the agent has the caller again.
func (t *Transfer) introduce(ctx context.Context, c *Transferee, s *Second, name string, said []*playout.Sentence) error {
	m := &meeting{second: s, voice: s.plays(said), format: c.Leg.Format()}
	in, out := s.leg.Format().In, s.leg.Format().Out
	m.caller, m.person = newPipe(m.format.In, out), newPipe(in, out)
	m.guest = c.Invite(name, out)
	m.guest.guest = &guest{ears: ring.New[spokenFrame](supervisorFrames), private: !t.Record}
	if t.Listen != nil {
		m.listener, _ = t.Listen(in) // without it the agent leaves when its time has come
	}
	if end, limited := ctx.Deadline(); limited {
		m.limit = end.Add(-metBefore)
	}
	if m.guest.StepIn(ctx) != nil {
		return s.tell(ctx, said)
	}
	err := s.attend(ctx, m.next, m.over, m.hear, ignored)
	var heard []string
	for _, sentence := range said[:min(m.finished, len(said))] {
		heard = append(heard, sentence.Text)
	}
	if len(heard) > 0 {
		c.Said(strings.Join(heard, " "))
	}
	if err != nil {
		m.guest.StepOut()
	}
	if errors.Is(err, errLeftSummary) {
		err = errLeftMeeting
	}
	return err
}

// hear takes 20 ms of the person.
func (m *meeting) hear(f media.Frame) {
	m.person.push(f, time.Now())
	if m.listener == nil {
		return
	}
	if _, a := m.listener.Hear(f); a.Speech {
		m.spoke += media.FrameDuration
	}
}

// next is the next 20 ms for the person, and gives the caller theirs.
func (m *meeting) next() (media.Frame, bool) {
	ears, now := m.guest.guest.ears, time.Now()
	for ; ears.Len() > 0; ears.Drop(1) {
		m.caller.push(media.Frame{Samples: ears.Peek(0)[:m.format.In.FrameSamples()], Rate: m.format.In}, now)
	}
	agent, finished, _ := m.voice.Next(0)
	m.finished += finished
	m.guest.Say(together(&m.toCaller, m.person.next(), agent).Samples)
	return together(&m.toPerson, m.caller.next(), agent), true
}

// over says whether it is time for the agent to leave.
func (m *meeting) over() bool {
	now := time.Now()
	if !m.limit.IsZero() && !now.Before(m.limit) {
		return true
	}
	if !m.voice.Drained() {
		return false
	}
	if m.until.IsZero() {
		m.until = now.Add(metMost)
	}
	return m.spoke >= metAfter || !now.Before(m.until)
}

// together mixes two frames, of which other may be empty, into room.
func together(room *[media.MaxFrameSamples]int16, f, other media.Frame) media.Frame {
	out := media.Frame{Samples: room[:f.Rate.FrameSamples()], Rate: f.Rate}
	clear(out.Samples[copy(out.Samples, f.Samples):])
	mix(out, other)
	return out
}
