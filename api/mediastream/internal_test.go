package mediastream

import (
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	sockets "parley/api/socket"
	"parley/media"
	"parley/media/mediatest"
)

// sink takes what a leg sends.
type sink struct{ sockets.Outlet }

func (sink) Offer(m sockets.Late) {
	if b, _ := m.Bytes(); len(b) == 0 || len(b) > bufferSize {
		panic("a message does not fit")
	}
	m.Written()
}

// TestLegDoesNotAllocate: a wake-up of the conductor with a message of the carrier's, its frame, what is said, a mark and its answer.
func TestLegDoesNotAllocate(t *testing.T) {
	sound := base64.StdEncoding.EncodeToString(make([]byte, 160))
	for name, m := range map[string]struct{ begins, sounds, marks string }{
		"twilio": {`{"event":"start","start":{"callSid":"CA1","mediaFormat":{"encoding":"audio/x-mulaw"}},"streamSid":"MZ18ad3ab5a668481ce02b83e7395059f0"}`,
			`{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"1","timestamp":"5","payload":"` + sound + `"},"streamSid":"MZ1"}`,
			`{"event":"mark","mark":{"name":"1411200"},"streamSid":"MZ1"}`},
		"telnyx": {`{"event":"start","start":{"call_control_id":"CA1","media_format":{"encoding":"PCMU"}},"stream_id":"32DE0DEA-53CB-4B21-89A4-9E1819C043BC"}`,
			`{"event":"media","stream_id":"32DE","media":{"track":"inbound","payload":"` + sound + `"}}`, `{"event":"mark","mark":{"name":"1411200"}}`},
		"vonage": {`{"event":"websocket:connected","content-type":"audio/l16;rate=16000","call":"CA1"}`, "", `{"event":"websocket:notify","payload":{"mark":"1411200"}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeg(sink{}, dialects[name], "CA1", new(onward))
			l.text([]byte(m.begins))
			sounds, marks, linear := []byte(m.sounds), []byte(m.marks), make([]byte, 640)
			speech := media.Silence(l.Format().Out)
			mediatest.NoAllocs(t, func() {
				time.Sleep(media.FrameDuration)
				if m.sounds == "" {
					l.binary(linear)
				} else {
					l.text(sounds)
				}
				l.text(marks)
				l.Next()
				now := time.Now()
				if _, ok := l.Read(now); !ok {
					t.Errorf("%s: heard nothing", name)
				}
				l.Due(now)
				l.Write(speech)
				l.Played(now)
			})
			if l.marked.Load() == 0 || l.Dropped() > 0 {
				t.Errorf("%s: mark %d, %d dropped", name, l.marked.Load(), l.Dropped())
			}
		})
	}
}
