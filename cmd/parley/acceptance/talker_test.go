package acceptance

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/media"
)

// Rates of the agent socket.
const (
	micRate   = media.Rate16k
	voiceRate = media.Rate44k
)

// frame is one thing the server sent: a message, or audio.
type frame struct {
	at    time.Time
	audio []int16

	Type       string          `json:"type"`
	Data       json.RawMessage `json:"data"`
	Role       string          `json:"role"`
	Generation int             `json:"generation"`
}

// text is the data of a message that holds a string.
func (f frame) text() string {
	var s string
	_ = json.Unmarshal(f.Data, &s) // other forms have no text
	return s
}

// code is the code of an error message.
func (f frame) code() string {
	var d struct{ Code string }
	_ = json.Unmarshal(f.Data, &d)
	return d.Code
}

func (f frame) status(s string) bool { return f.Type == "status" && f.text() == s }

// talker is a client of the agent socket: it keeps everything that comes, in
// order, and its microphone never stops.
type talker struct {
	t      *testing.T
	conn   *websocket.Conn
	speech script

	writing sync.Mutex // of the connection

	mu     sync.Mutex
	frames []frame
	bad    string        // what the server must never send
	next   int           // the first frame that await has not passed
	came   chan struct{} // capacity 1: there are more frames, or the end
	gone   chan struct{} // the server's side has ended
	fault  error         // how; set before gone is closed

	quit    chan struct{}
	hanging sync.Once
	micDone chan struct{}
}

func agentURL(s *server, agent string) string {
	return "ws://" + s.addrs["http"] + "/ws/agent?agent_id=" + agent
}

// connect opens an agent socket and configures it as a published client does: the
// key stands in the query, and voice and language are said even to an agent that
// has its own.
func connect(t *testing.T, s *server, key, agent string) *talker {
	t.Helper()
	c := attach(t, s, &net.Dialer{}, key, agent)
	c.micDone = make(chan struct{})
	go c.microphone()
	return c
}

