package wstts_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/apitest"
	"parley/inference"
)

// Some clients give up after two seconds without a message, counted from the
// opening of the socket: while the engine is slow there is one each second.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := quick()
		engine.FirstAudio, engine.Every = 4500*time.Millisecond, 2500*time.Millisecond
		engine.Chunk = 500 * time.Millisecond
		s := newServer(t, apitest.InMemory, engine)
		began := time.Now()
		c := s.connect(t, "/ws/tts")
		c.ask("One sentence.")
		var list []message
		for last := began; len(list) == 0 || list[len(list)-1].Kind != "EOS"; {
			m, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			if d := time.Since(last); d > time.Second {
				t.Errorf("%v of silence before %+v", d, m)
			}
			last = time.Now()
			list = append(list, m)
			if m.TTFB != nil && (*m.TTFB != 4500 || m.Timing.Model != 4500) {
				t.Errorf("first audio after %v: %+v", *m.TTFB, m)
			}
			if n := count(list, "audio"); m.Kind == "timing" && m.Timing.Chunk != n {
				t.Errorf("after %d chunks: %+v", n, m)
			}
		}
		if d := time.Since(began); d != 7*time.Second {
			t.Errorf("it took %v", d)
		}
		if got := count(list[:slices.Index(kinds(list), "audio")], "timing"); got != 4 {
			t.Errorf("%d before the first audio: %v", got, kinds(list))
		}
		time.Sleep(10 * time.Second) // and then it is quiet
		c.say("{}")
		if m, _ := c.next(); m.Kind != "error" {
			t.Errorf("between jobs: %+v", m)
		}
	})
}

// A database that is slow to let a job start does not make clients give up.
func TestKeepAliveBeforeBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, apitest.InMemory, quick())
		s.books.slow = 3500 * time.Millisecond
		c := s.connect(t, "/ws?eos=json")
		c.ask("Hello.")
		for range 3 {
			began := time.Now()
			if m, err := c.next(); err != nil || m.Kind != "timing" || time.Since(began) != time.Second {
				t.Errorf("%+v %v after %v", m, err, time.Since(began))
			}
		}
		c.wantEOS()
	})
}

// Jobs run one after the other, in order, as they came; what comes when sixteen
// wait is refused in its turn.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := quick()
		engine.FirstAudio = 500 * time.Millisecond
		s := newServer(t, apitest.InMemory, engine)
		c := s.connect(t, "/ws/tts")
		c.ask("The first one.")
		synctest.Wait() // it runs
		for range 18 {
			c.ask("Another one.")
		}
		synctest.Wait()
		c.say("{}")
		for i := range 17 {
			list := c.answer()
			if last := list[len(list)-1]; last.Kind != "EOS" || list[0].Kind == "error" {
				t.Fatalf("job %d: %+v", i, last)
			}
			for _, m := range list {
				if want := 500 * float64(i); m.Kind == "timing" && (m.Timing.Queue < want-1 || m.Timing.Queue > want+1) {
					t.Errorf("job %d has waited %v ms", i, m.Timing.Queue)
				}
			}
			if engine.Busy() > 1 {
				t.Errorf("%d at once", engine.Busy())
			}
		}
		for range 3 { // two jobs and the request that makes no sense
			if _, m := c.wantError("tts.session_limit_reached"); !*m.Data.Retryable || m.Data.Detail == "" {
				t.Errorf("%+v", m)
			}
		}
		c.ask("There is room again.")
		c.wantEOS()
	})
}

// The place of a job is free before the client hears of its end.
func TestConcurrency(t *testing.T) {
	engine := quick()
	s := newServer(t, apitest.OverNetwork, engine)
	s.books.limit = 1
	for range 50 {
		c := s.connect(t, "/ws/tts")
		c.ask("Hello.")
		c.wantEOS()
		c.ask("Again.")
		c.wantEOS()
		c.Close()
	}
	slow := quick()
	slow.Limit = 3
	s = newServer(t, apitest.OverNetwork, slow)
	s.books.limit = 1
	a, b := s.connect(t, "/ws/tts"), s.connect(t, "/ws/tts")
	a.ask("This never ends.")
	for {
		if m, err := a.next(); err != nil || m.Kind == "audio" {
			break
		}
	}
	for range 2 {
		b.ask("Hello.")
		b.wantError("limit.concurrency")
	}
}

// A job that goes wrong in a way that nobody has thought of ends its socket, and
// takes no place for ever.
func TestPanic(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, panicking{})
	s.books.limit = 1
	for range 2 {
		c := s.connect(t, "/ws/tts")
		c.ask("Hello.")
		for _, err := c.next(); err == nil; _, err = c.next() {
		}
		s.Wait()
	}
	for _, j := range s.books.all() {
		if !j.ended || j.err == nil || j.used != 0 {
			t.Errorf("books: %+v", j)
		}
	}
	if n := len(s.books.all()); n != 2 || s.set.Open() != 0 {
		t.Errorf("%d jobs, %d open", n, s.set.Open())
	}
}

