package listenin

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"parley/api"
	"parley/api/socket"
	"parley/media"
	"parley/media/monitor"
)

const (
	// notePatience is for noting what somebody does.
	notePatience = 3 * time.Second
	// maxMessage is the longest message, in bytes; maxWhisper the longest whisper, in bytes.
	maxMessage = 16 << 10
	maxWhisper = 2000
	// maxSpeech is the longest message of a voice: 200 ms.
	maxSpeech = 10
)

// guest is somebody at the socket of a call.
type guest struct {
	*Handler
	sock *socket.Socket
	who  api.Principal
	call string

	mu         sync.Mutex
	note       string     // of who listens; empty: they do not
	rate       media.Rate // of what they hear, and say
	supervisor Supervisor // nil: they do not speak
	speaks     string     // as what supervisor does: takeOver or coach

	rest []int16 // of what they said, less than a frame; of the goroutine that reads
}

// serve sends what is heard until the call is over. An error: nothing was.
func (g *guest) serve(ctx context.Context) error {
	l, err := g.Calls.Listen(ctx, g.who.Account, g.call)
	if err != nil {
		return err
	}
	defer l.Leave()
	// Nobody listens without a note of it.
	id, err := g.Notes.Joined(ctx, g.who.Account, g.call, g.who.Maker(), "")
	if err != nil {
		return err
	}
	defer g.noting(g.call, "that somebody listens no more", func(ctx context.Context) error { return g.Notes.Left(ctx, id, "") })
	g.begin(id, l.Rate())
	defer g.leave()
	if call := g.Calls.Conversation(g.who.Account, g.call); call != nil {
		call.Listens(1)
		defer call.Listens(-1)
	}
	g.sock.SendJSON(map[string]any{"type": "listening", "call_id": g.call, "sample_rate": int(l.Rate()), "channels": monitor.Channels})
	frame := make([]int16, monitor.Channels*l.Rate().FrameSamples())
	for {
		err := l.Next(ctx, frame)
		if errors.Is(err, io.EOF) {
			g.sock.SendJSON(map[string]string{"type": "ended"})
			return nil
		}
		if err != nil || !g.sock.SendBinary(bytesOf(frame)) {
			return nil // the client has gone
		}
	}
}

// begin has the reader know of the call.
func (g *guest) begin(note string, rate media.Rate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note, g.rate = note, rate
}

// leave gives the call back.
func (g *guest) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note = ""
	g.giveBackLocked()
}

func (g *guest) giveBackLocked() {
	if g.supervisor != nil {
		g.supervisor.StepOut()
		g.supervisor, g.speaks = nil, ""
	}
}

// told takes a text message.
func (g *guest) told(b []byte) {
	var m struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	done, err := "", error(api.Bad("a text message is a JSON object"))
	if json.Unmarshal(b, &m) == nil {
		done, err = g.does(m.Type, m.Text)
	}
	answer := any(map[string]string{"type": done})
	if err != nil {
		answer = socket.Object(api.ProblemOf(err))
	}
	if text, err := json.Marshal(answer); err == nil {
		g.sock.OfferText(text)
	}
}

// does what a message asks for, and says what was done.
func (g *guest) does(what, text string) (done string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	call := g.Calls.Conversation(g.who.Account, g.call)
	switch {
	case !g.who.Speaks:
		return "", api.ErrRole
	case g.note == "" || call == nil:
		return "", api.ErrNotTalking
	}
	switch what {
	case takeOver:
		return "taken_over", g.speakLocked(what, call.StepIn)
	case coach:
		return "coaching", g.speakLocked(what, call.Coach)
	case "give_back":
		g.giveBackLocked()
		return "given_back", nil
	case "whisper":
		if text == "" || len(text) > maxWhisper {
			return "", api.Bad("text: a whisper has 1 to %d bytes", maxWhisper)
		}
		call.Whisper(text)
		return "whispered", nil
	}
	return "", api.Bad("type: take_over, coach, give_back or whisper")
}

// The messages by which they begin to speak: to the caller in the agent's place, or to the person who has the caller.
const (
	takeOver = "take_over"
	coach    = "coach"
)

// speakLocked lets them speak in one way, and ends the other way if they spoke in it.
func (g *guest) speakLocked(as string, begin func(ctx context.Context, credential string, rate media.Rate) (Supervisor, error)) error {
	if g.speaks == as {
		return nil
	}
	g.giveBackLocked()
	ctx, cancel := context.WithTimeout(context.Background(), notePatience)
	defer cancel()
	s, err := begin(ctx, g.who.Maker(), g.rate)
	if err != nil {
		return err
	}
	g.supervisor, g.speaks, g.rest = s, as, g.rest[:0]
	g.noting(g.call, "that somebody speaks", func(ctx context.Context) error { return g.Notes.Spoke(ctx, g.note) })
	return nil
}

// says takes what they say. Nobody hears it unless they have taken over, or coach.
func (g *guest) says(b []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.rate.FrameSamples()
	if g.supervisor == nil || len(b)%2 != 0 || len(b)/2 > maxSpeech*n {
		return
	}
	for i := 0; i < len(b); i += 2 {
		g.rest = append(g.rest, int16(binary.LittleEndian.Uint16(b[i:])))
	}
	whole := len(g.rest) / n * n
	for i := 0; i < whole; i += n {
		g.supervisor.Say(g.rest[i : i+n])
	}
	g.rest = g.rest[:copy(g.rest, g.rest[whole:])]
}

// bytesOf writes samples as they are sent.
func bytesOf(samples []int16) []byte {
	b := make([]byte, 2*len(samples))
	for i, v := range samples {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	}
	return b
}
