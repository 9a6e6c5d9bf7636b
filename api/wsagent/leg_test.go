package wsagent_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/api/apitest"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/api/wsagent/client"
	"parley/media"
	"parley/media/mediatest"
)

// lent is the leg of a conversation that the test conducts itself.
type lent struct {
	*wsagent.Leg
	over chan struct{}
}

// Run ends the conversation with the leg.
func (l *lent) Run(ctx context.Context) error {
	defer close(l.over)
	return l.Leg.Run(ctx)
}

// Flush tells the client to drop what it has not played, as a conductor does.
func (l *lent) Flush(now time.Time) media.Time {
	d := l.Leg.Flush(now)
	l.Status("interrupted", 0)
	return d
}

// lend makes a conversation lend its leg until that has run.
func lend(legs chan *lent) func(context.Context, talk.Change, *wsagent.Leg) {
	return func(_ context.Context, _ talk.Change, leg *wsagent.Leg) {
		l := &lent{leg, make(chan struct{})}
		legs <- l
		<-l.over
	}
}

// playerLag is what lies between a browser's socket and its loudspeaker.
const playerLag = 60 * time.Millisecond

// farClient is a client as the far end of a leg: it plays what comes, one frame
// after another.
type farClient struct {
	*client.Client
	hangUp context.CancelFunc

	mu     sync.Mutex
	queue  []int16 // not yet given to Receive
	silent time.Time
}

func (f *farClient) take(e client.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case e.Kind == client.Audio:
		if starts := e.At.Add(playerLag); f.silent.Before(starts) {
			f.silent = starts
		}
		f.silent = f.silent.Add(media.FrameDuration)
		f.queue = append(f.queue, e.Samples...)
	case e.Text == "interrupted":
		f.queue = f.queue[:f.playedLocked(e.At)]
		f.silent = e.At
	}
}

// playedLocked is how much of the queue was played by now.
func (f *farClient) playedLocked(now time.Time) int {
	left := media.FromDuration(max(0, f.silent.Sub(now))).Samples(client.RateOut)
	return max(0, len(f.queue)-left)
}

func (f *farClient) Receive() []int16 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.playedLocked(time.Now())
	played := f.queue[:n:n]
	f.queue = f.queue[n:]
	return played
}

func (f *farClient) Send(samples []int16) { _ = f.Client.Send(samples) }

func (f *farClient) Digit(byte) bool { return false }

func (f *farClient) Hangup() bool {
	f.hangUp()
	return true
}

// TestLegConforms: the suite of all legs, against our own client.
func TestLegConforms(t *testing.T) {
	mediatest.TestLegSimulated(t, func(t *testing.T) mediatest.LegPair {
		legs := make(chan *lent, 1)
		s := newServer(t, apitest.InMemory, &agents{converse: lend(legs)}, nil)
		ctx, hangUp := context.WithCancel(context.Background())
		far := &farClient{hangUp: hangUp}
		c, err := client.Dial(ctx, s.url(""), goodKey, "", client.Options{OnEvent: far.take, Dialer: s.Dialer})
		if err != nil {
			t.Fatal(err)
		}
		far.Client = c
		var wg sync.WaitGroup
		wg.Go(func() { c.Run(ctx) })
		t.Cleanup(func() {
			hangUp()
			wg.Wait()
		})
		return mediatest.LegPair{Leg: <-legs, Far: far}
	})
}

// conducted gives a test the leg of a connected peer and runs the leg.
func conducted(t *testing.T, where apitest.Place) (*server, *peer, *lent, func(error) error) {
	t.Helper()
	legs := make(chan *lent, 1)
	s := newServer(t, where, &agents{converse: lend(legs)}, nil)
	p := s.connect(t)
	p.want("server_rates")
	p.say(`{"type":"visemes","data":true}`) // the gap is shorter than the wait for nothing
	leg := <-legs
	ctx, stop := context.WithCancelCause(context.Background())
	result := make(chan error, 1)
	go func() { result <- leg.Run(ctx) }()
	end := func(cause error) error {
		t.Helper()
		if cause != nil {
			stop(cause)
		}
		select {
		case err := <-result:
			result <- err
			return err
		case <-time.After(10 * time.Second):
			t.Fatal("Run does not return")
			return nil
		}
	}
	t.Cleanup(func() {
		p.Close()
		end(ended(media.APIHangup, ""))
	})
	return s, p, leg, end
}

