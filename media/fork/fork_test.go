package fork_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/media"
	"parley/media/fork"
	"parley/media/g711"
	"parley/media/monitor"
)

// message is one of the receiver's, strict in the names and the types of its members.
type message struct {
	Event          string `json:"event"`
	Protocol       string `json:"protocol"`
	Version        string `json:"version"`
	SequenceNumber string `json:"sequenceNumber"`
	StreamSID      string `json:"streamSid"`
	Start          *struct {
		StreamSID        string            `json:"streamSid"`
		AccountSID       string            `json:"accountSid"`
		CallSID          string            `json:"callSid"`
		Tracks           []string          `json:"tracks"`
		CustomParameters map[string]string `json:"customParameters"`
		MediaFormat      struct {
			Encoding   string `json:"encoding"`
			SampleRate int    `json:"sampleRate"`
			Channels   int    `json:"channels"`
		} `json:"mediaFormat"`
	} `json:"start"`
	Media *struct {
		Track     string `json:"track"`
		Chunk     string `json:"chunk"`
		Timestamp string `json:"timestamp"`
		Payload   []byte `json:"payload"`
	} `json:"media"`
	Stop *struct {
		AccountSID string `json:"accountSid"`
		CallSID    string `json:"callSid"`
	} `json:"stop"`
}

// receiver is a server that takes streams as the one that the messages are named after describes them.
type receiver struct {
	*testing.T
	conn     *websocket.Conn      // to it
	messages chan message         // closed when its socket is
	closed   chan error           // why that was
	accepted chan *websocket.Conn // its own side
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{T: t, messages: make(chan message, 1000), closed: make(chan error, 1), accepted: make(chan *websocket.Conn, 1)}
	server := httptest.NewServer(http.HandlerFunc(r.accept))
	t.Cleanup(server.Close)
	var err error
	if r.conn, _, err = websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.conn.Close() })
	return r
}

func (r *receiver) accept(w http.ResponseWriter, req *http.Request) {
	conn, err := (&websocket.Upgrader{}).Upgrade(w, req, nil)
	if err != nil {
		r.Error(err)
		return
	}
	defer conn.Close()
	defer close(r.messages)
	r.accepted <- conn
	for {
		kind, b, err := conn.ReadMessage()
		if err != nil {
			r.closed <- err
			return
		}
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.DisallowUnknownFields()
		var m message
		if err := d.Decode(&m); err != nil || kind != websocket.TextMessage {
			r.Errorf("a message of kind %d: %s: %v", kind, b, err)
		}
		r.messages <- m
	}
}

// talk is a call in which the caller says a tone of 400 Hz and hears one of 1,000 Hz, frames long.
func talk(m *monitor.Monitor, f media.Format, frames int) {
	for n := range frames {
		at := media.Time(n) * media.FrameTime
		m.Spoke(tone(f.Out, 1000, n), time.Now(), 0)
		heard := tone(f.In, 400, n)
		heard.At = at
		m.Heard(heard, time.Now())
	}
}

func tone(r media.Rate, hz float64, n int) media.Frame {
	f := media.Frame{Samples: make([]int16, r.FrameSamples()), Rate: r}
	for i := range f.Samples {
		f.Samples[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(n*len(f.Samples)+i)/float64(r)))
	}
	return f
}

// crossings counts how often a sound crosses zero upwards: its frequency, per second.
func crossings(samples []int16) (n int) {
	for i := 1; i < len(samples); i++ {
		if samples[i-1] < 0 && samples[i] >= 0 {
			n++
		}
	}
	return n
}

var telephone = media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}

func begun(t *testing.T, f media.Format) (*monitor.Monitor, *monitor.Listener) {
	m := monitor.New(nil)
	m.Begin(f)
	l, err := m.Join()
	if err != nil {
		t.Fatal(err)
	}
	return m, l
}

// TestRun: the receiver gets each track in the messages it knows, from connected to stop, numbered, and a normal end.
func TestRun(t *testing.T) {
	wide := media.Format{In: media.Rate16k, Out: media.Rate16k, Continuous: true}
	for name, tt := range map[string]struct {
		format media.Format
		tracks []fork.Track
		want   []string
	}{
		"both":     {telephone, nil, []string{"inbound", "outbound"}},
		"wideband": {wide, nil, []string{"inbound", "outbound"}},
		"inbound":  {telephone, []fork.Track{fork.Inbound}, []string{"inbound"}},
		"outbound": {telephone, []fork.Track{fork.Outbound}, []string{"outbound"}},
	} {
		t.Run(name, func(t *testing.T) {
			const frames = 50
			r := newReceiver(t)
			m, l := begun(t, tt.format)
			talk(m, tt.format, frames)
			m.Close()
			start := fork.Start{Stream: "lis_1", Account: "acc_1", Call: "ses_1", Tracks: tt.tracks, Parameters: map[string]string{"team": "sales \"north\""}}
			if err := fork.Run(t.Context(), r.conn, l, start); err != nil {
				t.Fatal(err)
			}
			if m := <-r.messages; m.Event != "connected" || m.Protocol != "Call" || m.Version != "1.0.0" {
				t.Errorf("first: %+v", m)
			}
			s := <-r.messages
			if s.Event != "start" || s.SequenceNumber != "1" || s.StreamSID != "lis_1" || s.Start == nil || s.Start.StreamSID != "lis_1" || s.Start.AccountSID != "acc_1" ||
				s.Start.CallSID != "ses_1" || !reflect.DeepEqual(s.Start.Tracks, tt.want) || !reflect.DeepEqual(s.Start.CustomParameters, start.Parameters) ||
				s.Start.MediaFormat.Encoding != "audio/x-mulaw" || s.Start.MediaFormat.SampleRate != 8000 || s.Start.MediaFormat.Channels != 1 {
				t.Errorf("second: %+v %+v", s, s.Start)
			}
			r.hears(frames, tt.want)
			if err := <-r.closed; !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
				t.Errorf("the socket ended with %v", err)
			}
		})
	}
}

