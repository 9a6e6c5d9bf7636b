package sip_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/opus"
	"parley/media/rtp"
	"parley/media/srtp"
	"parley/media/wav"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/sdp"
)

// A call between two of ours, under each pair of policies: plain, encrypted, or
// refused with 488. A hold and a refresh do not disturb the encryption.
func TestEncryptedCall(t *testing.T) {
	t.Parallel()
	for ours, row := range map[sdp.Policy][4]string{ // theirs: off, offered, required, by a handshake
		sdp.SRTPOff:       {"plain", "plain", "refused", "refused"},
		sdp.SRTPOffered:   {"plain", "encrypted", "encrypted", "refused"},
		sdp.SRTPRequired:  {"refused", "encrypted", "encrypted", "refused"},
		sdp.SRTPHandshake: {"refused", "encrypted", "encrypted", "encrypted"},
	} {
		for theirs, want := range row {
			t.Run(ours.String()+" to "+sdp.Policy(theirs).String(), func(t *testing.T) {
				legs := make(chan *sip.Leg, 1)
				callee := serve(t, sip.Config{SRTP: sdp.Policy(theirs), OnCall: func(ctx context.Context, in *sip.Incoming) {
					leg, err := in.Answer(ctx)
					if err != nil {
						return
					}
					legs <- leg
					_ = conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 { return f.Samples })
				}})
				caller := serve(t, sip.Config{SRTP: ours})
				leg, err := caller.Dial(t.Context(), sip.Target{URI: "sip:1@" + callee.Addr().String()})
				if want == "refused" {
					if e, ok := errors.AsType[*sip.NotAnswered](err); !ok || e.Ended().Detail != "no_common_codec" {
						t.Fatalf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- conduct(ctx, leg, nil) }()
				far := wait(t, legs, "leg")
				for who, l := range map[string]*sip.Leg{"caller": leg, "callee": far} {
					eventually(t, "the "+who+" hears", func() bool { return l.Stats().Received > 20 })
					if s := l.Stats(); s.Encrypted != (want == "encrypted") || s.Refused != 0 || s.Invalid != 0 {
						t.Errorf("%s: %+v", who, s)
					}
				}
				stop()
				if err := wait(t, ended, "end"); err != nil {
					t.Error(err)
				}
				list, _ := leg.Trace().Messages()
				for _, m := range list {
					if _, key, found := strings.Cut(m.Text, "inline:"); found && !strings.HasPrefix(key, "[masked]\r\n") {
						t.Errorf("a key can be read in\n%s", m.Text)
					}
				}
			})
		}
	}
}

// secureMedia sends SRTP from the peer's own socket.
type secureMedia struct {
	t   *testing.T
	p   *peer
	to  netip.AddrPort
	seq uint16
	out *srtp.Sender
	buf [172 + srtp.Overhead]byte
}

// say sends n packets under the key of now.
func (m *secureMedia) say(n int) {
	m.t.Helper()
	for range n {
		b := m.buf[:172]
		clear(b)
		b[0] = 0x80
		m.seq++
		binary.BigEndian.PutUint16(b[2:], m.seq)
		binary.BigEndian.PutUint32(b[4:], 160*uint32(m.seq))
		sealed, err := m.out.RTP(b)
		if err != nil {
			m.t.Fatal(err)
		}
		if _, err := m.p.rtp.WriteToUDPAddrPort(sealed, m.to); err != nil {
			m.t.Fatal(err)
		}
	}
}

