package sip_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/trunk"
)

// TestVouchedMedia: on a trunk that is set to it, audio of a source that is not vouched for is
// no sign of life; on another it is the far end's.
func TestVouchedMedia(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string]trunk.Flags{"any": 0, "vouched": trunk.VouchedMedia} {
		vouched := flags != 0
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := make(chan outcome, 1)
			ua := serve(t, sip.Config{FirstRTPTimeout: 500 * time.Millisecond, OnCall: answering(results),
				Trunks: []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Flags: flags}}})
			p := newPeer(t, ua, "udp")
			stranger, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 9)})
			if err != nil {
				t.Fatal(err)
			}
			defer stranger.Close()
			description := p.call().Body()
			for seq := uint16(1); ; seq++ {
				p.say(stranger, description, seq)
				select {
				case o := <-results:
					var e *media.Ended
					if !vouched || !errors.As(o.err, &e) || e.Detail != "media_timeout" {
						t.Errorf("ended with %v", o.err)
					}
					p.confirm(p.incoming("BYE"))
					return
				case <-time.After(media.FrameDuration):
				}
				if !vouched && seq > 100 { // two seconds
					p.hangup(results)
					return
				}
			}
		})
	}
}
