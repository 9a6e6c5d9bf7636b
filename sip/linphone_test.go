package sip_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/wav"
	"parley/sip"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

// linphone is the telephone of that name. It says a tone, and records what it hears to heard.wav.
type linphone struct {
	t     *testing.T
	dir   string // its home
	keys  io.WriteCloser
	ended chan struct{}
}

// newLinphone is a linphone at a port of UDP and TCP. It listens only when it can have a database in its home.
func newLinphone(t *testing.T, port int, encryption string) *linphone {
	p := &linphone{t: t, dir: t.TempDir(), ended: make(chan struct{})}
	config := fmt.Sprintf(`[sip]
sip_port=%[1]d
sip_tcp_port=%[1]d
sip_tls_port=0
bind_address=127.0.0.1
use_ipv6=0
ipv6_migration_done=1
guess_hostname=0
contact=<sip:%[3]s@127.0.0.1>
media_encryption=%[4]s

[rtp]
audio_rtp_port=%[2]d
rtcp_mux=1
`, port, port+2, number, encryption)
	words, err := os.Create(filepath.Join(p.dir, "words"))
	if err = errors.Join(err, os.WriteFile(filepath.Join(p.dir, "config"), []byte(config), 0o600), os.MkdirAll(filepath.Join(p.dir, ".local/share/linphone"), 0o700)); err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	writeTone(t, filepath.Join(p.dir, "tone.wav"), media.Rate16k)
	cmd := exec.Command("linphonec", "-c", "config")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(os.Environ(), "HOME="+p.dir), words, words
	p.keys, err = cmd.StdinPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.ended); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			words, _ := os.ReadFile(words.Name())
			t.Logf("linphone says:\n%s", words)
		}
	})
	eventually(t, "linphone listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	p.press("soundcard use files", "play tone.wav", "record heard.wav", "autoanswer enable")
	return p
}

// press types commands; a digit alone is a key of the telephone.
func (p *linphone) press(commands ...string) {
	p.t.Helper()
	for _, c := range commands {
		if _, err := io.WriteString(p.keys, c+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// quit ends the telephone, which has heard the tone.
func (p *linphone) quit() {
	p.t.Helper()
	p.press("quit")
	wait(p.t, p.ended, "end of the telephone")
	f, err := os.Open(filepath.Join(p.dir, "heard.wav"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	clip, err := wav.Decode(f, 1<<24)
	if err != nil {
		p.t.Fatal(err)
	}
	checkTone(p.t, "the telephone", clip.Samples, clip.Rate)
}

// A telephone of other hands calls and is called, presses a key, holds, is transferred, and hangs up and is hung up on.
func TestLinphone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("linphonec"); err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err) // deploy/install.sh has it
	} else if err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		network    string
		encryption string
		policy     sdp.Policy
	}{
		{"udp", "none", sdp.SRTPOff},
		{"tcp", "srtp", sdp.SRTPRequired},
		{"udp", "dtls", sdp.SRTPHandshake},
	} {
		t.Run(tt.network+" "+tt.encryption, func(t *testing.T) {
			calls := make(chan *echoCall, 1)
			port := mediatest.FreePorts(t)
			ua := serve(t, sip.Config{
				Trunks: []trunk.Config{{Name: "phone", SRTP: tt.policy, Flags: trunk.NoProbe, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)},
					Targets: []trunk.Target{{Host: "127.0.0.1", Port: uint16(port), Transport: tt.network}}}},
				OnCall: func(ctx context.Context, in *sip.Incoming) {
					leg, err := in.Answer(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					k := newEchoCall(leg)
					k.in = in
					calls <- k
					<-k.over
				}})
			newLinphone(t, port, tt.encryption).converse(ua, calls, tt.network, tt.policy != sdp.SRTPOff)
		})
	}
}

func (p *linphone) converse(ua *sip.UserAgent, calls <-chan *echoCall, network string, encrypted bool) {
	t := p.t
	p.press("call sip:+15550100002@" + ua.Addr().String() + ";transport=" + network)
	k := wait(t, calls, "call")
	k.hears(t, time.Second)
	if st := k.leg.Stats(); st.Encrypted != encrypted {
		t.Errorf("%+v", st)
	}
	p.press("5")
	if e := k.reports(t, media.LegDigit); e.Digit != '5' {
		t.Errorf("key %q", e.Digit)
	}
	p.press("pause")
	k.reports(t, media.LegHold)
	p.press("resume")
	k.reports(t, media.LegResume)
	k.hears(t, time.Second)
	other := k.transfer(t, calls, "+15550100003", ua.Addr().String()+";transport="+network)
	other.hears(t, time.Second)
	p.press("terminate")
	if err := wait(t, other.ended, "end by the telephone"); err != nil {
		t.Error(err)
	}

	leg, err := ua.Dial(t.Context(), sip.Target{Number: number})
	if err != nil {
		t.Fatal(err)
	}
	k = newEchoCall(leg)
	k.hears(t, time.Second)
	k.hangUp(t)
	p.quit()
}
