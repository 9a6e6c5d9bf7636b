package record_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/record"
	"parley/media/rtp"
)

// tape is a recorder and what it has recorded.
type tape struct {
	*record.Recorder
	file   disk
	result record.Result
}

// disk is a file; it fails from a size on when there is one.
type disk struct {
	bytes.Buffer
	room  int           // 0: endless
	hangs chan struct{} // nil: it does not; else until it is closed
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	if d.hangs != nil {
		<-d.hangs
	}
	if d.room > 0 && d.Len()+len(p) > d.room {
		return 0, errFull
	}
	return d.Buffer.Write(p)
}

func (d *disk) Close() error { return nil }

func newTape() *tape {
	t := &tape{}
	t.Recorder = record.New(record.Config{
		Create: func(media.Rate) (io.WriteCloser, error) { return &t.file, nil },
		Done:   func(r record.Result) { t.result = r },
	})
	return t
}

// side is one channel of what was recorded.
func (t *tape) side(n int) []int16 {
	all := make([]int16, t.file.Len()/2)
	_, _ = binary.Decode(t.file.Bytes(), binary.LittleEndian, all) // of memory
	var one []int16
	for i := n; i < len(all); i += record.Channels {
		one = append(one, all[i])
	}
	return one
}

// from is when a side is first heard, in steps of 5 ms; -1 never.
func from(samples []int16, rate media.Rate) time.Duration {
	block := int(rate) / 200
	for n := 0; (n+1)*block <= len(samples); n++ {
		if mediatest.Level(samples[n*block:(n+1)*block]) > -40 {
			return time.Duration(n) * 5 * time.Millisecond
		}
	}
	return -1
}

var (
	telephone = media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}
	web       = media.Format{In: media.Rate16k, Out: media.Rate44k, Lead: 300 * time.Millisecond}
)

// wire joins two sockets in memory; packets take delay.
type wire struct {
	mu    sync.Mutex
	addr  netip.AddrPort
	other *wire
	delay time.Duration
	queue []packet
}

type packet struct {
	data []byte
	at   time.Time
}

func (w *wire) Send(p []byte, _ netip.AddrPort) error {
	w.other.mu.Lock()
	defer w.other.mu.Unlock()
	w.other.queue = append(w.other.queue, packet{bytes.Clone(p), time.Now().Add(w.delay)})
	return nil
}

func (w *wire) Recv(buf []byte) (int, netip.AddrPort, time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || w.queue[0].at.After(time.Now()) {
		return 0, netip.AddrPort{}, time.Time{}, false
	}
	p := w.queue[0]
	w.queue = w.queue[1:]
	return copy(buf, p.data), w.other.addr, p.at, true
}

// TestAlignedOverRTP: a tone that the far end's microphone picks up while it hears ours
// is beside ours in the recording, later by the way there and back.
func TestAlignedOverRTP(t *testing.T) {
	const delay = 40 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		near := &wire{addr: netip.MustParseAddrPort("192.0.2.1:4000"), delay: delay}
		far := &wire{addr: netip.MustParseAddrPort("192.0.2.2:4000"), other: near, delay: delay}
		near.other = far
		s, err := rtp.New(rtp.Config{RTP: near, Remote: far.addr, Format: rtp.Format{Codec: codec.PCMU}, CNAME: "us"})
		if err != nil {
			t.Fatal(err)
		}
		phone, err := rtp.New(rtp.Config{RTP: far, Remote: near.addr, Format: rtp.Format{Codec: codec.PCMU}, CNAME: "it"})
		if err != nil {
			t.Fatal(err)
		}
		tone := mediatest.Tone(1000, media.Rate8k, 160, 0.5)
		silence := make([]int16, 160)
		var echoed []int16 // what the far end's microphone has picked up of its loudspeaker
		got := newTape()
		got.Begin(s.Format())
		for n := range 20 * 50 { // a step of 10 ms is half a frame
			time.Sleep(10 * time.Millisecond)
			now := time.Now()
			for f, ok := phone.Read(now); ok; f, ok = phone.Read(now) {
				echoed = append(echoed, f.Samples...)
			}
			for k := phone.Due(now); k > 0; k-- {
				f := media.Frame{Samples: silence, Rate: media.Rate8k}
				if len(echoed) >= 160 {
					f.Samples, echoed = echoed[:160], echoed[160:]
				}
				phone.Write(f)
			}
			for f, ok := s.Read(now); ok; f, ok = s.Read(now) {
				got.Heard(f, now)
			}
			for k := s.Due(now); k > 0; k-- {
				f := media.Frame{Samples: silence, Rate: media.Rate8k}
				if n >= 500 && n < 520 {
					f.Samples = tone
				}
				got.Spoke(f, now, -media.Time(k-1)*media.FrameTime)
				s.Write(f)
			}
		}
		got.Close()
		ours, its := from(got.side(1), media.Rate8k), from(got.side(0), media.Rate8k)
		// The loop above gives a frame back at once that a microphone would pick up for 20 ms.
		if lag := its - ours; ours < 4900*time.Millisecond || ours > 5100*time.Millisecond || lag < 2*delay-20*time.Millisecond || lag > 2*delay+20*time.Millisecond {
			t.Errorf("our tone is at %v, and %v later comes back what needs %v", ours, lag, 2*delay)
		}
	})
}

