package sip_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The addresses of deploy/kamailio/keepalived.conf.
const (
	edgeAddr  = "203.0.113.5"
	firstEdge = "203.0.113.11"
	otherEdge = "203.0.113.12"
)

// Two machines with the files of deploy/kamailio, in which no address is another, are one edge: it moves when Kamailio dies on the
// machine that has the address, and when that machine is gone.
func TestEdgeAddressMoves(t *testing.T) {
	inNetworkOfItsOwn(t, moveEdgeAddress, "keepalived", "/usr/sbin/kamailio", "rtpengine", "bash", "ip", "nsenter")
}

func moveEdgeAddress(t *testing.T) {
	here, there := network{t, strconv.Itoa(os.Getpid())}, newNetwork(t)
	makeNetwork(t, []networkStep{
		{here, "ip link set lo up"},
		{here, "ip link add eth0 type veth peer name eth0 netns " + there.pid},
		{here, "ip address add " + firstEdge + "/24 dev eth0"},
		{here, "ip link set eth0 up"},
		{there, "ip link set lo up"},
		{there, "ip address add " + otherEdge + "/24 dev eth0"},
		{there, "ip link set eth0 up"},
	})
	answers := func() bool { // on this machine to check.sh's question, on the other one to a caller's
		conn := options(t, netip.MustParseAddr(firstEdge), netip.MustParseAddrPort(edgeAddr+":5060"))
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		var b [2000]byte
		n, err := conn.Read(b[:])
		return err == nil && bytes.HasPrefix(b[:n], []byte("SIP/2.0 "))
	}

	first := newEdgeMachine(t, here, func(conf string) string { return conf })
	eventually(t, "the first machine is the edge", func() bool { return first.holds() && answers() })
	other := newEdgeMachine(t, there, strings.NewReplacer(firstEdge, otherEdge, otherEdge, firstEdge, "edge1", "edge2").Replace)
	eventually(t, "the other one stands by", func() bool { return other.asked("stop") })

	group, err := strconv.Atoi(strings.TrimSpace(first.read("kamailio.pid")))
	if err == nil {
		err = syscall.Kill(-group, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other machine is the edge", func() bool { return other.holds() && !first.holds() && answers() })
	if !first.asked("stop") {
		t.Error("the first machine goes on relaying media")
	}
	other.cut()
	makeNetwork(t, []networkStep{{there, "ip address flush dev eth0"}})
	eventually(t, "the first machine is the edge again", func() bool { return first.holds() && answers() })
}

// edgeMachine has keepalived, which begins and ends Kamailio and rtpengine.
type edgeMachine struct {
	t       *testing.T
	network network
	dir     string
	cut     func() // keepalived is gone at once
}

// newEdgeMachine runs one in a network; change makes its own file of keepalived.conf.
func newEdgeMachine(t *testing.T, n network, change func(conf string) string) *edgeMachine {
	t.Helper()
	m := &edgeMachine{t: t, network: n, dir: t.TempDir()}
	at := netip.MustParseAddrPort(firstEdge + ":9")
	writeDispatcherList(t, m.dir, at, at, at.String(), at.Addr())
	files, err := filepath.Abs("../deploy/kamailio")
	if err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(files, "keepalived.conf"))
	if err != nil {
		t.Fatal(err)
	}
	// Programs in a directory that others may write to are not run by root.
	text := strings.NewReplacer("/etc/kamailio/check.sh", "/bin/bash "+files+"/check.sh", "/usr/bin/systemctl", "/bin/bash "+m.dir+"/systemctl").Replace(change(string(conf)))
	systemctl := fmt.Sprintf(`cd %s
echo "$1" >>asked
case $1 in
start)
	setsid rtpengine --config-file=%[2]s/rtpengine.conf >rtpengine.log 2>&1 &
	echo $! | tee -a all >rtpengine.pid
	setsid %[3]s -DD -f %[2]s/edge.cfg -w $PWD -Y $PWD -P $PWD/main -m 32 -M 4 >kamailio.log 2>&1 &
	echo $! | tee -a all >kamailio.pid
	;;
stop) kill $(cat *.pid) ;;
esac
`, m.dir, files, kamailioProgram(t))
	for name, text := range map[string]string{"keepalived.conf": text, "systemctl": systemctl, "asked": ""} {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := n.command("keepalived", "-t", "-f", filepath.Join(m.dir, "keepalived.conf")).CombinedOutput(); err != nil {
		t.Fatalf("keepalived.conf: %v\n%s", err, out)
	}
	t.Cleanup(func() { // keepalived has ended
		for pid := range strings.FieldsSeq(m.read("all")) {
			if group, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(-group, syscall.SIGKILL) // it is gone, most likely
			}
		}
		if t.Failed() {
			t.Logf("Kamailio:\n%s\nrtpengine:\n%s", m.read("kamailio.log"), m.read("rtpengine.log"))
		}
	})
	m.cut = runs(t, n.command("keepalived", "-n", "-l", "-f", filepath.Join(m.dir, "keepalived.conf"), "-p", filepath.Join(m.dir, "keepalived"), "-r", filepath.Join(m.dir, "vrrp"), "-c", filepath.Join(m.dir, "checkers")))
	return m
}

// read is a file of the machine, empty where it has none.
func (m *edgeMachine) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(m.dir, name))
	return string(text)
}

// asked says whether keepalived has asked for something of the services.
func (m *edgeMachine) asked(what string) bool { return strings.Contains(m.read("asked"), what+"\n") }

// holds says whether the machine has the edge's address.
func (m *edgeMachine) holds() bool {
	out, err := m.network.command("ip", "-o", "address", "show", "to", edgeAddr).Output()
	if err != nil {
		m.t.Fatal(err)
	}
	return len(out) > 0
}
