package mediastreamtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/media"
	"parley/media/g711"
)

// lag is what lies between the carrier's socket and the caller's ear.
const lag = 40 * time.Millisecond

// Call is the socket of a call: a mediatest.FarEnd.
type Call struct {
	carrier *Carrier
	conn    *websocket.Conn
	over    chan struct{} // closed when nothing is read any more

	mu     sync.Mutex
	queue  []int16 // not yet given to Receive
	silent time.Time
	marks  []mark
	heard  int // samples that came in all
	clears int
	code   int
}

// mark is one that was not answered.
type mark struct {
	answer string
	due    *time.Timer
}

func newCall(c *Carrier, conn *websocket.Conn) *Call {
	call := &Call{carrier: c, conn: conn, over: make(chan struct{})}
	go call.read()
	return call
}

// Rate is that of the audio.
func (c *Call) Rate() media.Rate {
	if c.carrier.Name == "vonage" {
		return media.Rate16k
	}
	return media.Rate8k
}

// Close takes the connection down without a word.
func (c *Call) Close() {
	c.conn.Close()
	<-c.over
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.marks {
		m.due.Stop()
	}
}

// Closed waits until the server has closed the socket, and is the code.
func (c *Call) Closed() int {
	<-c.over
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code
}

// Clears is how often what was not played was dropped.
func (c *Call) Clears() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clears
}

func (c *Call) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sayLocked(text)
}

// sayLocked sends a message; one that cannot be sent comes too late.
func (c *Call) sayLocked(text string) { _ = c.conn.WriteMessage(websocket.TextMessage, []byte(text)) }

// Say sends a message as it stands.
func (c *Call) Say(text string) { c.say(text) }

// Send implements mediatest.FarEnd.
func (c *Call) Send(samples []int16) {
	codec, codes := g711.PCMU, make([]byte, len(samples))
	if c.carrier.Name == "vonage" {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.conn.WriteMessage(websocket.BinaryMessage, media.AppendPCM(nil, samples))
		return
	}
	if c.carrier.Encoding == "PCMA" {
		codec = g711.PCMA
	}
	codec.Encode(codes, samples)
	payload := base64.StdEncoding.EncodeToString(codes)
	if c.carrier.Name == "twilio" {
		c.say(fmt.Sprintf(`{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"1","timestamp":"5","payload":%q},"streamSid":%q}`, payload, stream))
		return
	}
	c.say(fmt.Sprintf(`{"event":"media","sequence_number":"4","stream_id":%q,"media":{"track":"inbound","chunk":"2","timestamp":"5","payload":%q}}`, stream, payload))
}

// Digit implements mediatest.FarEnd.
func (c *Call) Digit(d byte) bool {
	switch c.carrier.Name {
	case "twilio":
		c.say(fmt.Sprintf(`{"event":"dtmf","streamSid":%q,"sequenceNumber":"5","dtmf":{"track":"inbound_track","digit":"%c"}}`, stream, d))
	case "telnyx":
		c.say(fmt.Sprintf(`{"event":"dtmf","stream_id":%q,"occurred_at":"2026-01-01T00:00:00Z","sequence_number":"5","dtmf":{"digit":"%c"}}`, stream, d))
	default:
		c.say(fmt.Sprintf(`{"event":"websocket:dtmf","digit":"%c","duration":260}`, d))
	}
	return true
}

// Hangup implements mediatest.FarEnd.
func (c *Call) Hangup() bool {
	switch c.carrier.Name {
	case "twilio":
		c.say(fmt.Sprintf(`{"event":"stop","sequenceNumber":"9","streamSid":%q,"stop":{"accountSid":"AC0","callSid":"CA0"}}`, stream))
	case "telnyx":
		c.say(fmt.Sprintf(`{"event":"stop","sequence_number":"9","stop":{"user_id":"3e6f995f","call_control_id":"v3:0"},"stream_id":%q}`, stream))
	default:
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	}
	return true
}

// playedLocked is how much of the queue was played by now.
func (c *Call) playedLocked(now time.Time) int {
	left := media.FromDuration(max(0, c.silent.Sub(now))).Samples(c.Rate())
	return max(0, len(c.queue)-left)
}

