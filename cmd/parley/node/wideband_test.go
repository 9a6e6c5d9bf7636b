package node

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"parley/cmd/parley/config"
	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/sip/trunk"
	"parley/store/storetest"
)

// TestWidebandCaller: a caller whose exchange offers G.722 hears the agent in all of its band; where the operator does not
// have it, the call is in half of it.
func TestWidebandCaller(t *testing.T) {
	t.Parallel()
	for source, codecs := range map[string][]codec.Codec{"127.0.0.6": nil, "127.0.0.7": {codec.PCMA}} {
		d := deskWith(t, storetest.URL(t), func(c *config.Config) {
			c.Trunks = []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.MustParsePrefix(source + "/32")}}}
			c.Codecs = codecs
		})
		leg, err := rung(d, d.exchange(source))
		d.ok(err)
		want := media.Rate16k
		if codecs != nil {
			want = media.Rate8k
		}
		if f := leg.Format(); f.In != want || f.Out != want {
			t.Errorf("%v: the caller's leg is at %v", codecs, f.In)
		}
		if share := d.above(leg, 4200); (share > 0.001) != (codecs == nil) {
			t.Errorf("%v: %.5f of the agent's voice is above 4.2 kHz", codecs, share)
		}
	}
}

// above hears two seconds of the agent's voice, hangs up, and returns the share of its power that is above a frequency.
func (d *desk) above(leg media.Leg, hz float64) float64 {
	d.Helper()
	ctx, hangUp := context.WithCancelCause(d.Context())
	ended := make(chan error, 1)
	go func() { ended <- leg.Run(ctx) }()
	rate := leg.Format().In
	var heard []int16
	for len(heard) < 2*int(rate) {
		select {
		case err := <-ended:
			d.Fatalf("ended with %v after %d samples", err, len(heard))
		case <-leg.Events():
		case now := <-time.After(time.Until(leg.Next())):
			for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
				if len(heard) > 0 || mediatest.Level(f.Samples) > -40 {
					heard = append(heard, f.Samples...)
				}
			}
			for n := leg.Due(now); n > 0; n-- {
				leg.Write(media.Silence(rate))
			}
		}
	}
	hangUp(&media.Ended{Reason: media.UserHangup})
	<-ended // with why
	power := mediatest.Spectrum(heard)
	above, all := 0.0, 0.0
	for i, p := range power {
		if all += p; float64(i)*float64(rate)/2 > hz*float64(len(power)-1) {
			above += p
		}
	}
	return above / all
}
