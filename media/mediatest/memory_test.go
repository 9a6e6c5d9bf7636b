package mediatest

import (
	"context"
	"encoding/binary"
	"net/netip"
	"sync"
	"testing"
	"time"

	"parley/media"
)

// The protocol of the leg below: a byte that says what a packet is, and content.
const (
	msgAudio = 'a' // 20 ms of little-endian samples
	msgFlush = 'f'
	msgDigit = 'd' // and the key
	msgBye   = 'b'
)

// memoryLeg is as simple as a leg can be. It works over any PacketConn.
type memoryLeg struct {
	conn   PacketConn
	peer   netip.AddrPort
	format media.Format
	events chan media.LegEvent

	mu      sync.Mutex
	queue   [][]int16 // what came and was not read; bounded by maxQueue, the oldest is dropped
	started time.Time
	pacer   media.Pacer

	// Of the conductor:
	packet  []byte
	read    media.Time
	written media.Time
	flushed media.Time
	end     time.Time // when the far end will have played what is written
	silence []int16
}

const maxQueue = 10

func newMemoryLeg(conn PacketConn, peer netip.AddrPort, f media.Format) *memoryLeg {
	now := time.Now()
	return &memoryLeg{
		conn: conn, peer: peer, format: f,
		events:  make(chan media.LegEvent, media.EventQueue),
		started: now, pacer: media.NewPacer(now), end: now,
		silence: make([]int16, f.In.FrameSamples()),
	}
}

func (l *memoryLeg) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { l.conn.Close() })
	defer l.conn.Close()
	defer stop()
	buf := make([]byte, 4096)
	for {
		n, _, err := l.conn.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		switch msg := buf[:n]; msg[0] {
		case msgBye:
			return nil
		case msgDigit:
			l.events <- media.LegEvent{Kind: media.LegDigit, Digit: msg[1]}
		case msgAudio:
			l.mu.Lock()
			l.queue = append(l.queue, samplesOf(msg[1:]))
			if len(l.queue) > maxQueue {
				l.queue = l.queue[1:]
			}
			l.mu.Unlock()
		}
	}
}

func (l *memoryLeg) Format() media.Format          { return l.format }
func (l *memoryLeg) Events() <-chan media.LegEvent { return l.events }

func (l *memoryLeg) Next() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pacer.Next()
}

func (l *memoryLeg) Read(now time.Time) (media.Frame, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const patience = 100 * media.Millisecond
	f := media.Frame{Rate: l.format.In, At: l.read}
	switch {
	case len(l.queue) > 0:
		f.Samples = l.queue[0]
		l.queue = l.queue[1:]
	case media.FromDuration(now.Sub(l.started))-l.read > patience:
		f.Samples = l.silence
	default:
		return media.Frame{}, false
	}
	l.read += media.FrameTime
	return f, true
}

func (l *memoryLeg) Due(now time.Time) int {
	l.mu.Lock()
	n := l.pacer.Due(now)
	l.mu.Unlock()
	if l.format.Continuous {
		return n
	}
	ahead := max(0, l.end.Sub(now))
	return int(max(0, l.format.Lead-ahead) / media.FrameDuration)
}

func (l *memoryLeg) Write(f media.Frame) {
	l.packet = append(l.packet[:0], msgAudio)
	for _, s := range f.Samples {
		l.packet = binary.LittleEndian.AppendUint16(l.packet, uint16(s))
	}
	l.conn.WriteToUDPAddrPort(l.packet, l.peer)
	l.written += media.FrameTime
	if now := time.Now(); l.end.Before(now) {
		l.end = now
	}
	l.end = l.end.Add(media.FrameDuration)
}

func (l *memoryLeg) Flush(now time.Time) media.Time {
	if l.format.Continuous {
		return 0
	}
	l.conn.WriteToUDPAddrPort([]byte{msgFlush}, l.peer)
	dropped := l.ahead(now)
	l.end = now
	l.flushed += dropped
	return dropped
}

func (l *memoryLeg) Played(now time.Time) media.Time {
	return l.written - l.flushed - l.ahead(now)
}

func (l *memoryLeg) ahead(now time.Time) media.Time {
	if l.format.Continuous {
		return 0
	}
	return max(0, media.FromDuration(l.end.Sub(now)))
}

// memoryFar is the other party. One that has a lead to play from buffers it.
type memoryFar struct {
	conn   PacketConn
	peer   netip.AddrPort
	format media.Format

	mu     sync.Mutex
	buffer []int16   // not yet given to Receive
	end    time.Time // when all of buffer will have been played
}

// startMemoryFar listens until the end of the test.
func startMemoryFar(t *testing.T, conn PacketConn, peer netip.AddrPort, f media.Format) *memoryFar {
	far := &memoryFar{conn: conn, peer: peer, format: f}
	var wg sync.WaitGroup
	wg.Go(far.listen)
	t.Cleanup(func() {
		conn.Close()
		wg.Wait()
	})
	return far
}

func (f *memoryFar) listen() {
	buf := make([]byte, 4096)
	for {
		n, _, err := f.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		now := time.Now()
		f.mu.Lock()
		switch buf[0] {
		case msgAudio:
			f.buffer = append(f.buffer, samplesOf(buf[1:n])...)
			if f.end.Before(now) {
				f.end = now
			}
			f.end = f.end.Add(media.FrameDuration)
		case msgFlush:
			f.buffer = f.buffer[:f.playedLocked(now)]
			f.end = now
		}
		f.mu.Unlock()
	}
}

// playedLocked is how much of the buffer was played by now.
func (f *memoryFar) playedLocked(now time.Time) int {
	if f.format.Continuous {
		return len(f.buffer)
	}
	left := media.FromDuration(max(0, f.end.Sub(now))).Samples(f.format.Out)
	return max(0, len(f.buffer)-left)
}

func (f *memoryFar) Receive() []int16 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.playedLocked(time.Now())
	played := f.buffer[:n:n]
	f.buffer = f.buffer[n:]
	return played
}

func (f *memoryFar) Send(samples []int16) {
	msg := []byte{msgAudio}
	for _, s := range samples {
		msg = binary.LittleEndian.AppendUint16(msg, uint16(s))
	}
	f.conn.WriteToUDPAddrPort(msg, f.peer)
}

func (f *memoryFar) Digit(d byte) bool {
	f.conn.WriteToUDPAddrPort([]byte{msgDigit, d}, f.peer)
	return true
}

func (f *memoryFar) Hangup() bool {
	f.conn.WriteToUDPAddrPort([]byte{msgBye}, f.peer)
	return true
}

func samplesOf(b []byte) []int16 {
	samples := make([]int16, len(b)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return samples
}
