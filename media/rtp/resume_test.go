package rtp_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/rtp"
	"parley/media/srtp"
)

// TestResumeEncrypted: another session goes on with a stream whose sequence number has wrapped, under the far end's old key and a new one of
// ours. One that does not know how far the stream had come cannot open it.
func TestResumeEncrypted(t *testing.T) {
	for _, suite := range []srtp.Suite{srtp.AESHMAC80, srtp.AESHMAC32, srtp.AESGCM} {
		for _, known := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				keys := newKeys(suite)
				far := secure(t, n.phone(phoneAddr.String(), 1), keys)
				before := newCall(t, n, func(cfg *rtp.Config) { cfg.Keys = keys })
				i := 0
				before.conduct(2*time.Second, func() { far.say(ourAddr, toneFrame(i)); i++ })
				at := before.s.FarPosition()
				if at.SSRC != 1 || at.ROC != 1 || far.SequenceNumber-at.Seq > 3 {
					t.Fatalf("position %+v", at)
				}
				before.hangUp()
				far.hear(t)

				keys.Send = srtp.NewKey(suite)
				far = &securePhone{far.phone, far.out, secure(t, far.phone, keys).in}
				after := newCall(t, n, func(cfg *rtp.Config) {
					if cfg.Keys = keys; known {
						cfg.Far = at
					}
				})
				if got := after.s.FarPosition(); known && got != at {
					t.Errorf("position %+v before the first packet, want %+v", got, at)
				}
				after.conduct(time.Second, func() { far.say(ourAddr, toneFrame(i)); i++; far.hear(t) })
				s := after.s.Stats()
				if !known {
					if s.Received != 0 || s.Refused == 0 {
						t.Errorf("%v: without a position: %+v", suite, s)
					}
				} else if snr := mediatest.SNR(after.heard[4000:], media.Rate8k, 440); snr < 28 || s.Refused != 0 || after.s.FarPosition().ROC != 1 {
					t.Errorf("%v: the tone at %.1f dB, %+v", suite, snr, s)
				}
				after.hangUp()
			})
		}
	}
}
