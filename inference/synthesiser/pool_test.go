package synthesiser_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// plain is a vendor whose voice takes no time: each text is answered with 100 ms of audio.
type plain struct{ limits synthesiser.Limits }

func (plain) Info() inference.Info {
	return inference.Info{Name: "plain", Languages: []string{"en"}}
}
func (plain) Voices() []inference.Voice                                      { return []inference.Voice{{ID: "F1", Gender: "female"}} }
func (plain) Path(inference.VoiceConfig) (string, error)                     { return "/", nil }
func (plain) Rate(inference.VoiceConfig) media.Rate                          { return media.Rate8k }
func (p plain) Limits() synthesiser.Limits                                   { return p.limits }
func (plain) Start(name string, _ inference.VoiceConfig) synthesiser.Context { return speech(name) }
func (plain) Read(message []byte, _ bool) (synthesiser.Piece, bool, error) {
	name, what, _ := strings.Cut(string(message), " ")
	p := synthesiser.Piece{Context: name, Done: what == "done"}
	if !p.Done {
		p.Samples = make([]int16, 800)
	}
	return p, true, nil
}

// speech is a context of that name.
type speech string

func (s speech) Say(string, bool) [][]byte { return [][]byte{[]byte(s + " say")} }
func (s speech) End() [][]byte             { return [][]byte{[]byte(s + " end")} }
func (s speech) Cancel() [][]byte          { return [][]byte{[]byte(s + " cancel")} }

// house is the vendor's server in a bubble of simulated time.
type house struct {
	*synthesiser.Engine
	begun time.Time
	// idle is how long a socket may be silent before the server closes it; 0: any time.
	idle time.Duration
	// falls says whether the server drops a socket, by its number, at a text; mute, whether it leaves it unanswered.
	falls, mute func(n int) bool

	mu     sync.Mutex
	opened []time.Duration // since the beginning
	closed []time.Duration // below 0: it is open
	texts  []int           // by sockets
}

// note changes what became known.
func (h *house) note(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// inHouse runs a test of an engine with those limits.
func inHouse(t *testing.T, limits synthesiser.Limits, run func(t *testing.T, h *house)) {
	synctest.Test(t, func(t *testing.T) {
		never := func(int) bool { return false }
		h := &house{begun: time.Now(), falls: never, mute: never}
		m := loopbacktest.NewMemory(h)
		defer m.Close()
		client, err := remote.NewClient(remote.Config{Engine: "plain", BaseURL: "http://127.0.0.1", Dial: m.Dial})
		if err != nil {
			t.Fatal(err)
		}
		h.Engine = synthesiser.New(client, plain{limits}, 0)
		defer h.Close()
		run(t, h)
	})
}

// ServeHTTP serves one socket.
func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	n := 0
	h.note(func() {
		n = len(h.opened)
		h.opened, h.closed, h.texts = append(h.opened, time.Since(h.begun)), append(h.closed, -1), append(h.texts, 0)
	})
	defer h.note(func() { h.closed[n] = time.Since(h.begun) })
	for {
		if h.idle > 0 {
			conn.SetReadDeadline(time.Now().Add(h.idle))
		}
		_, data, err := conn.ReadMessage()
		if err != nil {
			return
		}
		name, what, _ := strings.Cut(string(data), " ")
		answer := map[string]string{"say": "audio", "end": "done"}[what]
		if what == "say" {
			if h.note(func() { h.texts[n]++ }); h.falls(n) {
				return
			}
		}
		if answer != "" && !h.mute(n) && conn.WriteMessage(websocket.TextMessage, []byte(name+" "+answer)) != nil {
			return
		}
	}
}

// begin begins an utterance and returns it when it is audible.
func (h *house) begin(t *testing.T) inference.Utterance {
	t.Helper()
	u := open(t, h.Engine)
	u.Say("Good morning. ")
	if c := <-u.Chunks(); c.Err != nil {
		t.Errorf("%v", c.Err)
	}
	return u
}

// speaks speaks an utterance to its end.
func (h *house) speaks(t *testing.T) error {
	t.Helper()
	u := open(t, h.Engine)
	u.Say("Good morning. ")
	u.End()
	_, length, err := heard(u)
	if err == nil && length != 100*time.Millisecond {
		t.Errorf("%v of audio", length)
	}
	return err
}