// pcm writes samples down in the wire's byte order.
func pcm(samples []int16) []byte {
	b := make([]byte, 0, 2*len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func samplesOf(b []byte) []int16 {
	samples := make([]int16, len(b)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return samples
}

// hear reads for d of simulated time and returns what came.
func hear(leg media.Leg, d time.Duration) (heard []int16) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Until(leg.Next()))
		synctest.Wait()
		now := time.Now()
		for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
			heard = append(heard, f.Samples...)
		}
		leg.Due(now)
	}
	return heard
}

// TestAnyChunks: audio in messages of any size, odd ones too, is heard as it was
// said.
func TestAnyChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, leg, _ := conducted(t, apitest.InMemory)
		go p.drain()
		said := make([]int16, 3*16000)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range said {
			said[i] = int16(rng.IntN(1 << 16))
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			start, sent := time.Now(), 0
			for b := pcm(said); len(b) > 0; {
				n := min(len(b), 1+rng.IntN(4096))
				sent += n
				time.Sleep(time.Until(start.Add(time.Duration(sent) * time.Second / 32000)))
				p.sound(b[:n])
				b = b[n:]
			}
		}()
		heard := hear(leg, 3500*time.Millisecond)
		<-done
		if len(heard) < len(said) {
			t.Fatalf("heard %d samples of %d", len(heard), len(said))
		}
		for i, v := range said {
			if heard[i] != v {
				t.Fatalf("sample %d is %d, want %d", i, heard[i], v)
			}
		}
	})
}

// TestStandstill: a network that stands still for a second and then delivers all
// at once costs neither a word nor time ever after.
func TestStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, leg, _ := conducted(t, apitest.InMemory)
		go p.drain()
		speak := func(n int) {
			for i := range n {
				p.sound(pcm(mediatest.Tone(500, wsagent.RateIn, 320, 0.5))) // 10 whole periods
				if i < n-1 {
					time.Sleep(20 * time.Millisecond)
				}
			}
		}
		go speak(50)
		hear(leg, time.Second)
		quiet := hear(leg, time.Second)
		if mediatest.Level(quiet[len(quiet)/2:]) > -90 || len(quiet) < 12800 {
			t.Errorf("%d samples of %.0f dBFS while nothing came", len(quiet), mediatest.Level(quiet))
		}
		for range 50 {
			speak(1)
		}
		burst := hear(leg, 25*time.Millisecond)
		if len(burst) < 16000 {
			t.Errorf("heard %d samples of the burst at once, want all 16000", len(burst))
		}
		go speak(100)
		heard := hear(leg, 2*time.Second)
		if len(heard) < 31*1000 || len(heard) > 33*1000 || mediatest.SNR(heard[1600:30000], wsagent.RateIn, 500) < 60 {
			t.Errorf("heard %d samples after it, SNR %.0f dB", len(heard), mediatest.SNR(heard[1600:30000], wsagent.RateIn, 500))
		}
		time.Sleep(20 * time.Millisecond)
		if late := hear(leg, 1500*time.Millisecond); len(late) < 12800 {
			t.Errorf("%d samples of silence after a mute, want it to be filled", len(late))
		}
	})
}

// TestDoubledMicrophone: a client that sends everything twice is soon heard as if
// it did not, and never faster than real time for long.
func TestDoubledMicrophone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, leg, _ := conducted(t, apitest.InMemory)
		go p.drain()
		go func() {
			for range 500 {
				b := pcm(mediatest.Tone(500, wsagent.RateIn, 320, 0.5))
				p.sound(b)
				p.sound(b)
				time.Sleep(20 * time.Millisecond)
			}
		}()
		heard := hear(leg, 10*time.Second)
		most := (10 + 2.1) * 16000
		if len(heard) > int(most) {
			t.Errorf("heard %d samples in 10 s, want %.0f at most", len(heard), most)
		}
		late := heard[len(heard)-5*16000:]
		if snr := mediatest.SNR(late, wsagent.RateIn, 500); snr < 60 {
			t.Errorf("SNR %.0f dB in the end", snr)
		}
	})
}

// frame is 20 ms in which every sample is v.
func frame(v int16) media.Frame {
	f := media.Frame{Samples: make([]int16, wsagent.RateOut.FrameSamples()), Rate: wsagent.RateOut}
	for i := range f.Samples {
		f.Samples[i] = v
	}
	return f
}

