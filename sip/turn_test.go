package sip_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/trunk"
)

// shared is a user agent beside others, which has a trunk to c that registers.
func shared(t *testing.T, c *callee) (ua *sip.UserAgent, stop func()) {
	t.Helper()
	return start(t, sip.Config{SharedTrunks: true, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()},
		Auth: dialog.Credentials{Username: "account", Password: "x"}, Flags: trunk.Register | trunk.NoProbe}}})
}

const former = "sip:account@192.0.2.9:5060"

// TestRegistrationTakenOver: it registers when it is its turn, and then takes back what another had registered there; when
// its turn is over it shows how the other's stands, and leaves the registrar alone.
func TestRegistrationTakenOver(t *testing.T) {
	c := newCallee(t)
	ua, stop := shared(t, c)
	ua.Registers(map[string]trunk.Turn{"carrier": {Theirs: trunk.Registration{Registered: true, Contact: former}}})
	if r := ua.Trunks()[0].Registration; !r.Registered || r.Contact != former {
		t.Errorf("of another it shows %+v", r)
	}
	ours := map[string]trunk.Turn{"carrier": {Ours: true, Former: former}}
	ua.Registers(ours)
	contact := c.expect("REGISTER").Contact().Value()
	ua.Registers(ours) // it is still its turn
	c.answer("REGISTER", 200, "x", "", "Contact: "+contact, "Contact: <"+former+">;expires=7")
	last := c.expect("REGISTER")
	if got := last.Contact().Value(); !strings.Contains(got, "<"+former+">") || last.GetHeader("Expires").Value() != "0" || last.CSeq().SeqNo != 2 {
		t.Errorf("after the first REGISTER comes\n%s", last)
	}
	if r := ua.Trunks()[0].Registration; !r.Registered || r.Attempts != 1 || r.Former != former || !strings.Contains(contact, r.Contact) {
		t.Errorf("before the other's is taken back it shows %+v", r)
	}
	c.answer("REGISTER", 200, "x", "", "Contact: "+contact)
	eventually(t, "what stood there is taken back", func() bool { return ua.Trunks()[0].Registration.Former == "" })

	ua.Registers(map[string]trunk.Turn{"carrier": {Theirs: trunk.Registration{Error: "theirs"}}})
	if r := ua.Trunks()[0].Registration; r.Registered || r.Error != "theirs" {
		t.Errorf("afterwards it shows %+v", r)
	}
	stop()
	conn, err := net.Dial("udp", c.conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "the end")
	b := make([]byte, 8000)
	if n, _, err := c.conn.ReadFromUDPAddrPort(b); err != nil || string(b[:n]) != "the end" {
		t.Errorf("the registrar hears, when it is another's turn: %s, %v", b[:n], err)
	}
}

// TestRegistrarWithOneContact: where another's registration has gone it is not taken back, for that might be ours.
func TestRegistrarWithOneContact(t *testing.T) {
	c := newCallee(t)
	ua, stop := shared(t, c)
	ua.Registers(map[string]trunk.Turn{"carrier": {Ours: true, Former: former}})
	contact := c.expect("REGISTER").Contact().Value()
	c.answer("REGISTER", 200, "x", "", "Contact: "+contact)
	eventually(t, "registered", func() bool { r := ua.Trunks()[0].Registration; return r.Registered && r.Former == "" })
	left := make(chan struct{})
	go func() {
		defer close(left)
		last := c.expect("REGISTER")
		if got := last.Contact().Value(); strings.Contains(got, former) || last.GetHeader("Expires").Value() != "0" {
			t.Errorf("the next REGISTER is\n%s", last)
		}
		c.answer("REGISTER", 200, "x", "")
	}()
	stop()
	<-left
}
