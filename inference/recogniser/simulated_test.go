package recogniser_test

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/recogniser"
	"parley/inference/remote"
)

// plain is a vendor that says "partial TEXT", "final@MS TEXT", where MS is the end of its audio, and "answer TEXT", and is asked by
// "finish".
type plain struct{}

func (plain) Info() inference.Info {
	return inference.Info{Name: "plain", Languages: []string{"en"}, Latency: 600 * time.Millisecond}
}
func (plain) Path(inference.ASRConfig) string                   { return "/" }
func (plain) Pace() recogniser.Pace                             { return recogniser.Pace{Chunk: 40 * time.Millisecond} }
func (plain) Connect(inference.ASRConfig) recogniser.Connection { return wire{} }

// wire is one socket to it.
type wire struct{ recogniser.Plain }

func (wire) Finish() []byte                { return []byte("finish") }
func (wire) Idle() ([]byte, time.Duration) { return []byte("alive"), 4 * time.Second }
func (wire) End() []byte                   { return []byte("end") }
func (wire) Read(message []byte) ([]recogniser.Heard, error) {
	kind, text, _ := strings.Cut(string(message), " ")
	kind, until, _ := strings.Cut(kind, "@")
	ms, _ := strconv.Atoi(until)
	h := recogniser.Heard{Kind: kinds[kind], Text: text, End: time.Duration(ms) * time.Millisecond, Confidence: -1}
	return []recogniser.Heard{h}, nil
}

var kinds = map[string]recogniser.Kind{"partial": recogniser.Partial, "final": recogniser.Final, "answer": recogniser.Answer}

// atHand runs a test of an engine in simulated time, whose server serves each of its sockets by serve, until that returns.
func atHand(t *testing.T, serve func(n int, conn *websocket.Conn), run func(t *testing.T, e *recogniser.Engine)) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := loopbacktest.NewMemory(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var upgrader websocket.Upgrader
			conn, err := upgrader.Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer conn.Close()
			n++
			serve(n, conn)
		}))
		defer m.Close()
		client, err := remote.NewClient(remote.Config{Engine: "plain", BaseURL: "http://127.0.0.1", Dial: m.Dial})
		if err != nil {
			t.Fatal(err)
		}
		run(t, recogniser.New(client, plain{}))
	})
}

// tells sends a text; false: the socket has ended.
func tells(conn *websocket.Conn, text string) bool {
	return conn.WriteMessage(websocket.TextMessage, []byte(text)) == nil
}

