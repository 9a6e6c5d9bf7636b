package ice_test

import (
	"net/netip"
	"testing"

	"github.com/pion/stun/v4"

	"parley/media/ice"
)

var (
	far   = ice.Credentials{Ufrag: "far+", Password: "the/password/of/the/far"}
	here  = netip.MustParseAddrPort("127.0.0.1:4000")
	there = netip.MustParseAddrPort("[2001:db8::1]:4001")
)

// flag is an attribute without a value.
type flag stun.AttrType

func (f flag) AddTo(m *stun.Message) error {
	m.Add(stun.AttrType(f), nil)
	return nil
}

const (
	nominate    = flag(stun.AttrUseCandidate)
	controlled  = flag(stun.AttrICEControlled)
	controlling = flag(stun.AttrICEControlling)
)

// check is a connectivity check of the far end.
func check(local ice.Credentials, more ...stun.Setter) *stun.Message {
	list := append([]stun.Setter{stun.TransactionID, stun.BindingRequest, stun.NewUsername(local.Ufrag + ":" + far.Ufrag)}, more...)
	return stun.MustBuild(append(list, stun.NewShortTermIntegrity(local.Password), stun.Fingerprint)...)
}

func TestChecksAreAnswered(t *testing.T) {
	local := ice.NewCredentials()
	a := ice.New(local, far)
	for _, from := range []netip.AddrPort{here, there} {
		req := check(local, controlling)
		var res stun.Message
		if err := stun.Decode(a.Check(req.Raw, from), &res); err != nil {
			t.Fatal(err)
		}
		var mapped stun.XORMappedAddress
		if err := mapped.GetFrom(&res); err != nil || res.Type != stun.BindingSuccess || res.TransactionID != req.TransactionID {
			t.Errorf("%v %s", err, &res)
		}
		if got := netip.AddrPortFrom(netip.MustParseAddr(mapped.IP.String()), uint16(mapped.Port)); got != from {
			t.Errorf("mapped %s, sent from %s", got, from)
		}
		if stun.NewShortTermIntegrity(local.Password).Check(&res) != nil || stun.Fingerprint.Check(&res) != nil {
			t.Error("the response is not authentic")
		}
	}
}

// The far end is where its first check came from, until it nominates a way, and another one later.
func TestNomination(t *testing.T) {
	local := ice.NewCredentials()
	a := ice.New(local, far)
	if a.Address().IsValid() {
		t.Error("an address before any check")
	}
	for i, step := range []struct {
		req  *stun.Message
		from netip.AddrPort
		want netip.AddrPort
	}{
		{check(local), here, here},
		{check(local), there, here},
		{check(local, nominate), there, there},
		{check(local), here, there},
		{check(local, nominate), here, here},
	} {
		if a.Check(step.req.Raw, step.from) == nil {
			t.Errorf("check %d was not answered", i)
		}
		if got := a.Address(); got != step.want {
			t.Errorf("after check %d: %s", i, got)
		}
	}
}

// What is no check of the far end gets no answer and moves nothing.
func TestStrangersGetNoAnswer(t *testing.T) {
	local := ice.NewCredentials()
	a := ice.New(local, far)
	wrong := ice.Credentials{Ufrag: local.Ufrag, Password: "another password entirely"}
	garbled := check(local, nominate).Raw
	garbled[len(garbled)-1]++
	for name, b := range map[string][]byte{
		"empty":              nil,
		"no STUN":            []byte("\x00hello, I am no STUN message"),
		"another's name":     check(ice.Credentials{Ufrag: "abcdefgh", Password: local.Password}, nominate).Raw,
		"a wrong password":   check(wrong, nominate).Raw,
		"a wrong check sum":  garbled,
		"without a password": stun.MustBuild(stun.TransactionID, stun.BindingRequest, stun.NewUsername(local.Ufrag+":"+far.Ufrag), nominate, stun.Fingerprint).Raw,
		"a response":         stun.MustBuild(stun.TransactionID, stun.BindingSuccess, stun.NewShortTermIntegrity(local.Password), stun.Fingerprint).Raw,
	} {
		if a.Check(b, here) != nil {
			t.Errorf("%s: answered", name)
		}
	}
	if a.Address().IsValid() {
		t.Error("a stranger is the far end")
	}
}

// Two that are controlled would never nominate: the other one learns that we are.
func TestRoleConflict(t *testing.T) {
	local := ice.NewCredentials()
	a := ice.New(local, far)
	var res stun.Message
	var code stun.ErrorCodeAttribute
	if err := stun.Decode(a.Check(check(local, controlled).Raw, here), &res); err != nil {
		t.Fatal(err)
	}
	if err := code.GetFrom(&res); err != nil || code.Code != stun.CodeRoleConflict {
		t.Errorf("%v %s", err, &res)
	}
	if a.Address().IsValid() {
		t.Error("it counts as a check")
	}
}

// After a restart the old credentials are good for nothing, and media goes on until it is nominated elsewhere.
func TestRestart(t *testing.T) {
	old, fresh := ice.NewCredentials(), ice.NewCredentials()
	if old == fresh || !old.Valid() || !far.Valid() {
		t.Fatalf("%+v %+v", old, fresh)
	}
	a := ice.New(old, far)
	a.Check(check(old, nominate).Raw, here)
	a.Restart(fresh, far)
	if a.Check(check(old, nominate).Raw, there) != nil || a.Address() != here {
		t.Error("the old credentials are good for something")
	}
	if a.Check(check(fresh, nominate).Raw, there) == nil || a.Address() != there {
		t.Error("the new credentials are good for nothing")
	}
}

func TestCredentialsOfTheFarEnd(t *testing.T) {
	for _, bad := range []ice.Credentials{{}, {Ufrag: "abc", Password: far.Password}, {Ufrag: "abcd", Password: "short"}, {Ufrag: "ab:d", Password: far.Password}} {
		if bad.Valid() {
			t.Errorf("%+v", bad)
		}
	}
}

// Media may come from where the far end has checked, of late.
func TestPassed(t *testing.T) {
	local := ice.NewCredentials()
	a := ice.New(local, far)
	if a.Passed(here) {
		t.Error("somebody has passed before any check")
	}
	a.Check(check(local).Raw, here)
	a.Check(check(local).Raw, here)
	for port := range uint16(7) {
		a.Check(check(local).Raw, netip.AddrPortFrom(there.Addr(), 5000+port))
	}
	if !a.Passed(here) || !a.Passed(netip.AddrPortFrom(there.Addr(), 5006)) || a.Passed(there) {
		t.Error("who has checked is forgotten, or who has not has passed")
	}
	a.Check(check(local).Raw, there)
	if a.Passed(here) || !a.Passed(there) {
		t.Error("the oldest is not forgotten for a new one")
	}
}
