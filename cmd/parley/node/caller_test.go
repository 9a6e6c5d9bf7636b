package node

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/cmd/parley/config"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/storetest"
)

// dialogue is a caller made of text, over UDP.
type dialogue struct {
	*testing.T
	conn net.Conn
	tag  string
	id   string // of the call, beside the test's name
}

// send sends a request of the call with its number in the sequence.
func (d *dialogue) send(method string, seq int, headers, body string) {
	d.Helper()
	to := "<sip:" + deskNumber + "@127.0.0.1>" + d.tag
	_, err := fmt.Fprintf(d.conn, "%s sip:%s@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%s%d;rport\r\n%sTo: %s\r\nCall-ID: %s\r\nCSeq: %d %s\r\nContact: <sip:ann@%s>\r\nMax-Forwards: 70\r\nContent-Length: %d\r\n\r\n%s",
		method, deskNumber, d.conn.LocalAddr(), method, seq, headers, to, strings.ReplaceAll(d.Name()+d.id, " ", ""), seq, method, d.conn.LocalAddr(), len(body), body)
	if err != nil {
		d.Fatal(err)
	}
}

// answer waits for a response to a method.
func (d *dialogue) answer(status string) string {
	d.Helper()
	b := make([]byte, 4096)
	_ = d.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		n, err := d.conn.Read(b)
		if err != nil {
			d.Fatal(err)
		}
		if text := string(b[:n]); strings.HasPrefix(text, "SIP/2.0 "+status) {
			return text
		}
	}
}

// TestCallWithoutACK: it hears nothing, costs nothing and was never answered; what its
// From says of itself counts for nothing, because no trunk vouches for it.
func TestCallWithoutACK(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rtp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	d.ok(err)
	defer rtp.Close()
	caller := d.rings()
	who := "From: <sip:+34911111111;verstat=TN-Validation-Passed@127.0.0.1>;tag=ours\r\n"
	caller.send("INVITE", 1, who+"P-Asserted-Identity: <sip:+34922222222@127.0.0.1>\r\nContent-Type: application/sdp\r\n",
		fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n", rtp.LocalAddr().(*net.UDPAddr).Port))
	res := caller.answer("200")
	_, rest, _ := strings.Cut(res, "To: ")
	_, caller.tag, _ = strings.Cut(strings.SplitN(rest, "\r\n", 2)[0], ">")
	caller.answer("200") // said again: half a second without an ACK
	_ = rtp.SetReadDeadline(time.Now().Add(time.Millisecond))
	if size, err := rtp.Read(make([]byte, 2000)); err == nil {
		t.Errorf("%d bytes of media before the ACK", size)
	}
	caller.send("BYE", 2, who, "")
	call := d.over()
	if call.StartedAt != nil || call.Cost != 0 || call.From != "+34911111111" || call.Verstat != nil {
		t.Errorf("%+v", call)
	}
}

// TestHeadersOfACaller: what a call's INVITE says is kept with the call, and who the caller is where the trunk is believed.
func TestHeadersOfACaller(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string]trunk.Flags{"believed": 0, "not believed": trunk.DistrustIdentity} {
		t.Run(name, func(t *testing.T) {
			d := deskWith(t, storetest.URL(t), func(c *config.Config) {
				c.Trunks = []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.6/32")}, Flags: flags, Headers: map[string]string{"X-Token": "5ec2e7"}}}
			})
			caller := d.ringsFrom("127.0.0.6")
			who := "From: <sip:+34911111111@127.0.0.1>;tag=ours\r\n"
			caller.send("INVITE", 1, who+"P-Asserted-Identity: \"Bob\" <sip:+34922222222@127.0.0.1;verstat=TN-Validation-Passed>\r\nP-Attestation-Indicator: B\r\nP-Origination-ID: here\r\n"+
				"X-Customer-ID: 42\r\nX-Token: 5ec2e7\r\nUser-to-User: 4f726465722031;encoding=hex\r\nDiversion: <sip:+34933333333@127.0.0.1>;reason=no-answer\r\nContent-Type: application/sdp\r\n",
				"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 39996 RTP/AVP 0\r\n")
			res := caller.answer("200")
			_, rest, _ := strings.Cut(res, "To: ")
			_, caller.tag, _ = strings.Cut(strings.SplitN(rest, "\r\n", 2)[0], ">")
			caller.send("BYE", 2, who, "")
			call := d.over()
			if want := map[string]string{"X-Customer-Id": "42", "User-to-User": "Order 1"}; !maps.Equal(call.Headers, want) {
				t.Errorf("headers %v, want %v", call.Headers, want)
			}
			if o := call.Origin; o == nil || o.DivertedBy != "+34933333333" || o.FirstCalled != "+34933333333" || len(o.Diversions) != 1 || o.Diversions[0].Reason != "no-answer" {
				t.Fatalf("origin %+v", o)
			}
			if believed := flags == 0; (call.Attestation != nil && *call.Attestation == "B") != believed || (call.Verstat != nil) != believed || (call.Origin.OrigID == "here") != believed ||
				(call.From == "+34922222222") != believed {
				t.Errorf("%+v, origin %+v", call, call.Origin)
			}
		})
	}
}

// rings is a caller of the desk.
func (d *desk) rings() *dialogue {
	d.Helper()
	return d.ringsFrom("127.0.0.1")
}

// ringsFrom is one at an address of this machine.
func (d *desk) ringsFrom(source string) *dialogue {
	d.Helper()
	from := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(source)}}
	conn, err := from.Dial("udp", d.node.phone.Addr().String())
	d.ok(err)
	d.Cleanup(func() { conn.Close() })
	return &dialogue{T: d.T, conn: conn}
}

// over waits for the end of the desk's one call.
func (d *desk) over() (call history.Call) {
	d.Helper()
	for end := time.Now().Add(30 * time.Second); call.EndedAt == nil; {
		if time.Now().After(end) {
			d.Fatal("the call never ended")
		}
		list, err := history.New(d.node.db).Calls(d.Context(), d.who.Account, history.CallPage{Page: store.Page{Limit: 10}})
		d.ok(err)
		if len(list) == 1 {
			call = list[0]
		}
	}
	return call
}

// TestHangUpWhileItRings: a call that comes in can be hung up before it is answered.
func TestHangUpWhileItRings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	caller := d.rings()
	caller.send("INVITE", 1, "From: <sip:+34911111111@127.0.0.1>;tag=ours\r\nContent-Type: application/sdp\r\n",
		"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 39998 RTP/AVP 0\r\n")
	caller.answer("180")
	list, err := history.New(d.node.db).Calls(t.Context(), d.who.Account, history.CallPage{Page: store.Page{Limit: 10}})
	d.ok(err)
	if len(list) != 1 {
		t.Fatalf("%d calls ring", len(list))
	}
	d.ok(d.node.cluster.Hangup(t.Context(), d.who.Account, list[0].ID))
	caller.answer("480")
	if call := d.over(); call.StartedAt != nil || call.EndReason == nil || *call.EndReason != "api_hangup" {
		t.Errorf("%+v", call)
	}
}

// eventually waits for what happens by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
