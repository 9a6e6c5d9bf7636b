package trunk

import (
	"net/netip"
	"slices"
	"testing"
)

func names(trunks []*Trunk) (all []string) {
	for _, t := range trunks {
		all = append(all, t.Name)
	}
	return all
}

// A call goes out on the trunk of its number, and without one on the operator's: never on another account's.
func TestTrunksOfAccounts(t *testing.T) {
	somewhere := []Target{{Host: "192.0.2.1"}}
	set := NewSet([]Config{
		{Name: "open", Targets: somewhere},
		{Name: "listed", Targets: somewhere, Numbers: []string{"+1"}},
		{Name: "theirs", Account: "a", Targets: somewhere},
		{Name: "inbound", Account: "b"},
	}, Options{})
	for from, want := range map[Caller][]string{
		{"", "+1"}:        {"listed", "open"},
		{"", "+2"}:        {"open"},
		{"theirs", "+1"}:  {"theirs"},
		{"theirs", "+9"}:  {"theirs"},
		{"inbound", "+1"}: nil,
		{"gone", "+1"}:    nil,
	} {
		if got := names(set.For(from)); !slices.Equal(got, want) {
			t.Errorf("from %v: %v, want %v", from, got, want)
		}
	}
}

// A source belongs to the narrowest networks around it, and to the servers of trunks that register.
func TestSourcesOfTrunks(t *testing.T) {
	nets := func(list ...string) (all []netip.Prefix) {
		for _, s := range list {
			all = append(all, netip.MustParsePrefix(s))
		}
		return all
	}
	set := NewSet([]Config{
		{Name: "wide", Allow: nets("192.0.2.0/24", "2001:db8::/32")},
		{Name: "host", Allow: nets("192.0.2.7/32", "192.0.2.0/25")},
		{Name: "registers"},
		{Name: "twin", Allow: nets("192.0.2.99/25")},
		{Name: "account", Account: "a", Allow: nets("192.0.2.8/32", "203.0.113.0/24")},
	}, Options{})
	servers := func(hosts ...string) {
		var all []netip.Addr
		for _, h := range hosts {
			all = append(all, netip.MustParseAddr(h))
		}
		set.reached.set(set.Named("registers"), all)
	}
	check := func(want map[string][]string) {
		t.Helper()
		for from, wanted := range want {
			if got := names(set.AllOf(netip.MustParseAddr(from))); !slices.Equal(got, wanted) {
				t.Errorf("%s: %v, want %v", from, got, wanted)
			}
		}
	}
	servers("192.0.2.7", "192.0.2.200", "198.51.100.1")
	check(map[string][]string{
		"192.0.2.7": {"host", "registers"}, "192.0.2.8": {"host", "twin"}, "192.0.2.200": {"registers"}, "192.0.2.201": {"wide"},
		"203.0.113.9":  {"account"}, // 192.0.2.8 is the operator's
		"198.51.100.1": {"registers"}, "198.51.100.2": nil, "2001:db8::1": {"wide"}, "2001:db9::1": nil,
	})
	servers("198.51.100.2")
	check(map[string][]string{"198.51.100.1": nil, "198.51.100.2": {"registers"}, "192.0.2.7": {"host"}})
	set.Replace(nil)
	check(map[string][]string{"198.51.100.2": nil, "192.0.2.8": nil})
}