// attach is connect without a microphone, over a connection of dialer's.
func attach(t *testing.T, s *server, dialer *net.Dialer, key, agent string) *talker {
	t.Helper()
	d := websocket.Dialer{HandshakeTimeout: patience, NetDialContext: dialer.DialContext}
	conn, _, err := d.Dial(agentURL(s, agent)+"&api_key="+key, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &talker{t: t, conn: conn, came: make(chan struct{}, 1), gone: make(chan struct{}), quit: make(chan struct{}), micDone: make(chan struct{})}
	close(c.micDone)
	go c.read()
	t.Cleanup(c.hangUp)
	c.send(`{"type":"voice","data":"F1"}`)
	c.send(`{"type":"language","data":"en"}`)
	c.send(`{"type":"visemes","data":false}`)
	c.send(`{"type":"prompt","data":""}`)
	c.send(`{"type":"rates","playback":44100,"input":16000}`)
	return c
}

func (c *talker) read() {
	defer close(c.gone)
	for {
		kind, p, err := c.conn.ReadMessage()
		if err != nil {
			c.fault = err
			return
		}
		f := frame{at: time.Now()}
		bad := ""
		if kind == websocket.BinaryMessage {
			if len(p)%2 != 0 || len(p) == 0 {
				bad = "audio of an odd or no length"
			}
			for ; len(p) >= 2; p = p[2:] {
				f.audio = append(f.audio, int16(binary.LittleEndian.Uint16(p)))
			}
		} else if err := json.Unmarshal(p, &f); err != nil || f.Type == "" {
			bad = "no message: " + string(p)
		}
		c.mu.Lock()
		c.frames = append(c.frames, f)
		if bad != "" {
			c.bad = bad
		}
		c.mu.Unlock()
		select {
		case c.came <- struct{}{}:
		default:
		}
	}
}

// microphone sends 20 ms frames in real time until the talker hangs up, some
// frames ahead so that a busy machine does not tear a word.
func (c *talker) microphone() {
	defer close(c.micDone)
	const ahead = 400 * time.Millisecond
	var samples [320]int16
	var b [640]byte
	for at := time.Now(); ; at = at.Add(media.FrameDuration) {
		select {
		case <-c.quit:
			return
		case <-c.gone:
			return
		case <-time.After(time.Until(at.Add(-ahead))):
		}
		c.speech.next(samples[:])
		for i, v := range samples {
			binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
		}
		c.write(websocket.BinaryMessage, b[:])
	}
}

// write sends one frame. Failing shows at the reader.
func (c *talker) write(kind int, p []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.WriteMessage(kind, p)
}

func (c *talker) send(text string) { c.write(websocket.TextMessage, []byte(text)) }

// say speaks a clip and waits until it is said.
func (c *talker) say(clip []int16) {
	c.t.Helper()
	c.speech.add(clip)
	eventually(c.t, "the microphone sends", c.speech.done)
}

// await passes the frames up to the first that is wanted, and returns it.
func (c *talker) await(what string, want func(frame) bool) frame {
	c.t.Helper()
	f, err := c.seek(want)
	if err != nil {
		c.t.Fatalf("%v while waiting: %s\n%s", err, what, c.story())
	}
	return f
}

// seek is await for other goroutines than the test's own.
func (c *talker) seek(want func(frame) bool) (frame, error) {
	limit := time.After(patience)
	for {
		c.mu.Lock()
		for c.next < len(c.frames) {
			f := c.frames[c.next]
			c.next++
			if want(f) {
				c.mu.Unlock()
				return f, nil
			}
		}
		c.mu.Unlock()
		select {
		case <-c.came:
		case <-c.gone:
			c.mu.Lock()
			over := c.next == len(c.frames)
			c.mu.Unlock()
			if over {
				return frame{}, fmt.Errorf("the socket ended (%w)", c.fault)
			}
		case <-limit:
			return frame{}, errors.New("gave up")
		}
	}
}

func (c *talker) awaitStatus(status string) frame {
	c.t.Helper()
	return c.await(status, func(f frame) bool { return f.status(status) })
}

// awaitLine waits for the next finished line of role.
func (c *talker) awaitLine(role string) string {
	c.t.Helper()
	return c.await("a line of the "+role, func(f frame) bool { return f.Type == "transcript" && f.Role == role }).text()
}

// asksAndHears says the question, which the transcript has as asked, and waits for the answer, or its beginning.
func (c *talker) asksAndHears(asked, answered string) {
	c.t.Helper()
	c.say(question(c.t, micRate))
	if line := c.awaitLine("user"); line != asked {
		c.t.Errorf("the caller said %q", line)
	}
	if line := c.awaitLine("agent"); !strings.HasPrefix(answered, strings.TrimSpace(line)) {
		c.t.Errorf("the agent said %q", line)
	}
}

// awaitWords waits for a finished line of the caller that holds words, past others.
func (c *talker) awaitWords(words ...string) {
	c.t.Helper()
	c.await("a line with "+strings.Join(words, " "), func(f frame) bool {
		if f.Type != "transcript" || f.Role != "user" {
			return false
		}
		for _, w := range words {
			if !has(f.text(), w) {
				return false
			}
		}
		return true
	})
}

// awaitClose waits until the server has closed and returns its close code.
func (c *talker) awaitClose() (code int, why string) {
	c.t.Helper()
	select {
	case <-c.gone:
	case <-time.After(patience):
		c.t.Fatalf("the server does not close\n%s", c.story())
	}
	var e *websocket.CloseError
	if errors.As(c.fault, &e) {
		return e.Code, e.Text
	}
	return 0, c.fault.Error()
}

// since are the frames from a moment on.
func (c *talker) since(at time.Time) []frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.frames {
		if !f.at.Before(at) {
			return c.frames[i:len(c.frames):len(c.frames)]
		}
	}
	return nil
}

// heard is the audio among frames.
func heard(frames []frame) (samples []int16) {
	for _, f := range frames {
		samples = append(samples, f.audio...)
	}
	return samples
}

// story is what came, for a person.
func (c *talker) story() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := ""
	audio := 0
	for _, f := range c.frames {
		if f.audio != nil {
			audio++
			continue
		}
		if audio > 0 {
			s += "    " + (time.Duration(audio) * media.FrameDuration).String() + " of audio\n"
			audio = 0
		}
		s += f.at.Format("    05.000 ") + f.Type + " " + f.Role + " " + string(f.Data) + "\n"
	}
	return s
}

// hangUp says goodbye, waits until the server has too, and checks what came.
func (c *talker) hangUp() {
	c.hanging.Do(func() {
		close(c.quit)
		<-c.micDone
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		_ = c.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) // it may be gone
		select {
		case <-c.gone:
		case <-time.After(patience):
			c.t.Error("the server does not answer a close")
		}
		c.conn.Close()
		if c.bad != "" {
			c.t.Errorf("the server sent %s", c.bad)
		}
	})
}