// feed gives a recorder both sides for a number of frames: a tone on both in the frames
// that loud says.
func (t *tape) feed(f media.Format, frames int, skew func(n int) time.Duration, loud func(n int) bool) {
	start := time.Now()
	for n := range frames {
		in, out := make([]int16, f.In.FrameSamples()), make([]int16, f.Out.FrameSamples())
		if loud(n) {
			in, out = mediatest.Tone(1000, f.In, len(in), 0.5), mediatest.Tone(1000, f.Out, len(out), 0.5)
		}
		time.Sleep(time.Until(start.Add(time.Duration(n+1)*media.FrameDuration + skew(n))))
		now := time.Now()
		t.Heard(media.Frame{Samples: in, Rate: f.In, At: media.Time(n) * media.FrameTime}, now)
		t.Spoke(media.Frame{Samples: out, Rate: f.Out}, now, 0)
	}
	t.Close()
	synctest.Wait() // for the result
}

func never(int) time.Duration { return 0 }

// TestLateWakeUps do not tear the agent's side, and a clock that drifts away is followed.
func TestLateWakeUps(t *testing.T) {
	for name, skew := range map[string]func(n int) time.Duration{
		"now and then": func(n int) time.Duration { return time.Duration(n*7%5) * 4 * time.Millisecond },
		"by a drift":   func(n int) time.Duration { return time.Duration(n) * 50 * time.Microsecond },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := newTape()
				got.Begin(telephone)
				got.feed(telephone, 1000, skew, func(n int) bool { return n >= 900 })
				in, out := from(got.side(0), media.Rate8k), from(got.side(1), media.Rate8k)
				// What is spoken when a frame has been heard follows it.
				if d := out - in - media.FrameDuration; in != 18*time.Second || d < -20*time.Millisecond || d > 20*time.Millisecond {
					t.Errorf("the sides begin at %v and %v", in, out)
				}
				tail := got.side(1)[int((out+40*time.Millisecond).Seconds()*8000):]
				if snr := mediatest.SNR(tail[:4000], media.Rate8k, 1000); name == "now and then" && snr < 40 {
					t.Errorf("the agent's tone has %.0f dB", snr)
				}
			})
		})
	}
}