// TestNothingStale: after the message that a reply was interrupted not one sample
// of it follows, whatever was queued or on its way.
func TestNothingStale(t *testing.T) {
	_, p, leg, end := conducted(t, apitest.OverNetwork)
	const replies = 200
	seen := make(chan bool, replies) // by the client: two replies may be on their way
	seen <- true
	go func() {
		rng := rand.New(rand.NewPCG(3, 4))
		for g := 1; g <= replies; g++ {
			<-seen
			leg.Status("thinking", g)
			leg.Status("speaking", g)
			f := frame(int16(g))
			for range 1 + rng.IntN(20) {
				leg.Leg.Write(f)
			}
			time.Sleep(time.Duration(rng.IntN(200)) * time.Microsecond)
			leg.Flush(time.Now())
			leg.Transcript("agent", "cut")
			leg.Status("listening", 0)
		}
		end(ended(media.AgentHangup, ""))
	}()
	announced, interrupted, heard := 0, 0, 0
	for {
		m, err := p.next()
		if err != nil {
			break
		}
		switch {
		case m.Type == "audio":
			if len(m.audio)%2 != 0 {
				t.Fatalf("%d bytes of audio", len(m.audio))
			}
			for _, v := range samplesOf(m.audio) {
				if int(v) != announced || interrupted >= announced {
					t.Fatalf("audio of reply %d after reply %d was announced and %d interrupted", v, announced, interrupted)
				}
			}
			heard++
		case m.Data == "thinking":
			announced = m.Generation
		case m.Data == "interrupted":
			interrupted++
			seen <- true
		}
	}
	if interrupted != replies || heard == 0 {
		t.Errorf("%d interruptions, %d frames heard", interrupted, heard)
	}
}

// TestFlushDropsTheQueue: a client that is behind does not have to take the audio
// of a reply that was cut before it learns so, but for the frame on its way.
func TestFlushDropsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, leg, _ := conducted(t, apitest.InMemory)
		for range 15 {
			leg.Leg.Write(frame(1))
		}
		leg.Caption("agent", "stays")
		synctest.Wait() // the client does not read yet
		leg.Flush(time.Now())
		leg.Leg.Write(frame(2))
		var got []string
		for len(got) < 4 {
			m, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			if m.Type == "audio" {
				m.Type = fmt.Sprint("audio ", m.audio[0])
			}
			got = append(got, m.Type)
		}
		if want := []string{"audio 1", "transcript_partial", "status", "audio 2"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestPlayed: by the time since sending, or by the client's word as far as that
// can be true.
func TestPlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, leg, _ := conducted(t, apitest.InMemory)
		go p.drain()
		want := func(what string, ms int64) {
			t.Helper()
			synctest.Wait()
			if got := leg.Played(time.Now()); got.Milliseconds() != ms {
				t.Errorf("%s: played %d ms, want %d", what, got.Milliseconds(), ms)
			}
		}
		write := func(n int) {
			for range n {
				leg.Leg.Write(frame(1))
			}
		}
		leg.Status("speaking", 1)
		write(15)
		want("at first", 0)
		time.Sleep(100 * time.Millisecond)
		want("after 100 ms", 40)
		leg.Flush(time.Now())
		time.Sleep(time.Second)
		want("after a cut", 40)

		p.say(`{"type":"features","data":["played","unheard of"]}`)
		synctest.Wait()
		leg.Status("speaking", 2)
		write(15)
		time.Sleep(100 * time.Millisecond)
		want("no report yet", 80)
		p.say(`{"type":"played","ms":90}`)
		want("reported 90", 130)
		p.say(`{"type":"played","ms":60}`)
		want("reported less", 130)
		p.say(`{"type":"played","ms":999999}`)
		want("reported the impossible", 140)
		p.say(`{"type":"played","ms":110}`)
		time.Sleep(900 * time.Millisecond)
		want("stopped reporting, for a while", 150)
		time.Sleep(time.Second)
		want("stopped reporting", 340)
	})
}

func TestDuckIsForClientsThatCan(t *testing.T) {
	t.Parallel()
	s, p, leg, _ := conducted(t, apitest.OverNetwork)
	if leg.Duck(true) {
		t.Error("ducked a client that cannot")
	}
	p.say(`{"type":"features","data":["duck"]}`)
	p.say(`{"type":"text","data":"x"}`)
	s.wantTold(t, "type x") // and so the feature was read
	if !leg.Duck(true) || !leg.Duck(false) {
		t.Error("did not duck a client that can")
	}
	if m := p.want("duck"); m.Data != true {
		t.Errorf("first %+v", m)
	}
	if m := p.want("duck"); m.Data != false {
		t.Errorf("then %+v", m)
	}
}

func TestHeaderOfTheUpgradeIsPlain(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, &agents{}, nil)
	d := *s.Dialer
	d.Subprotocols, d.EnableCompression = []string{"chat"}, true
	conn, resp, err := d.Dial(s.url(""), http.Header{"X-Api-Key": {goodKey}})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if resp.Header.Get("Sec-Websocket-Protocol") != "" || resp.Header.Get("Sec-Websocket-Extensions") != "" {
		t.Errorf("header %v", resp.Header)
	}
}