// Receive implements mediatest.FarEnd.
func (c *Call) Receive() []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.playedLocked(time.Now())
	played := c.queue[:n:n]
	c.queue = c.queue[n:]
	return played
}

// read takes what the server sends.
func (c *Call) read() {
	defer close(c.over)
	for {
		kind, b, err := c.conn.ReadMessage()
		c.mu.Lock()
		if err != nil {
			if e, ok := err.(*websocket.CloseError); ok {
				c.code = e.Code
			}
			c.mu.Unlock()
			return
		}
		switch {
		case kind == websocket.BinaryMessage && c.carrier.Name == "vonage" && len(b) == 640:
			c.playLocked(media.AppendSamples(nil, b))
		case kind == websocket.BinaryMessage:
			c.carrier.t.Errorf("%s was sent %d bytes of audio", c.carrier.Name, len(b))
		default:
			c.takeLocked(b)
		}
		c.mu.Unlock()
	}
}

func (c *Call) playLocked(samples []int16) {
	if starts := time.Now().Add(lag); c.silent.Before(starts) {
		c.silent = starts
	}
	c.silent = c.silent.Add(c.Rate().Duration(len(samples)).Duration())
	c.queue = append(c.queue, samples...)
	c.heard += len(samples)
}

// takeLocked takes a text message.
func (c *Call) takeLocked(b []byte) {
	var m struct {
		Event, Action string
		StreamSid     string
		StreamID      string `json:"stream_id"`
		Media         *struct{ Payload string }
		Mark          *struct{ Name string }
		Payload       json.RawMessage
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	err := d.Decode(&m)
	id := m.StreamSid + m.StreamID
	switch vonage := c.carrier.Name == "vonage"; {
	case err != nil, vonage == (m.Action == ""), !vonage && id != stream, c.carrier.Name == "twilio" && m.StreamSid == "":
		c.carrier.t.Errorf("%s does not understand %s", c.carrier.Name, b)
	case m.Event == "media" && m.Media != nil:
		codes, err := base64.StdEncoding.DecodeString(m.Media.Payload)
		if err != nil || len(codes) < 160 { // Telnyx takes 20 ms and more
			c.carrier.t.Errorf("%s cannot play %s", c.carrier.Name, b)
		}
		samples := make([]int16, len(codes))
		g711.PCMU.Decode(samples, codes)
		c.playLocked(samples)
	case m.Event == "mark" && m.Mark != nil && m.Mark.Name != "":
		answer := fmt.Sprintf(`{"event":"mark","sequenceNumber":"4","streamSid":%q,"mark":{"name":%q}}`, id, m.Mark.Name)
		c.markLocked(strings.Replace(strings.Replace(answer, "streamSid", c.streamName(), 1), "sequenceNumber", "sequence_number", 1))
	case m.Action == "notify" && m.Payload != nil:
		c.markLocked(fmt.Sprintf(`{"event":"websocket:notify","payload":%s}`, m.Payload))
	case m.Event == "clear", m.Action == "clear":
		c.clearLocked()
	default:
		c.carrier.t.Errorf("%s does not understand %s", c.carrier.Name, b)
	}
}

func (c *Call) streamName() string {
	if c.carrier.Name == "twilio" {
		return "streamSid"
	}
	return "stream_id"
}

// markLocked answers when all that came before is played.
func (c *Call) markLocked(answer string) {
	c.marks = append(c.marks, mark{answer, time.AfterFunc(time.Until(c.silent), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.marks = c.marks[min(1, len(c.marks)):]
		c.sayLocked(answer)
	})})
}

// clearLocked drops what was not played. Twilio answers marks in it all the same.
func (c *Call) clearLocked() {
	c.clears++
	now := time.Now()
	c.queue = c.queue[:c.playedLocked(now)]
	c.silent = now
	for _, m := range c.marks {
		if m.due.Stop() && c.carrier.Name == "twilio" {
			c.sayLocked(m.answer)
		}
	}
	c.marks = nil
	if c.carrier.Name == "vonage" {
		c.sayLocked(`{"event":"websocket:cleared"}`)
	}
}