// expect checks how many sockets there were, and how many are open.
func (h *house) expect(t *testing.T, opened, now int) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, at := range h.closed {
		if at < 0 {
			n++
		}
	}
	if len(h.opened) != opened || n != now {
		t.Errorf("%d sockets, %d are open; want %d and %d", len(h.opened), n, opened, now)
	}
}

// TestIdleSockets: a socket that nobody uses is closed before its vendor closes it, and its time begins again with each use.
func TestIdleSockets(t *testing.T) {
	inHouse(t, synthesiser.Limits{Idle: 100 * time.Second}, func(t *testing.T, h *house) {
		for range 3 {
			if err := h.speaks(t); err != nil {
				t.Fatal(err)
			}
			h.expect(t, 1, 1)
			time.Sleep(89 * time.Second)
		}
		time.Sleep(2 * time.Second)
		h.expect(t, 1, 0)
		if at := h.closed[0]; at != 268*time.Second { // 90 % after the last use
			t.Errorf("closed at %v", at)
		}
		if err := h.speaks(t); err != nil {
			t.Error(err)
		}
		h.expect(t, 2, 1)
	})
}

// TestOldSockets: nothing begins on a socket that its vendor is about to close, though it is used all the time.
func TestOldSockets(t *testing.T) {
	inHouse(t, synthesiser.Limits{Age: 100 * time.Second}, func(t *testing.T, h *house) {
		for at := 0; at < 100; at += 10 {
			if err := h.speaks(t); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		if !slices.Equal(h.opened, []time.Duration{0, 90 * time.Second}) || h.texts[0] != 9 {
			t.Errorf("sockets opened at %v, with %v texts", h.opened, h.texts)
		}
	})
}

// TestClosedSockets: one that the vendor has closed meanwhile is known to be.
func TestClosedSockets(t *testing.T) {
	inHouse(t, synthesiser.Limits{}, func(t *testing.T, h *house) {
		h.idle = time.Minute
		for range 3 {
			if err := h.speaks(t); err != nil {
				t.Error(err)
			}
			time.Sleep(61 * time.Second)
		}
		if !slices.Equal(h.texts, []int{1, 1, 1}) {
			t.Errorf("texts of the sockets: %v", h.texts)
		}
	})
}

// TestOneFailureDials: after a socket that was open before has failed, a new one is opened, for the others are as old.
func TestOneFailureDials(t *testing.T) {
	inHouse(t, synthesiser.Limits{Contexts: 1}, func(t *testing.T, h *house) {
		var all []inference.Utterance
		for range 3 {
			all = append(all, h.begin(t))
		}
		for _, u := range all {
			u.End()
			heard(u)
		}
		h.expect(t, 3, 3)
		h.falls = func(n int) bool { return n < 3 }
		if err := h.speaks(t); err != nil {
			t.Error(err)
		}
		if h.expect(t, 4, 3); h.texts[0]+h.texts[1]+h.texts[2] != 4 || h.texts[3] != 1 {
			t.Errorf("texts of the sockets: %v", h.texts)
		}
	})
}

// TestSilentSockets: a socket that takes a text and says nothing for a second and a half fails the utterance, and is used for no other.
func TestSilentSockets(t *testing.T) {
	inHouse(t, synthesiser.Limits{}, func(t *testing.T, h *house) {
		if err := h.speaks(t); err != nil {
			t.Fatal(err)
		}
		h.mute = func(n int) bool { return n == 0 }
		begun := time.Now()
		if err := h.speaks(t); !errors.Is(err, inference.ErrStalled) || time.Since(begun) != 1500*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if err := h.speaks(t); err != nil {
			t.Errorf("the next: %v", err)
		}
		h.expect(t, 2, 1)
	})
}

// TestPlaces: a reply above the limit of its key is not available, so that another voice speaks it, until one of those that are spoken has
// ended. A socket that stays open counts for nothing.
func TestPlaces(t *testing.T) {
	inHouse(t, synthesiser.Limits{Contexts: 1}, func(t *testing.T, h *house) {
		h.Remote().Limit(2)
		first, second := h.begin(t), h.begin(t)
		begun := time.Now()
		if err := h.speaks(t); inference.FaultOf(err) != inference.ErrUnavailable || time.Since(begun) > 300*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		first.Cancel()
		heard(first)
		second.End()
		heard(second)
		for range 3 {
			if err := h.speaks(t); err != nil {
				t.Error(err)
			}
		}
		if len(h.opened) > 3 {
			t.Errorf("%d sockets", len(h.opened))
		}
	})
}
