package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/media"
	"parley/media/wav"
	"parley/sip"
	"parley/sip/rtpport"
	"parley/sip/trunk"
)

// The addresses of TestPhoneBehindNAT: ours and the translator's in one network, the phone's in another, which ours does not reach.
const (
	natServer  = "198.18.0.1"
	natOutside = "198.18.0.2"
	natInside  = "10.77.0.1"
	natPhone   = "10.77.0.2"
	natControl = "4444" // where the phone takes what is pressed

	natForgets = 4                      // seconds without a packet after which the translator closes a way
	natKeep    = 500 * time.Millisecond // between our keepalives, and between our probes
	natQuiet   = 9                      // keepalives or probes in a row, which take longer than that

	networkAlone = "PARLEY_TEST_NETWORK" // says that this process is in a network of its own
)

// A telephone of other hands whose Contact and media addresses are private, behind a translator that gives other ports and closes
// a way that is not used, calls and is called, holds, is transferred, and hangs up and is hung up on. The test runs itself in a network
// of its own, so nothing of it is on the machine's, and nothing stays when its processes have ended.
func TestPhoneBehindNAT(t *testing.T) {
	inNetworkOfItsOwn(t, callThroughNAT, "baresip", "python3", "ip", "iptables", "nsenter")
}

// inNetworkOfItsOwn has the test run itself again there, which is the scene. It wants these programs.
func inNetworkOfItsOwn(t *testing.T, scene func(*testing.T), tools ...string) {
	if os.Getenv(networkAlone) != "" {
		scene(t)
		return
	}
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "true" {
			t.Fatal(err) // deploy/install.sh has them all
		} else if err != nil {
			t.Skip(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), networkAlone+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.Process == nil:
		withoutNetwork(t, fmt.Errorf("a network namespace: %w", err))
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Skipf("%s", out)
	}
}

// withoutNetwork says why there is none: a container may forbid networks of one's own, or its kernel have none.
func withoutNetwork(t *testing.T, why error) {
	t.Helper()
	t.Skipf("no network can be made: %v", why)
}

func callThroughNAT(t *testing.T) {
	p := newHiddenPhone(t)
	calls := make(chan *echoCall, 1)
	here := netip.MustParseAddr(natServer)
	pool, err := rtpport.New(rtpport.Config{Addr: here, First: 20000, Last: 20099})
	if err != nil {
		t.Fatal(err)
	}
	ua := serve(t, sip.Keeping(sip.Config{Listen: netip.AddrPortFrom(here, 5060), Ports: pool, Probe: natKeep, Allow: func(a netip.Addr) bool { return a.String() == natOutside },
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
		}}, natKeep))
	uri := func(user string) string { return "sip:" + user + "@" + ua.Addr().String() }

	p.press("dial=" + uri("+15550100002"))
	k := wait(t, calls, "call")
	if at := k.in.Source; at.Addr().String() != natOutside || at.Port() < 40000 {
		t.Errorf("it calls from %s", at)
	}
	k.hears(t, time.Second)
	p.press("hold")
	k.reports(t, media.LegHold)
	p.asked(natQuiet) // the way of the audio is closed by then
	p.press("resume")
	k.reports(t, media.LegResume)
	k.hears(t, (natForgets+1)*time.Second) // and that of the signalling would be
	k.hangUp(t)

	p.press("dial=" + uri("+15550100002"))
	k = wait(t, calls, "second call")
	k.hears(t, time.Second)
	other := k.transfer(t, calls, "+15550100003", ua.Addr().String())
	other.hears(t, time.Second)
	p.press("hangup")
	if err := wait(t, other.ended, "end by the phone"); err != nil {
		t.Error(err)
	}

	// Where its calls come from is what a registration would say. Probes keep that way open.
	at := other.in.Source
	ua.SetTrunks([]trunk.Config{{Name: "phone", Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}, Allow: []netip.Prefix{netip.PrefixFrom(at.Addr(), 32)}}})
	p.asked(natQuiet)
	leg, err := ua.Dial(t.Context(), sip.Target{Number: number})
	if err != nil {
		t.Fatal(err)
	}
	k = newEchoCall(leg)
	k.hears(t, time.Second)
	p.press("transfer=" + uri("+15550100003")) // we alone ask for that: it is refused, and hangs up
	if err := wait(t, k.ended, "end by the phone"); err != nil || !strings.Contains(p.words(), "SIP/2.0 603 ") {
		t.Errorf("after its REFER the call ended with %v", err)
	}
	p.quit()
}

// hiddenPhone is a baresip behind a translator.
type hiddenPhone struct {
	t       *testing.T
	network network
	dir     string
	ended   chan error
	process *os.Process
}

