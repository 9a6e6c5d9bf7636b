package webrtc

import (
	"sync"
	"sync/atomic"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/isolate"
)

// Label is the name of the data channel for messages.
const Label = "events"

// Bounds of the channel.
const (
	// MaxMessage is the longest message of a client, in bytes.
	MaxMessage = 1 << 20
	// queueSize is what may wait for a slow client: some seconds of messages. A client
	// that lets it fill up is disconnected, for text is never dropped.
	queueSize = 512
	// inFlight is how many bytes the library may hold.
	inFlight = 256 << 10
	// flushWait is how long what is queued may take to be sent before the end.
	flushWait = time.Second
)

var errSlow = &media.Ended{Reason: media.Failed, Detail: media.SlowClient}

// channel orders the messages to one client: one queue, one writer.
type channel struct {
	leg   *audioLeg
	text  func([]byte)
	queue chan []byte
	ready chan struct{} // closed when the client has opened the channel
	once  sync.Once
	to    *pion.DataChannel // set before ready is closed
	low   chan struct{}     // capacity 1: less than inFlight is held
	count int               // channels that were opened; with taken, of opened alone
	taken bool              // one of them is ours
	left  atomic.Int64      // messages that were put and not handed to the library yet
}

func newChannel(l *audioLeg, text func([]byte)) *channel {
	return &channel{leg: l, text: text, queue: make(chan []byte, queueSize), ready: make(chan struct{}), low: make(chan struct{}, 1)}
}

// maxChannels is how many channels a client may open, most of which are closed at once.
const maxChannels = 8

var errChannels = &media.Ended{Reason: media.Failed, Detail: "too_many_channels"}

// opened takes the first channel of the client's that has our name, and closes the others:
// they do not get as far as a reader. The library waits for it to return.
func (c *channel) opened(d *pion.DataChannel) {
	if c.count++; c.count > maxChannels {
		c.leg.end(errChannels)
	}
	if d.Label() != Label || c.taken || c.leg.isGone() {
		_ = d.Close()
		return
	}
	c.taken = true
	d.OnMessage(func(m pion.DataChannelMessage) {
		if m.IsString && c.text != nil {
			isolate.Do("media/webrtc/message", c.leg.end, func() { c.text(m.Data) })
		}
	})
	d.OnOpen(func() {
		c.once.Do(func() {
			d.SetBufferedAmountLowThreshold(inFlight / 2)
			d.OnBufferedAmountLow(func() {
				select {
				case c.low <- struct{}{}:
				default:
				}
			})
			c.to = d
			close(c.ready)
		})
	})
}

// put queues a message. It never blocks.
func (c *channel) put(m []byte) {
	c.left.Add(1)
	select {
	case c.queue <- m:
		return
	default:
		c.left.Add(-1)
	}
	select {
	case <-c.ready:
		c.leg.end(errSlow)
	default: // the client has not opened the channel
	}
}

// write is the channel's only writer. It returns when the leg has ended.
func (c *channel) write() {
	select {
	case <-c.ready:
	case <-c.leg.gone.Done():
		return
	}
	for {
		select {
		case m := <-c.queue:
			if !c.send(m) {
				return
			}
		case <-c.leg.gone.Done():
			return
		}
	}
}

func (c *channel) send(m []byte) bool {
	err := c.to.SendText(string(m))
	c.left.Add(-1)
	if err != nil {
		return false
	}
	for c.to.BufferedAmount() > inFlight {
		select {
		case <-c.low:
		case <-c.leg.gone.Done():
			return false
		}
	}
	return true
}

// flush waits a little until what is queued has been sent and taken.
func (c *channel) flush() {
	select {
	case <-c.ready:
	default:
		return
	}
	const look = 5 * time.Millisecond
	for range int(flushWait / look) {
		if c.leg.isGone() || c.left.Load() == 0 && c.to.BufferedAmount() == 0 {
			return
		}
		time.Sleep(look)
	}
}
