package duplex_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference"
	"parley/inference/duplex"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media/isolate/isolatetest"
)

// vendor is one whose server says hello when it is ready and repeats what it is told.
type vendor struct{ lasts time.Duration }

func (v *vendor) Info() inference.Info {
	return inference.Info{Name: "vendor", Languages: []string{"en"}}
}
func (v *vendor) Voices() synthesiser.Voices { return synthesiser.Voices{"F1": "one"} }
func (v *vendor) Path() string               { return "/" }
func (v *vendor) Lasts() time.Duration       { return v.lasts }
func (v *vendor) Connect(l duplex.Line) duplex.Connection {
	return &connection{Line: l}
}

// connection reports what the server says as text.
type connection struct {
	duplex.Line
	ready  bool
	prompt string // that it began with
}

func (c *connection) Begin(config inference.RealtimeConfig, handle string) {
	c.prompt = config.Prompt + handle
}
func (c *connection) Handle() string                           { return "after " + c.prompt }
func (c *connection) Ready() bool                              { return c.ready }
func (c *connection) Audio(samples []int16)                    { c.Send(fmt.Sprintf("%d samples", len(samples))) }
func (c *connection) Commit()                                  { c.Send("commit") }
func (c *connection) Reply(instructions string)                { c.Send("reply " + instructions + " " + c.prompt) }
func (c *connection) Interrupt(item string)                    { c.Send("interrupt " + item) }
func (c *connection) Truncate(item string, _ time.Duration)    { c.Send("truncate " + item) }
func (c *connection) ToolResult(id, output string)             { c.Send("result " + id + output) }
func (c *connection) Update(prompt string, _ []inference.Tool) { c.Send("update " + prompt) }
func (c *connection) Due(time.Time) (time.Duration, error)     { return time.Hour, nil }
func (c *connection) Read(message []byte) error {
	c.ready = true
	c.Emit(inference.RealtimeEvent{Kind: inference.RealtimeText, Text: string(message)})
	return nil
}

// serve is an engine whose server says hello when it is let; nil: never.
func serve(t *testing.T, v *vendor, let <-chan struct{}) *duplex.Engine {
	t.Helper()
	var upgrader websocket.Upgrader
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		if let != nil {
			<-let
			conn.WriteMessage(websocket.TextMessage, []byte("hello"))
		}
		for {
			kind, data, err := conn.ReadMessage()
			if err != nil || conn.WriteMessage(kind, data) != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	client, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return duplex.New(client, v)
}

func open(t *testing.T, e *duplex.Engine) inference.Session {
	t.Helper()
	s, err := e.Open(t.Context(), inference.RealtimeConfig{Voice: "F1", Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// closed is a channel that lets servers go on.
func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// TestWaitsForTheVendor: audio and requests wait until the vendor is ready, and go out in order: a request after all audio
// before it, in messages of a second at most.
func TestWaitsForTheVendor(t *testing.T) {
	let := make(chan struct{})
	s := open(t, serve(t, &vendor{}, let))
	s.Update("Be quick.", nil) // before anything is said: the session begins with it
	for range 80 {
		s.Write(make([]int16, 320))
	}
	s.Commit()
	s.Reply("now")
	s.Update("Be brief.", nil)
	s.Interrupt("r1")
	s.Truncate("r1", time.Second)
	s.ToolResult("c1", "yes")
	s.Update("Be kind.", nil)
	close(let)
	want := []string{"hello", `"16000 samples"`, `"9600 samples"`, `"commit"`, `"reply now Be quick."`, `"update Be brief."`, `"interrupt r1"`, `"truncate r1"`, `"result c1yes"`, `"update Be kind."`}
	for _, w := range want {
		if e := <-s.Events(); e.Text != w {
			t.Fatalf("%+v, want %s", e, w)
		}
	}
}

// TestOldAudioGivesWay: of audio that the vendor does not take, the latest 15 s are kept.
func TestOldAudioGivesWay(t *testing.T) {
	let := make(chan struct{})
	s := open(t, serve(t, &vendor{}, let))
	for range 1000 {
		s.Write(make([]int16, 320))
	}
	s.Commit()
	close(let)
	<-s.Events()
	n := 0
	for e := <-s.Events(); e.Text != `"commit"`; e = <-s.Events() {
		var samples int
		fmt.Sscanf(e.Text, `"%d samples"`, &samples)
		n += samples
	}
	if n != 15*16000 {
		t.Errorf("%d samples", n)
	}
}

// TestTooManyRequests: those that the vendor does not take end the session.
func TestTooManyRequests(t *testing.T) {
	s := open(t, serve(t, &vendor{}, nil))
	for range 300 {
		s.Reply("")
	}
	if e := <-s.Events(); inference.FaultOf(e.Err) != inference.ErrFailed {
		t.Errorf("%+v", e)
	}
	if _, more := <-s.Events(); more {
		t.Error("an event after the fault")
	}
}

// TestSaysThatItExpires: at the age at which it has to be replaced.
func TestSaysThatItExpires(t *testing.T) {
	s := open(t, serve(t, &vendor{lasts: time.Millisecond}, nil))
	if e := <-s.Events(); e.Kind != inference.RealtimeExpires || e.Err != nil {
		t.Errorf("%+v", e)
	}
}

// TestGoesOn: a session that follows another one begins when that has ended, by the vendor's name for it.
func TestGoesOn(t *testing.T) {
	e := serve(t, &vendor{}, closed())
	old := open(t, e)
	old.Update("Be quick.", nil)
	old.Reply("first")
	for _, want := range []string{"hello", `"reply first Be quick."`} {
		if x := <-old.Events(); x.Text != want {
			t.Fatalf("%+v, want %s", x, want)
		}
	}
	next, err := e.Open(t.Context(), inference.RealtimeConfig{Prompt: "Be brief, ", Voice: "F1", Language: "en", After: old})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	old.Reply("still here")
	if x := <-old.Events(); x.Text != `"reply still here Be quick."` {
		t.Errorf("%+v: it ends before the next has something to say", x)
	}
	next.Reply("then")
	for _, want := range []string{"hello", `"reply then Be brief, after Be quick."`} {
		if x := <-next.Events(); x.Text != want {
			t.Errorf("%+v, want %s", x, want)
		}
	}
	select {
	case x, more := <-old.Events():
		if more {
			t.Errorf("the one before says %+v", x)
		}
	default:
		t.Error("both go on")
	}
}

// TestPlaces: a session above the limit of its key is not available, until another one ends.
func TestPlaces(t *testing.T) {
	e := serve(t, &vendor{}, closed())
	e.Remote().Limit(1)
	first := open(t, e)
	if _, err := e.Open(t.Context(), inference.RealtimeConfig{Voice: "F1", Language: "en"}); inference.FaultOf(err) != inference.ErrUnavailable {
		t.Errorf("above the limit: %v", err)
	}
	first.Close()
	open(t, e)
}

// TestPanicEndsItsSession: the session beside it goes on.
func TestPanicEndsItsSession(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		e := serve(t, &vendor{}, closed())
		other := open(t, e)
		<-other.Events()
		isolatetest.Inject(t, site.Name)
		broken := open(t, e)
		for x := range broken.Events() {
			if x.Err == nil && x.Text != "hello" {
				t.Errorf("an event: %+v", x)
			}
		}
		broken.Close()
		other.Reply("still here")
		if x := <-other.Events(); x.Text != `"reply still here "` {
			t.Errorf("%+v", x)
		}
	})
}
