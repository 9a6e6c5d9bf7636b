package config

import (
	"net/netip"
	"testing"
)

// TestAdvertised: others are told an address that leads to the node, and never one that is everywhere.
func TestAdvertised(t *testing.T) {
	t.Parallel()
	addrs := func(list ...string) (all []netip.Addr) {
		for _, a := range list {
			all = append(all, netip.MustParseAddr(a))
		}
		return all
	}
	machine := addrs("127.0.0.1", "::1", "fe80::1", "2001:db8::7", "10.0.0.7", "10.0.0.8")
	for _, c := range []struct {
		env       []string
		listening string
		machine   []netip.Addr
		want      string
	}{
		{nil, "[::]:8080", machine, "10.0.0.7:8080"},
		{nil, ":8080", addrs("::1", "2001:db8::7"), "[2001:db8::7]:8080"},
		{nil, "0.0.0.0:8080", addrs("127.0.0.1", "::1"), "127.0.0.1:8080"},
		{nil, "10.0.0.8:8080", machine, "10.0.0.8:8080"},
		{nil, "node.example:8080", machine, "node.example:8080"},
		{[]string{"PARLEY_PUBLIC_IP=203.0.113.5"}, "[::]:8080", machine, "203.0.113.5:8080"},
		{[]string{"PARLEY_PUBLIC_IP=203.0.113.5"}, "127.0.0.1:8080", machine, "127.0.0.1:8080"},
		{[]string{"PARLEY_ADVERTISE=node-1.example:443"}, "[::]:8080", machine, "node-1.example:443"},
	} {
		cfg, _, err := Load(Sources{Env: c.env})
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Advertised(c.listening, c.machine); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.env, c.listening, got, c.want)
		}
	}
	for _, wrong := range []string{":8080", "0.0.0.0:8080", "[::]:8080", "10.0.0.7", "10.0.0.7:0"} {
		if _, _, err := Load(Sources{Env: []string{"PARLEY_ADVERTISE=" + wrong}}); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
