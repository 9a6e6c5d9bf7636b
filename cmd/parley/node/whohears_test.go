package node

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest"
	"parley/media"
	"parley/media/mediatest"
	"parley/sip/simulated"
	"parley/store"
	"parley/store/history"
	"parley/store/numbers"
	"parley/store/people"
)

// The tones by which a call's parts are told apart, in Hz.
const (
	callersTone     = 400
	agentsTone      = 1500
	supervisorsTone = 700
	listeningTone   = 1400 // of the server, while somebody listens in
)

// ear is the socket of a listener, by what it hears: samples of either channel.
type ear struct {
	*guest
	left, right []int16
}

// hears reads so many frames, and anything beside them.
func (e *ear) hears(frames int) {
	e.Helper()
	for frames > 0 {
		kind, b, err := e.conn.ReadMessage()
		e.ok(err)
		if kind != websocket.BinaryMessage {
			continue
		}
		frames--
		for i := 0; i < len(b); i += 4 {
			e.left = append(e.left, int16(binary.LittleEndian.Uint16(b[i:])))
			e.right = append(e.right, int16(binary.LittleEndian.Uint16(b[i+2:])))
		}
	}
}

// tonesIn says which of the parts' tones are in the last 200 ms of samples.
func tonesIn(samples []int16, rate media.Rate) (tones []int) {
	last := samples[max(0, len(samples)-int(rate)/5):]
	for _, hz := range []int{callersTone, supervisorsTone, agentsTone} {
		if mediatest.ToneLevel(last, rate, float64(hz)) > -35 {
			tones = append(tones, hz)
		}
	}
	return tones
}

// TestWhoHearsWhom: by tones, in every direction: those who listen hear both sides apart; a supervisor who has taken over is heard by
// the caller in the agent's place, and the caller does not hear themselves. The caller hears that somebody listens.
func TestWhoHearsWhom(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	voice := enginetest.NewFakeTTS()
	voice.Tone, voice.Sentence = agentsTone, 30*time.Second
	w.node.engines.TTS = voice
	settings, err := json.Marshal(object{"first_message_interruptible": "never", "listening_tone": true})
	w.ok(err)
	agent, err := w.node.db.CreateAgent(t.Context(), w.who.Account, store.Agent{Name: "Eva", Voice: "F1", Language: "en", FirstMessage: "This is a long story.", Settings: settings})
	w.ok(err)
	const number = "+34911234588"
	_, err = numbers.New(w.node.db).Import(t.Context(), w.who.Account, number, agent.ID)
	w.ok(err)
	called := make(chan *simulated.PhoneResult, 1)
	go func() {
		r, err := simulated.Call(t.Context(), simulated.PhoneConfig{URI: "sip:" + number + "@" + w.node.phone.Addr().String(), Number: "+34600123456",
			Play: mediatest.Tone(callersTone, media.Rate8k, 60*8000, 0.3)})
		if err != nil {
			t.Error(err)
		}
		called <- r
	}()
	var id string
	eventually(t, "the call is talked in", func() bool {
		list, err := history.New(w.node.db).Calls(t.Context(), w.who.Account, history.CallPage{})
		w.ok(err)
		if len(list) == 1 && list[0].StartedAt != nil {
			id = list[0].ID
		}
		return id != ""
	})
	mouth := w.member(w.who.Account, people.NewKey{Listens: true, Speaks: true})
	joins := func() *ear {
		var e *ear
		eventually(t, "somebody listens", func() bool {
			conn, _, err := w.listensAs(mouth, id)
			w.ok(err)
			var first told
			w.ok(conn.ReadJSON(&first))
			if first.Type != "listening" {
				return false // it has not begun
			}
			t.Cleanup(func() { conn.Close() })
			e = &ear{guest: &guest{window: w, conn: conn, rate: first.SampleRate}}
			return true
		})
		return e
	}
	hears := func(who string, samples []int16, rate int, want int) {
		t.Helper()
		if got := tonesIn(samples, media.Rate(rate)); len(got) != 1 || got[0] != want {
			t.Errorf("%s hears %v Hz, want %d", who, got, want)
		}
	}
	listener, speaker := joins(), joins()
	eventually(t, "the agent speaks", func() bool {
		listener.hears(10)
		return len(tonesIn(listener.right, media.Rate(listener.rate))) > 0
	})
	listener.hears(25)
	hears("a listener, on the left,", listener.left, listener.rate, callersTone)
	hears("a listener, on the right,", listener.right, listener.rate, agentsTone)

	speaker.ask(`{"type":"take_over"}`, "taken_over", "")
	frame := mediatest.Tone(supervisorsTone, media.Rate(speaker.rate), speaker.rate/50, 0.3) // of whole periods
	for range 100 {
		b := make([]byte, 0, 2*len(frame))
		for _, v := range frame {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
		w.ok(speaker.conn.WriteMessage(websocket.BinaryMessage, b))
		listener.hears(1)
		speaker.hears(1)
	}
	hears("a listener, on the left,", listener.left, listener.rate, callersTone)
	hears("a listener, on the right,", listener.right, listener.rate, supervisorsTone)
	hears("the supervisor, on the left,", speaker.left, speaker.rate, callersTone)
	hears("the supervisor, on the right,", speaker.right, speaker.rate, supervisorsTone)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/v1/calls/"+id+"/hangup", nil)
	w.ok(err)
	if status := w.answered(req, w.key, nil, nil); status/100 != 2 {
		t.Fatalf("hanging up: %d", status)
	}
	r := <-called
	heard := map[int]int{}
	for rest := r.Heard; len(rest) >= 1600; rest = rest[1600:] {
		if mediatest.ToneLevel(rest[:1600], media.Rate8k, listeningTone) > -36 {
			heard[listeningTone]++
		}
		for _, hz := range tonesIn(rest[:1600], media.Rate8k) {
			heard[hz]++
		}
	}
	if heard[agentsTone] < 2 || heard[supervisorsTone] < 5 || heard[callersTone] > 0 || heard[listeningTone] < 1 {
		t.Errorf("of the tones the caller heard so many fifths of a second: %v", heard)
	}
}
