package trunk

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestPublished: each carrier has networks of its own that are well formed, none of them wider than any carrier has, and the text
// that people read names them all.
func TestPublished(t *testing.T) {
	of := map[string]netip.Addr{"twilio": netip.MustParseAddr("54.171.127.195"), "telnyx": netip.MustParseAddr("185.246.41.141"), "teams": netip.MustParseAddr("52.123.255.254")}
	for name, one := range of {
		all, ok := Published(name)
		if !ok || !strings.Contains(Carriers, name) || !slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(one) }) {
			t.Errorf("%s does not call from %s: %v", name, one, all)
		}
		for i, p := range all {
			if p != p.Masked() || TooWide(p) || slices.ContainsFunc(all[i+1:], p.Overlaps) {
				t.Errorf("%s: %s", name, p)
			}
		}
		all[0] = netip.Prefix{}
		if again, _ := Published(name); !again[0].IsValid() {
			t.Errorf("a caller has changed the networks of %s", name)
		}
	}
	if _, ok := Published("nobody"); ok || len(published) != len(of) {
		t.Error("nobody has networks")
	}
}
