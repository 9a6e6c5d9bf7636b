package destination_test

import (
	"errors"
	"strings"
	"testing"

	"parley/billing/destination"
)

// TestAddresses: an address is kept in one form; one that is none, or bypasses the rules of telephone numbers, is refused in words.
func TestAddresses(t *testing.T) {
	for s, want := range map[string]destination.Address{
		"sip:200@pbx.example.com":                        {User: "200", Host: "pbx.example.com"},
		" SIP:Lola.Flores@PBX.example.com:5070 ":         {User: "Lola.Flores", Host: "pbx.example.com", Port: 5070},
		"sip:*97@192.0.2.7;transport=TCP":                {User: "*97", Host: "192.0.2.7", Transport: "tcp"},
		"sip:sales@[2001:DB8::7]:5061;transport=tls":     {User: "sales", Host: "2001:db8::7", Port: 5061, Transport: "tls"},
		"sip:100@pbx.example.com":                        {User: "100", Host: "pbx.example.com"}, // no emergency number everywhere
		"sip:123456@pbx":                                 {User: "123456", Host: "pbx"},
		"sip:ward-3@hospital.example.com;transport=udp ": {User: "ward-3", Host: "hospital.example.com", Transport: "udp"},
	} {
		got, err := destination.ParseAddress(s)
		if err != nil || got != want || !destination.IsAddress(got.String()) {
			t.Errorf("%q is %+v, %v; want %+v", s, got, err, want)
			continue
		}
		if again, err := destination.ParseAddress(got.String()); err != nil || again != want {
			t.Errorf("%q is kept as %q, which is %+v, %v", s, got, again, err)
		}
	}
	for s, want := range map[string]string{
		"": "not a SIP address", "sip:": "not a SIP address", "200@pbx.example.com": "not a SIP address", "sips:200@pbx.example.com": "not a SIP address",
		"sip:pbx.example.com": "not a SIP address", "sip:@pbx.example.com": "not a SIP address", "sip:200@": "not a SIP address", "sip:200@pbx..": "not a SIP address",
		"sip:200:secret@pbx": "not a SIP address", "sip:200@pbx:0": "not a SIP address", "sip:200@pbx:65536": "not a SIP address", "sip:200@[::g]": "not a SIP address",
		"sip:200@pbx;transport=ws": "not a SIP address", "sip:200@pbx;maddr=192.0.2.1": "not a SIP address", "sip:200@pbx?Replaces=x": "not a SIP address",
		"sip:200@pbx>\r\nX: 1": "not a SIP address", "sip:2 00@pbx": "not a SIP address", "sip:" + strings.Repeat("a", 65) + "@pbx": "not a SIP address",
		"sip:200@" + strings.Repeat("a", 300): "not a SIP address", "sip:a%20b@pbx": "not a SIP address",
		"sip:+34911234567@pbx": "Write the number alone", "sip:0034-911-234-567@pbx": "Write the number alone", "sip:911234567@pbx": "Write the number alone", "sip:+1@pbx": "Write the number alone",
	} {
		if got, err := destination.ParseAddress(s); !errors.Is(err, destination.ErrInvalid) || !strings.Contains(err.Error(), want) || got != (destination.Address{}) {
			t.Errorf("%q is %+v, %v; want %q", s, got, err, want)
		}
	}
	for _, s := range []string{"sip:112@pbx", "sip:911@pbx", "sip:+112@pbx"} {
		if _, err := destination.ParseAddress(s); !errors.Is(err, destination.ErrEmergency) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestEmergencyOfAnExchange: short numbers are what they are where the exchange is.
func TestEmergencyOfAnExchange(t *testing.T) {
	for _, tt := range []struct {
		user, country string
		want          bool
	}{{"100", "BE", true}, {"100", "ES", false}, {"100", "", false}, {"061", "ES", true}, {"0.61", "ES", true}, {"999", "GB", true}, {"lola", "GB", false}} {
		if got := (destination.Address{User: tt.user}).EmergencyIn(tt.country); got != tt.want {
			t.Errorf("%s in %q: %t", tt.user, tt.country, got)
		}
	}
}
