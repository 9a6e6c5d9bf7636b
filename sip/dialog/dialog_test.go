package dialog

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"

	gosip "github.com/emiago/sipgo/sip"
)

// A dialog that is stored and resumed elsewhere goes on where it was: the same tags, route
// set and target, the next CSeq.
func TestStateIsStoredAndResumed(t *testing.T) {
	uri := func(text string) (u URI) {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	d := Dialog{State: State{CallID: "a", LocalTag: "l", RemoteTag: "r", Local: uri("sip:+15550100002@parley.test"), Remote: uri("tel:+1-555-0100"),
		LocalSeq: 7, RemoteSeq: 3, HasRemoteSeq: true, Target: uri("sip:ann@192.0.2.7:5070;transport=tcp"), Routes: []URI{uri("sip:edge.test;lr"), uri("sip:192.0.2.9;lr")},
		Transport: "TCP", Secure: true, Self: netip.MustParseAddrPort("192.0.2.1:5060"), Home: netip.MustParseAddr("192.0.2.9"),
		Peer: netip.MustParseAddrPort("192.0.2.9:40000"), Detour: true, Named: Named{To: "edge.test:0", Transport: "TCP", At: netip.MustParseAddrPort("192.0.2.9:5060")}}}
	stored, err := json.Marshal(d.State)
	if err != nil {
		t.Fatal(err)
	}
	var resumed Dialog
	if err := json.Unmarshal(stored, &resumed.State); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(resumed.State); err != nil || string(again) != string(stored) {
		t.Errorf("stored as %s, and again as %s: %v", stored, again, err)
	}
	one, two := d.Request(gosip.BYE), resumed.Request(gosip.BYE)
	for _, name := range []string{"From", "To", "Call-ID", "CSeq", "Route"} {
		values := func(m *gosip.Request) (list []string) {
			for _, h := range m.GetHeaders(name) {
				list = append(list, h.Value())
			}
			return list
		}
		if got, want := values(two), values(one); len(want) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if two.CSeq().SeqNo != 8 || two.Recipient.String() != "sip:ann@192.0.2.7:5070;transport=tcp" {
		t.Errorf("%s with CSeq %d", two.Recipient.String(), two.CSeq().SeqNo)
	}
}