func newHiddenPhone(t *testing.T) *hiddenPhone {
	p := &hiddenPhone{t: t, network: behindNAT(t), dir: filepath.Join(t.TempDir(), "phone"), ended: make(chan error, 1)}
	tone := filepath.Join(filepath.Dir(p.dir), "tone.wav")
	writeTone(t, tone, media.Rate8k)
	setup := exec.Command("bash", "../testdata/interop/phone.sh", p.dir, number, "5060", natControl, tone, "answer")
	setup.Env = append(os.Environ(), "ADDR="+natPhone)
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	words, err := os.Create(filepath.Join(p.dir, "words"))
	if err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	cmd := p.network.command("baresip", "-s", "-f", p.dir, "-t", "120")
	cmd.Stdout, cmd.Stderr = words, words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.process = cmd.Process
	over := make(chan struct{})
	go func() { defer close(over); p.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.process.Kill()
		<-over
		if t.Failed() {
			t.Logf("the phone says:\n%s", p.words())
		}
	})
	eventually(t, "baresip is ready", func() bool { return strings.Contains(p.words(), "baresip is ready") })
	return p
}

func (p *hiddenPhone) words() string {
	b, err := os.ReadFile(filepath.Join(p.dir, "words"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// press does on the phone what ctl.py calls step.
func (p *hiddenPhone) press(step string) {
	p.t.Helper()
	out, err := p.network.command("python3", "../testdata/interop/baresip/ctl.py", natControl, step).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
}

// asked waits until the phone was asked n more times whether it is there.
func (p *hiddenPhone) asked(n int) {
	p.t.Helper()
	count := func() int { return strings.Count(p.words(), "OPTIONS sip:") }
	want := count() + n
	eventually(p.t, "the phone is asked whether it is there", func() bool { return count() >= want })
}

// quit ends the phone, which has heard the tone in each of its calls.
func (p *hiddenPhone) quit() {
	p.t.Helper()
	_ = p.process.Signal(os.Interrupt) // it may have ended
	if err := wait(p.t, p.ended, "end of baresip"); err != nil {
		p.t.Log(err)
	}
	found, _ := filepath.Glob(filepath.Join(p.dir, "dump-*-dec.wav"))
	if len(found) != 4 {
		p.t.Errorf("%d recordings", len(found))
	}
	for _, path := range found {
		f, err := os.Open(path)
		if err != nil {
			p.t.Fatal(err)
		}
		clip, err := wav.Decode(f, 1<<24)
		f.Close()
		if err != nil {
			p.t.Fatal(err)
		}
		checkTone(p.t, "the phone", clip.Samples, clip.Rate)
	}
}

// network is a network namespace without a name, which is gone with the last process in it.
type network struct {
	t   *testing.T
	pid string // of a process that is there until the test ends
}

func newNetwork(t *testing.T) network {
	cmd := exec.Command("cat") // until its input ends, at the latest with this process
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	stay, err := cmd.StdinPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		withoutNetwork(t, err)
	}
	t.Cleanup(func() {
		stay.Close()
		_ = cmd.Wait()
	})
	return network{t, strconv.Itoa(cmd.Process.Pid)}
}

// command is a program that runs there.
func (n network) command(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=/proc/" + n.pid + "/ns/net", "--"}, args...)...)
}

// behindNAT is a network that a translator connects with that of this process.
func behindNAT(t *testing.T) network {
	here := network{t, strconv.Itoa(os.Getpid())}
	router, phone := newNetwork(t), newNetwork(t)
	makeNetwork(t, []networkStep{
		{here, "ip link set lo up"},
		{here, "ip link add out type veth peer name out netns " + router.pid},
		{here, "ip address add " + natServer + "/30 dev out"},
		{here, "ip link set out up"},
		{router, "ip address add " + natOutside + "/30 dev out"},
		{router, "ip link set out up"},
		{router, "ip link add in type veth peer name in netns " + phone.pid},
		{router, "ip address add " + natInside + "/24 dev in"},
		{router, "ip link set in up"},
		{router, "echo 1 > /proc/sys/net/ipv4/ip_forward"},
		{router, "iptables -t nat -A POSTROUTING -o out -p udp -j MASQUERADE --to-ports 40000-49999 --random"},
		{router, "iptables -A INPUT -i out -j DROP"}, // what has no way inside hears nothing
		{router, fmt.Sprintf("echo %d > /proc/sys/net/netfilter/nf_conntrack_udp_timeout", natForgets)},
		{router, fmt.Sprintf("echo %d > /proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream", natForgets)},
		{phone, "ip link set lo up"},
		{phone, "ip address add " + natPhone + "/24 dev in"},
		{phone, "ip link set in up"},
		{phone, "ip route add default via " + natInside},
	})
	return phone
}

// networkStep is a command by which a network is made.
type networkStep struct {
	in   network
	line string
}

func makeNetwork(t *testing.T, steps []networkStep) {
	t.Helper()
	for _, step := range steps {
		if out, err := step.in.command("sh", "-c", step.line).CombinedOutput(); err != nil {
			withoutNetwork(t, fmt.Errorf("%s: %w: %s", step.line, err, out))
		}
	}
}
