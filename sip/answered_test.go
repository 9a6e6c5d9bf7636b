package sip_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/srtp"
	"parley/sip"
	"parley/sip/sdp"
	"parley/sip/transport"
)

// answeredOnly is a handler that hands over what Answer returned.
func answeredOnly(results chan<- outcome) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		results <- outcome{in, err}
		if err == nil {
			_ = conduct(ctx, leg, nil)
		}
	}
}

// silent checks that a socket has got nothing yet.
func silent(t *testing.T, conn *net.UDPConn) {
	t.Helper()
	b := make([]byte, 2000)
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := conn.Read(b); err == nil {
		t.Errorf("%d bytes before the call was acknowledged", n)
	}
}

// say sends an RTP packet of silence to where a description says.
func (p *peer) say(conn *net.UDPConn, description []byte, seq uint16) {
	p.t.Helper()
	packet := make([]byte, 172)
	packet[0] = 0x80
	binary.BigEndian.PutUint16(packet[2:], seq)
	binary.BigEndian.PutUint32(packet[4:], 160*uint32(seq))
	binary.BigEndian.PutUint32(packet[8:], 0xabcd)
	for i := range packet[12:] {
		packet[12+i] = 0xff
	}
	to := net.UDPAddr{IP: loopback.AsSlice(), Port: audioPort(p.t, string(description))}
	if _, err := conn.WriteToUDP(packet, &to); err != nil {
		p.t.Fatal(err)
	}
}

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Before its ACK a call is not answered: nobody conducts it, and nothing is sent to
// where its description says, which may be another's address.
func TestAnsweredByTheACK(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{T1: 20 * time.Millisecond, OnCall: answeredOnly(results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer()))
		for range 4 { // 140 ms, in which seven packets would be sent
			p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
		}
		silent(t, p.rtp)
		select {
		case o := <-results:
			t.Fatalf("answered before the ACK: %v", o.err)
		default:
		}
		p.write(p.request("ACK", ""))
		if o := wait(t, results, "answer"); o.err != nil {
			t.Fatal(o.err)
		}
		heard(t, p.rtp)
		p.next(200, "BYE", "")
	})
}

// Who hangs up before the ACK has given up a ringing call.
func TestHangUpBeforeTheACK(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answeredOnly(results)})
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer()))
	p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
	p.next(200, "BYE", "")
	var e *media.Ended
	if o := wait(t, results, "end"); !errors.As(o.err, &e) || e.Reason != media.UserHangup || e.Detail != "canceled" {
		t.Errorf("ended with %v", o.err)
	}
	silent(t, p.rtp)
}

// Where the ACK was lost, the second packet from exactly the address and port of the
// description answers the call; others do not.
func TestAnsweredByMedia(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{T1: 20 * time.Millisecond, OnCall: answeredOnly(results)})
	p := newPeer(t, ua, "udp")
	p.write(p.request("INVITE", p.offer()))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	other := socket(t)
	for seq := range uint16(3) {
		p.say(other, res.Body(), seq)
	}
	p.say(p.rtp, res.Body(), 7)
	for range 3 {
		p.response(200, "INVITE") // it goes on waiting
	}
	silent(t, p.rtp)
	p.say(p.rtp, res.Body(), 8)
	if o := wait(t, results, "answer"); o.err != nil {
		t.Fatal(o.err)
	}
	heard(t, p.rtp)
	p.next(200, "BYE", "")
}

// With keys one packet is enough, from anywhere, if it is authentic.
func TestAnsweredByEncryptedMedia(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{T1: 20 * time.Millisecond, SRTP: sdp.SRTPOffered, OnCall: answeredOnly(results)})
	p := newPeer(t, ua, "udp")
	key := strings.Repeat("A", 40)
	secure := func(suite string) string {
		return strings.Replace(p.offer("a=crypto:1 "+suite+" inline:"+key), "RTP/AVP", "RTP/SAVP", 1)
	}
	p.write(p.request("INVITE", secure("AES_CM_128_HMAC_SHA1_80")))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	for seq := range uint16(3) {
		p.say(p.rtp, res.Body(), seq) // plain: not authentic
	}
	p.response(200, "INVITE")
	silent(t, p.rtp)
	zeros, _ := srtp.ParseKey(srtp.AESHMAC80, key) // the key is only known here
	sender, err := srtp.NewSender(srtp.AESHMAC80, zeros)
	if err != nil {
		t.Fatal(err)
	}
	packet := make([]byte, 172, 172+srtp.Overhead)
	packet[0], packet[11] = 0x80, 1
	if packet, err = sender.RTP(packet); err != nil {
		t.Fatal(err)
	}
	if _, err := socket(t).WriteToUDP(packet, &net.UDPAddr{IP: loopback.AsSlice(), Port: audioPort(t, string(res.Body()))}); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, results, "answer"); o.err != nil {
		t.Fatal(o.err)
	}
	p.next(200, "BYE", "")
}

// A source that acknowledges nothing begins five calls to a number, and no more for a
// while; to another number it may, and over TCP, where nobody can forge it.
func TestUnconfirmedCallsAreFew(t *testing.T) {
	results := make(chan outcome, 16)
	// 64 T1 is over half a second: on a busy machine, too, the 200s come before the call is given up.
	ua := serve(t, sip.Config{T1: 10 * time.Millisecond, OnCall: answeredOnly(results)})
	for range 5 {
		p := newPeer(t, ua, "udp")
		p.write(p.request("INVITE", p.offer()))
		for range 3 { // said again twice: it counts
			p.response(200, "INVITE")
		}
	}
	p := newPeer(t, ua, "udp")
	res := p.turnedDown(503, p.offer())
	if value(res, "Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if n := ua.Rejected()[transport.CauseUnconfirmed]; n != 1 {
		t.Errorf("%d refusals are counted", n)
	}
	other := newPeer(t, ua, "udp")
	other.write(strings.Replace(other.request("INVITE", other.offer()), "INVITE sip:+15550100002@", "INVITE sip:+15550100003@", 1))
	other.response(200, "INVITE")
	newPeer(t, ua, "tcp").call()
}

// One that is acknowledged in the end shows that the source is no forgery.
func TestConfirmedCallsForgiveOthers(t *testing.T) {
	results := make(chan outcome, 16)
	ua := serve(t, sip.Config{T1: 10 * time.Millisecond, OnCall: answeredOnly(results)})
	for i := range 8 {
		p := newPeer(t, ua, "udp")
		p.write(p.request("INVITE", p.offer()))
		p.response(200, "INVITE")
		p.response(200, "INVITE")
		p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
		if i == 3 {
			p.write(p.request("ACK", ""))
			if o := wait(t, results, "answer"); o.err != nil && !strings.Contains(o.err.Error(), "no_ack") {
				t.Fatal(o.err)
			}
		}
	}
}

// audioPort is the port of a description's audio.
func audioPort(t testing.TB, description string) int {
	t.Helper()
	_, rest, _ := strings.Cut(description, "m=audio ")
	port, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatalf("no port in %s", description)
	}
	return n
}
