package sip_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/sip"
)

// said sends a packet, and waits for the next of ours, which comes every 20 ms.
func (f *farEnd) said(pt byte, marker bool, payload []byte) {
	f.t.Helper()
	f.packet(pt, marker, f.time, payload)
	f.await()
}

// await waits for our next packet.
func (f *farEnd) await() {
	f.t.Helper()
	_ = f.rtp.SetReadDeadline(time.Now().Add(patience))
	if _, err := f.rtp.Read(f.buf[:]); err != nil {
		f.t.Fatal(err)
	}
	f.time += 160
}

// A far end that announces its pauses instead of sending them is heard as a quiet line, and not as one that loses packets; ours
// goes on meanwhile, and has a floor.
func TestAnnouncedPause(t *testing.T) {
	heard, results := make(chan []int16, 1), make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
		var all []int16
		leg, err := in.Answer(ctx)
		if err == nil {
			err = conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 {
				all = append(all, f.Samples...)
				return nil
			})
			if s := leg.Stats(); s.Lost != 0 || s.Concealed != 0 || s.Invalid != 0 {
				t.Errorf("stats %+v", s)
			}
		}
		heard <- all
		results <- outcome{in, err}
	}})
	p := newPeer(t, ua, "udp")
	res := p.next(200, "INVITE", strings.Replace(p.offer(), "0 8 101", "0 8 13 101", 1))
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	if b := string(res.Body()); !strings.Contains(b, "RTP/AVP 0 13 101\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:13 CN/8000\r\n") {
		t.Fatalf("answered with\n%s", b)
	}
	f := &farEnd{peer: p, to: netip.AddrPortFrom(loopback, uint16(audioPort(t, string(res.Body()))))}
	e, payload := codec.NewEncoder(media.Rate8k), make([]byte, 160)
	tone := mediatest.Tone(700, media.Rate8k, 8000, 0.3)
	speak := func(packets int) {
		for i := range packets {
			e.Encode(codec.PCMU, payload, tone[i%50*160:][:160])
			f.said(0, i == 0, payload)
		}
	}
	speak(50)
	f.said(13, false, []byte{48})
	for range 49 { // nothing comes but ours
		f.await()
	}
	quiet := make([]int16, 160)
	codec.NewDecoder(media.Rate8k).Decode(quiet, f.buf[1]&0x7f, f.buf[12:172])
	if level := mediatest.Level(quiet); level < -70 || level > -62 {
		t.Errorf("our pause is heard at %.1f dBov", level)
	}
	speak(50)
	p.hangup(results)
	words, noise := 0, 0
	for frame := range slices.Chunk(wait(t, heard, "audio"), 160) {
		switch level := mediatest.Level(frame); {
		case level > -15:
			words++
		case level > -50 && level < -46:
			noise++
		}
	}
	if words < 90 || noise < 40 {
		t.Errorf("of 100 frames of words %d are heard, of 50 of the pause %d have its noise", words, noise)
	}
}
