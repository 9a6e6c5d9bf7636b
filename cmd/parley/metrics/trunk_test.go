package metrics

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/rtpport"
	"parley/sip/trunk"
)

// What a trunk does, and what was refused, can be watched.
func TestTrunkMetrics(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	ports, err := rtpport.New(rtpport.Config{Addr: loopback, First: 29000, Last: 29009})
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	phone, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(loopback, 0), Ports: ports, Trunks: []trunk.Config{
		{Name: "carrier", Flags: trunk.Register, Auth: dialog.Credentials{Username: "u", Password: "hunter2"}, Targets: []trunk.Target{{Host: "127.0.0.1", Port: 9}}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- phone.Run(ctx) }()
	defer func() { stop(); <-ended }()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(trunkMetrics{phone})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, f := range families {
			text = append(text, f.String())
		}
		all := strings.Join(text, "\n")
		if strings.Contains(all, "hunter2") {
			t.Fatal("a password in the metrics")
		}
		missing := slices.DeleteFunc([]string{"parley_trunk_calls", "parley_trunk_target_up", "udp:127.0.0.1:9", "parley_trunk_registered"},
			func(s string) bool { return strings.Contains(all, s) })
		if len(missing) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no %v in\n%s", missing, all)
		}
	}
}