func stream(t *testing.T, e *recogniser.Engine) inference.Recognition {
	t.Helper()
	r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnansweredWithPartial: words whose final text does not come count when it is due.
func TestUnansweredWithPartial(t *testing.T) {
	atHand(t, func(_ int, conn *websocket.Conn) {
		for {
			kind, _, err := conn.ReadMessage()
			if err != nil || kind == websocket.BinaryMessage && !tells(conn, "partial "+sentence) {
				return
			}
		}
	}, func(t *testing.T, e *recogniser.Engine) {
		r := stream(t, e)
		defer r.Close()
		for n := range 2 {
			r.Write(make([]int16, 8000))
			if x := <-r.Results(); x.Text != sentence || x.Final {
				t.Errorf("%+v", x)
			}
			begun := time.Now()
			r.Finish()
			for x := range r.Results() {
				if !x.Last {
					continue
				}
				if x.Text != sentence || x.Utterance != n+1 || time.Since(begun) != 600*time.Millisecond {
					t.Errorf("after %v: %+v", time.Since(begun), x)
				}
				break
			}
		}
	})
}

// TestKeptOpen: while no audio is sent the vendor hears of us, so that a long turn of the agent's costs no connection.
func TestKeptOpen(t *testing.T) {
	sockets, alive := 0, 0
	atHand(t, func(n int, conn *websocket.Conn) {
		sockets = n
		for {
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, data, err := conn.ReadMessage()
			switch {
			case err != nil:
				return
			case string(data) == "alive":
				alive++
			case string(data) == "finish" && !tells(conn, "answer "+sentence):
				return
			}
		}
	}, func(t *testing.T, e *recogniser.Engine) {
		r := stream(t, e)
		time.Sleep(61 * time.Second)
		if text, err := hear(t, r, voice()); text != sentence || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		r.Close()
		if sockets != 1 || alive != 15 {
			t.Errorf("%d sockets, %d signs of life", sockets, alive)
		}
	})
}

// TestEndIsRead: what the vendor says after it was asked for the end is read until it closes the socket; one that does not is left
// soon.
func TestEndIsRead(t *testing.T) {
	for _, closes := range []bool{true, false} {
		read := 0
		atHand(t, func(_ int, conn *websocket.Conn) {
			for {
				_, data, err := conn.ReadMessage()
				if err != nil {
					return
				}
				if string(data) == "end" {
					go func() {
						for range 50 {
							time.Sleep(10 * time.Millisecond)
							if !tells(conn, "answer late") {
								return
							}
							read++
						}
						if closes {
							conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
						}
					}()
				}
			}
		}, func(t *testing.T, e *recogniser.Engine) {
			r := stream(t, e)
			r.Write(make([]int16, 8000))
			begun := time.Now()
			r.Close()
			took := time.Since(begun)
			synctest.Wait()
			if read != 50 || closes && took != 500*time.Millisecond || took > 2*time.Second {
				t.Errorf("closes %v: %d messages were read in %v", closes, read, took)
			}
		})
	}
}

// TestReplayBeginsAfterTheFinal: after a reconnection the vendor hears all that has no final text, and nothing that has one.
func TestReplayBeginsAfterTheFinal(t *testing.T) {
	first := -1
	atHand(t, func(n int, conn *websocket.Conn) {
		for messages := 0; ; {
			kind, data, err := conn.ReadMessage()
			switch {
			case err != nil:
				return
			case string(data) == "finish" && !tells(conn, "answer three four"):
				return
			case kind == websocket.BinaryMessage:
				if messages++; n == 2 && first < 0 {
					first = int(binary.LittleEndian.Uint16(data))
				}
				if n == 1 && messages == 25 {
					tells(conn, "final@500 one two")
					return
				}
			}
		}
	}, func(t *testing.T, e *recogniser.Engine) {
		r := stream(t, e)
		defer r.Close()
		audio := make([]int16, 16000)
		for i := range audio {
			audio[i] = int16(i / 16) // ms
		}
		r.Write(audio)
		if x := <-r.Results(); x.Text != "one two" || !x.Final || x.Last {
			t.Errorf("%+v", x)
		}
		time.Sleep(time.Second)
		if text, err := hear(t, r, audio[:1600]); text != "three four" || err != nil {
			t.Errorf("then %q, %v", text, err)
		}
		if first != 500 {
			t.Errorf("it is sent again from %d ms on", first)
		}
	})
}

// TestPartialsDoNotGoBack: what is shown of an utterance does not become less because a socket has broken.
func TestPartialsDoNotGoBack(t *testing.T) {
	atHand(t, func(n int, conn *websocket.Conn) {
		for messages := 1; ; messages++ { // each a word
			kind, _, err := conn.ReadMessage()
			if err != nil || kind != websocket.BinaryMessage || !tells(conn, fmt.Sprintf("partial@%d %s", 40*messages, strings.Repeat("word ", messages))) || n == 1 && messages == 12 {
				return
			}
		}
	}, func(t *testing.T, e *recogniser.Engine) {
		r := stream(t, e)
		defer r.Close()
		r.Write(make([]int16, 12*640))
		time.AfterFunc(time.Second, func() { r.Write(make([]int16, 3*640)) })
		for shown := 0; shown < 15; {
			x := <-r.Results()
			words := len(strings.Fields(x.Text))
			if x.Err != nil || words < shown {
				t.Fatalf("%d words after %d: %+v", words, shown, x)
			}
			shown = words
		}
	})
}

// TestOpenTime: what is charged is the time of all sockets, beside that of the audio.
func TestOpenTime(t *testing.T) {
	atHand(t, func(n int, conn *websocket.Conn) {
		if n == 1 {
			conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // from the beginning
		}
		for {
			_, data, err := conn.ReadMessage()
			if err != nil || string(data) == "finish" && !tells(conn, "answer "+sentence) {
				return
			}
		}
	}, func(t *testing.T, e *recogniser.Engine) {
		r := stream(t, e)
		defer r.Close()
		time.Sleep(30 * time.Second)
		r.Write(make([]int16, 16000))
		r.Finish()
		for x := range r.Results() {
			if x.Err != nil || x.Last {
				if u := x.Usage; u == nil || u.Open != 30*time.Second || u.Audio != time.Second || u.Requests != 1 {
					t.Errorf("%+v, usage %+v", x, u)
				}
				break
			}
		}
	})
}

// TestPlaces: a stream above the limit of its key is not available, so that another engine hears the caller, until one ends.
func TestPlaces(t *testing.T) {
	atHand(t, func(_ int, conn *websocket.Conn) {
		for _, _, err := conn.ReadMessage(); err == nil; _, _, err = conn.ReadMessage() {
		}
	}, func(t *testing.T, e *recogniser.Engine) {
		e.Remote().Limit(1)
		first := stream(t, e)
		begun := time.Now()
		if _, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"}); inference.FaultOf(err) != inference.ErrUnavailable || time.Since(begun) != 300*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		first.Close()
		stream(t, e).Close()
	})
}