// TestLatePacketsAtFirst move nothing that the agent says: what it says in the first seconds stays together.
func TestLatePacketsAtFirst(t *testing.T) {
	said := []int{15, 35, 75, 150} // frames
	for name, late := range map[string]func(n int) time.Duration{
		"the first eight": func(n int) time.Duration { return time.Duration(max(0, min(8-n, 1))) * 18 * time.Millisecond },
		"less and less":   func(n int) time.Duration { return time.Duration(max(0, 14-n)) * 1300 * time.Microsecond },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := newTape()
				got.Begin(telephone)
				tone, silence := mediatest.Tone(1000, media.Rate8k, 160, 0.5), make([]int16, 160)
				start := time.Now()
				for n := range 200 {
					tick := start.Add(time.Duration(n+1) * media.FrameDuration)
					time.Sleep(time.Until(tick))
					f := media.Frame{Samples: silence, Rate: media.Rate8k}
					if slices.Contains(said, n) {
						f.Samples = tone
					}
					got.Spoke(f, time.Now(), 0)
					time.Sleep(late(n))
					got.Heard(media.Frame{Samples: silence, Rate: media.Rate8k, At: media.Time(n) * media.FrameTime}, time.Now())
				}
				got.Close()
				synctest.Wait()
				right, at := got.side(1), []int{}
				for i := 1; i < len(right); i++ {
					if right[i] != 0 && (len(at) == 0 || i > at[len(at)-1]+320) {
						at = append(at, i)
					}
				}
				if len(at) != len(said) {
					t.Fatalf("sounds at %v", at)
				}
				for i := range at {
					if got, want := at[i]-at[0], 160*(said[i]-said[0]); got < want-8 || got > want+8 { // 1 ms
						t.Errorf("sound %d is %d samples after the first, which were %d", i, got, want)
					}
				}
			})
		})
	}
}

// TestDiskTooSlow: frames that found the queue full are silence of the same length.
func TestDiskTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newTape()
		got.file.hangs = make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(got.file.hangs) })
		got.Begin(telephone)
		got.feed(telephone, 1000, never, func(n int) bool { return n >= 900 })
		in, out := from(got.side(0), media.Rate8k), from(got.side(1), media.Rate8k)
		if got.result.Dropped == 0 || in != 18*time.Second || out != in+media.FrameDuration {
			t.Errorf("%d frames dropped, the sides begin at %v and %v", got.result.Dropped, in, out)
		}
	})
}

// TestDiskFull: the error is reported once, at the end, and nobody is held up.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newTape()
		got.file.room = 100_000
		got.Begin(web)
		began := time.Now()
		got.feed(web, 500, never, func(int) bool { return true })
		if took := time.Since(began); !errors.Is(got.result.Err, errFull) || took != 10*time.Second || got.result.Dropped != 0 {
			t.Errorf("%+v after %v", got.result, took)
		}
	})
}

// TestDiskThatHangs for ever does not hold up the end of a call.
func TestDiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newTape()
		got.file.hangs = make(chan struct{})
		got.Begin(web)
		begun := time.Now()
		got.feed(web, 100, never, func(int) bool { return true })
		if took := time.Since(begun); took > 100*media.FrameDuration+4*time.Second {
			t.Errorf("a call of 2 s ends after %v", took)
		}
		if got.result != (record.Result{}) {
			t.Errorf("the recording is done before its file: %+v", got.result)
		}
		close(got.file.hangs)
		synctest.Wait()
		if got.result.Err != nil || got.result.Length == 0 {
			t.Errorf("when the disk goes on: %+v", got.result)
		}
	})
}

// TestNeverBegun: a call that nobody answered has no recording.
func TestNeverBegun(t *testing.T) {
	got := newTape()
	got.Close()
	if got.result.Rate != 0 || got.file.Len() != 0 {
		t.Errorf("%+v", got.result)
	}
}

// TestNoAllocs in the conductor's 20 ms.
func TestNoAllocs(t *testing.T) {
	got := newTape()
	got.Begin(web)
	defer got.Close()
	in := media.Frame{Samples: make([]int16, web.In.FrameSamples()), Rate: web.In}
	out := media.Frame{Samples: make([]int16, web.Out.FrameSamples()), Rate: web.Out}
	mediatest.NoAllocs(t, func() {
		now := time.Now()
		got.Heard(in, now)
		got.Spoke(out, now, media.FrameTime)
		got.Recalled(media.FrameTime)
		in.At += media.FrameTime
	})
}