// panicking is an engine with a fault in it.
type panicking struct{ inference.TTS }

func (panicking) Speak(context.Context, inference.Speech) iter.Seq2[inference.Chunk, error] {
	panic("a fault")
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, apitest.InMemory, quick())
		c := s.connect(t, "/ws/tts")
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			time.Sleep(9 * time.Minute)
			c.ask("Hello.")
		}()
		began := time.Now()
		c.wantEOS()
		<-asked
		if n := len(s.books.all()); n != 1 {
			t.Errorf("%d jobs are charged", n)
		}
		c.wantClose(1000)
		if d := time.Since(began); d < 19*time.Minute || d > 19*time.Minute+time.Second {
			t.Errorf("closed after %v", d)
		}
	})
}

// A draining server ends sockets without a job at once, the others after it.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := quick()
		engine.FirstAudio = 30 * time.Second
		s := newServer(t, apitest.InMemory, engine)
		idle, busy, cut := s.connect(t, "/ws/tts"), s.connect(t, "/ws/tts"), s.connect(t, "/ws/tts")
		busy.ask("Hello.")
		time.Sleep(10 * time.Second)
		cut.ask("This takes too long.")
		synctest.Wait()
		drained := make(chan error)
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		go func() { drained <- s.set.Drain(ctx) }()
		idle.wantClose(1001)
		end := make(chan error, 1)
		go func() {
			for {
				if _, _, err := cut.ReadMessage(); err != nil {
					end <- err
					return
				}
			}
		}()
		busy.wantEOS()
		busy.wantClose(1001)
		if err := <-end; !websocket.IsCloseError(err, 1012) {
			t.Errorf("a job that takes too long ends with %v", err)
		}
		if err := <-drained; err != nil || engine.Busy() != 0 {
			t.Errorf("%v, %d busy", err, engine.Busy())
		}
		jobs := s.books.all()
		if len(jobs) != 2 || jobs[0].used != 6 || jobs[1].used != 0 || !jobs[1].ended {
			t.Errorf("books: %+v", jobs)
		}
	})
}

// Clients ping while they receive, and do not wait long for the answer.
func TestPingDuringSynthesis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := quick()
		engine.Sentence, engine.Every, engine.Chunk = time.Hour, 500*time.Millisecond, 500*time.Millisecond
		s := newServer(t, apitest.InMemory, engine)
		c := s.connect(t, "/ws/tts")
		pongs := make(chan time.Time, 1)
		c.SetPongHandler(func(string) error { pongs <- time.Now(); return nil })
		c.ask("A very long sentence.")
		for i := range 200 {
			if i%40 == 20 {
				began := time.Now()
				go c.WriteControl(websocket.PingMessage, nil, began.Add(time.Second))
				go func() {
					if d := (<-pongs).Sub(began); d > time.Second {
						t.Errorf("answered after %v", d)
					}
				}()
			}
			if _, err := c.next(); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
	})
}

// A thousand sockets that wait take little memory, and give everything back.
func TestThousandIdleSockets(t *testing.T) {
	const many = 1000
	// Bytes of server and client together; measured: 43,000 without the race detector.
	const most = 150_000
	s := newServer(t, apitest.OverNetwork, quick())
	s.connect(t, "/ws/tts").Close() // what is made once
	before, goroutines := heap(), runtime.NumGoroutine()
	list := make([]*client, many)
	for i := range list {
		list[i] = s.connect(t, "/ws/tts")
	}
	list[0].ask("Hello.") // the server is busy with them no more
	list[0].wantEOS()
	for s.set.Open() < many { // a client is connected a little before its server has noted it
		runtime.Gosched()
	}
	each := (heap() - before) / many
	t.Logf("%d bytes and %.1f goroutines a socket, both ends", each, float64(runtime.NumGoroutine()-goroutines)/many)
	if each > most {
		t.Errorf("%d bytes a socket", each)
	}
	for _, c := range list {
		if err := errors.Join(c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "")), c.UnderlyingConn().SetReadDeadline(time.Time{})); err != nil {
			t.Fatal(err)
		}
		c.wantClose(1000)
	}
	s.Wait()
	if n := s.set.Open(); n != 0 {
		t.Errorf("%d are open", n)
	}
	if n := len(s.books.all()); n != 1 {
		t.Errorf("%d were charged", n)
	}
	for range 1000 { // those of the HTTP server end after its handlers
		if runtime.NumGoroutine() <= goroutines+20 {
			return
		}
		runtime.Gosched()
		runtime.GC()
	}
	t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), goroutines)
}

// heap is memory in use, stacks included.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}