// hears takes the audio of a whole stream and its end.
func (r *receiver) hears(frames int, tracks []string) {
	r.Helper()
	audio, chunks := map[string][]int16{}, map[string]int{}
	for sequence := 2; ; sequence++ {
		m := <-r.messages
		if m.SequenceNumber != strconv.Itoa(sequence) || m.StreamSID != "lis_1" {
			r.Fatalf("message %d: %+v", sequence, m)
		}
		if m.Event == "stop" {
			if m.Stop == nil || m.Stop.AccountSID != "acc_1" || m.Stop.CallSID != "ses_1" {
				r.Errorf("last: %+v", m.Stop)
			}
			break
		}
		chunk := chunks[m.Media.Track] + 1
		if m.Event != "media" || m.Media.Chunk != strconv.Itoa(chunk) || m.Media.Timestamp != strconv.Itoa(20*(chunk-1)) || len(m.Media.Payload) != 160 {
			r.Fatalf("message %d: %+v", sequence, m.Media)
		}
		var pcm [160]int16
		g711.PCMU.Decode(pcm[:], m.Media.Payload)
		chunks[m.Media.Track], audio[m.Media.Track] = chunk, append(audio[m.Media.Track], pcm[:]...)
	}
	if len(audio) != len(tracks) {
		r.Errorf("%d tracks", len(audio))
	}
	for _, name := range tracks {
		want := map[string]int{"inbound": 400, "outbound": 1000}[name]
		if got := crossings(audio[name]); chunks[name] != frames || got < want-want/50 || got > want+want/50 {
			r.Errorf("%s: %d messages, a tone of %d Hz; want %d, %d Hz", name, chunks[name], got, frames, want)
		}
	}
}

// TestStopped: a stream that is to end says so to its receiver, and the call goes on.
func TestStopped(t *testing.T) {
	r := newReceiver(t)
	m, l := begun(t, telephone)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	over := make(chan error)
	go func() { over <- fork.Run(ctx, r.conn, l, fork.Start{Stream: "lis_1"}) }()
	talk(m, telephone, 1)
	for got := range r.messages {
		if got.Event == "media" {
			stop()
		}
		if got.Event == "stop" {
			break
		}
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
	if other, err := m.Join(); err != nil {
		t.Errorf("the call is over, too: %v", err)
	} else {
		other.Leave()
	}
}

// TestReceiverGone: a receiver that closes its socket, or breaks it, ends the stream alone.
func TestReceiverGone(t *testing.T) {
	for name, leave := range map[string]func(*websocket.Conn) error{
		"closes": func(c *websocket.Conn) error {
			return c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		},
		"breaks": func(c *websocket.Conn) error { return c.NetConn().Close() },
		"floods": func(c *websocket.Conn) error { return c.WriteMessage(websocket.TextMessage, make([]byte, 5<<10)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			_, l := begun(t, telephone)
			over := make(chan error)
			go func() { over <- fork.Run(t.Context(), r.conn, l, fork.Start{Stream: "lis_1"}) }()
			if err := leave(<-r.accepted); err != nil {
				t.Fatal(err)
			}
			if err := <-over; !errors.Is(err, fork.ErrGone) {
				t.Errorf("the stream ended with %v", err)
			}
		})
	}
}

// TestPayload: what is sent is what the standard alphabet of base64 says, with padding.
func TestPayload(t *testing.T) {
	r := newReceiver(t)
	m, l := begun(t, telephone)
	talk(m, telephone, 1)
	m.Close()
	if err := fork.Run(t.Context(), r.conn, l, fork.Start{Stream: "lis_1", Tracks: []fork.Track{fork.Outbound}}); err != nil {
		t.Fatal(err)
	}
	var want [160]byte
	g711.PCMU.Encode(want[:], tone(media.Rate8k, 1000, 0).Samples)
	for got := range r.messages {
		if got.Media != nil && base64.StdEncoding.EncodeToString(got.Media.Payload) != base64.StdEncoding.EncodeToString(want[:]) {
			t.Errorf("the payload is not the frame")
		}
	}
}