// A far end brings its key with the offer and another with a re-INVITE. From then on
// the old one is worth nothing, and our own has changed too.
func TestRekeyByReinvite(t *testing.T) {
	legs, results := make(chan *sip.Leg, 1), make(chan outcome, 1)
	ua := serve(t, sip.Config{SRTP: sdp.SRTPOffered, OnCall: func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err == nil {
			legs <- leg
			err = conduct(ctx, leg, nil)
		}
		results <- outcome{in, err}
	}})
	p := newPeer(t, ua, "udp")
	offer := func(k srtp.Key) string {
		text := p.offer("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + k.Inline(srtp.AESHMAC80))
		return strings.Replace(text, "RTP/AVP", "RTP/SAVP", 1)
	}
	sender := func(k srtp.Key) *srtp.Sender {
		s, err := srtp.NewSender(srtp.AESHMAC80, k)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := srtp.NewKey(srtp.AESHMAC80), srtp.NewKey(srtp.AESHMAC80)
	p.write(p.request("INVITE", offer(first)))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	leg := wait(t, legs, "leg")
	answer := string(res.Body())
	_, rest, _ := strings.Cut(answer, "m=audio ")
	port, _, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || !strings.Contains(answer, " RTP/SAVP 0 ") || !strings.Contains(answer, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:") {
		t.Fatalf("answer\n%s", answer)
	}
	m := &secureMedia{t: t, p: p, to: netip.AddrPortFrom(loopback, uint16(n)), out: sender(first)}
	m.say(20)
	eventually(t, "the first key opens", func() bool { return leg.Stats().Received >= 19 })

	again := p.next(200, "INVITE", offer(second))
	p.write(p.request("ACK", ""))
	ours := regexp.MustCompile(`inline:(\S+)`)
	if a, b := ours.FindStringSubmatch(answer), ours.FindStringSubmatch(string(again.Body())); a[1] == b[1] {
		t.Error("our own key is the old one")
	}
	before := leg.Stats()
	m.out = sender(second)
	m.say(20)
	eventually(t, "the second key opens", func() bool { return leg.Stats().Received >= before.Received+20 })
	m.out = sender(first)
	m.say(20)
	eventually(t, "the first key is refused", func() bool { return leg.Stats().Refused >= before.Refused+20 })
	if s := leg.Stats(); s.Received != before.Received+20 {
		t.Errorf("before %+v, after %+v", before, s)
	}
	p.hangup(results)
}

// baresip encrypts, when it may and when it must, calling and called.
func TestInteropSRTP(t *testing.T) {
	if _, err := exec.LookPath("baresip"); err != nil {
		t.Skip("baresip is not installed")
	}
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, enc := range []string{"srtp", "srtp-mand"} {
		for _, mode := range []string{"call", "answer"} {
			t.Run(enc+"/"+mode, func(t *testing.T) { callBaresip(t, codec.PCMU, mediatest.FreePorts(t), enc, mode) })
		}
	}
}

// baresip brings its keys by a handshake, with connectivity checks and without, and makes checks of plain and otherwise encrypted calls.
func TestInteropDTLS(t *testing.T) {
	if _, err := exec.LookPath("baresip"); err != nil {
		t.Skip("baresip is not installed")
	}
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for name, c := range map[string]struct {
		enc string
		env []string
	}{
		"a handshake":             {"dtls_srtp", []string{"MUX=yes"}},
		"a handshake, and checks": {"dtls_srtp", []string{"MUX=yes", "NAT=ice"}},
		"checks of plain media":   {"", []string{"MUX=yes", "NAT=ice"}},
		"checks of two ports":     {"srtp-mand", []string{"NAT=ice"}},
	} {
		t.Run(name, func(t *testing.T) { callBaresip(t, codec.PCMU, mediatest.FreePorts(t), c.enc, "call", c.env...) })
	}
}

// baresip speaks G.722 and Opus, calling and called.
func TestInteropWideband(t *testing.T) {
	if _, err := exec.LookPath("baresip"); err != nil {
		t.Skip("baresip is not installed")
	}
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, c := range []codec.Codec{codec.G722, codec.Opus} {
		for _, mode := range []string{"call", "answer"} {
			t.Run(c.String()+"/"+mode, func(t *testing.T) {
				if c == codec.Opus && !opus.Encodes {
					t.Skip("no libopus")
				}
				callBaresip(t, c, mediatest.FreePorts(t), "", mode)
			})
		}
	}
}

// callBaresip has a call with baresip, which is made with env besides.
func callBaresip(t *testing.T, in codec.Codec, port int, enc, mode string, env ...string) {
	dir := t.TempDir()
	tone, phone := filepath.Join(dir, "tone.wav"), filepath.Join(dir, "phone")
	writeTone(t, tone, in.Rate())
	script, err := filepath.Abs("../testdata/interop/phone.sh")
	if err != nil {
		t.Fatal(err)
	}
	number := strconv.Itoa(port)
	setup := exec.Command("bash", script, phone, "+15550100009", number, strconv.Itoa(port+2), tone, mode, enc)
	name, spoken := fmt.Sprintf("%v/%d/1", in, in.Rate()), []codec.Codec(nil)
	if in == codec.Opus {
		name, spoken = "opus/48000/2", []codec.Codec{codec.Opus, codec.PCMU}
	}
	setup.Env = append(os.Environ(), "CODECS="+name, fmt.Sprintf("RATE=%d", in.Rate()))
	setup.Env = append(setup.Env, env...)
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type result struct {
		heard []int16
		stats rtp.Stats
		err   error
	}
	results := make(chan result, 1)
	talk := func(ctx context.Context, leg *sip.Leg) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var r result
		r.err = conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 {
			if r.heard = append(r.heard, f.Samples...); len(r.heard) == 3*int(in.Rate()) {
				stop()
			}
			return f.Samples
		})
		r.stats = leg.Stats()
		results <- r
	}
	policy := sdp.SRTPOffered
	if enc == "srtp-mand" {
		policy = sdp.SRTPRequired // nothing but RTP/SAVP will do
	}
	ua := serve(t, sip.Config{SRTP: policy, Codecs: spoken, OnCall: func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		talk(ctx, leg)
	}})
	args := []string{"-f", phone, "-t", "30"}
	if mode == "call" {
		args = append(args, "-e", "/dial sip:+15550100002@"+ua.Addr().String())
	}
	cmd := exec.Command("baresip", args...)
	var words strings.Builder
	cmd.Stdout, cmd.Stderr = &words, &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill(); <-ended }()
	if mode == "answer" {
		var leg *sip.Leg
		eventually(t, "baresip answers", func() bool {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			leg, err = ua.Dial(ctx, sip.Target{URI: "sip:+15550100009@127.0.0.1:" + number, From: header.Identity{Number: "+15550100002"}})
			return err == nil
		})
		talk(t.Context(), leg)
	}
	r := wait(t, results, "end of the call")
	_ = cmd.Process.Signal(os.Interrupt)
	wait(t, ended, "end of baresip")
	if st := r.stats; r.err != nil || st.Encrypted != (enc != "") || !st.Latched.IsValid() || st.Refused > 5 { // it opens its port with a packet of its own
		t.Errorf("ended with %v, %+v\n%s", r.err, st, words.String())
	}
	checkTone(t, "we", r.heard, in.Rate())
	found, _ := filepath.Glob(filepath.Join(phone, "dump-*-dec.wav"))
	if len(found) != 1 {
		t.Fatalf("%d recordings\n%s", len(found), words.String())
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	clip, err := wav.Decode(f, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	checkTone(t, "baresip", clip.Samples, clip.Rate)
}

// checkTone checks that half a second of what was heard is the tone of 440 Hz, in
// pieces of 100 ms: a busy machine leaves frames out.
func checkTone(t *testing.T, who string, samples []int16, rate media.Rate) {
	t.Helper()
	const want = 5
	pieces, piece := 0, int(rate)/10
	for rest := samples; len(rest) >= piece; rest = rest[piece:] {
		if hz, level := mediatest.Peak(rest[:piece], rate); hz > 430 && hz < 450 && level > -20 {
			pieces++
		}
	}
	if pieces < want {
		t.Errorf("%s heard the tone for %d ms of %v", who, 100*pieces, rate.Duration(len(samples)).Duration())
	}
}

// writeTone makes a WAV file of a minute of 440 Hz.
func writeTone(t *testing.T, path string, rate media.Rate) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := wav.Encode(f, wav.Clip{Rate: rate, Samples: mediatest.Tone(440, rate, 60*int(rate), 0.5)}); err != nil {
		t.Fatal(err)
	}
}
