package preset_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/api/trunks/preset"
	"parley/api/wire"
)

// settings are the names of the settings of a trunk.
func settings(t *testing.T) (names []string, presets []string) {
	t.Helper()
	for _, typ := range []reflect.Type{reflect.TypeFor[wire.TrunkSettings](), reflect.TypeFor[wire.NewTrunk]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
			if name == "preset" {
				presets = strings.Split(typ.Field(i).Tag.Get("enum"), ",")
			}
		}
	}
	return names, presets
}

var mark = regexp.MustCompile(`[{}]`)

// TestData: the interface takes the names that there are; a preset needs settings that a trunk has, says where it comes from, and
// leaves nothing to fill in.
func TestData(t *testing.T) {
	known, named := settings(t)
	var names []string
	for _, p := range preset.Shown(preset.Server{Host: "voice.example.com"}) {
		names = append(names, p.Name)
		for _, n := range p.Needs {
			if !slices.Contains(known, n) {
				t.Errorf("%s needs %s", p.Name, n)
			}
		}
		if p.Title == "" || p.Summary == "" || len(p.FarEnd) == 0 || len(p.Sources) == 0 || (p.State == preset.Tried) != (p.Tried != "") {
			t.Errorf("%+v", p)
		}
		if text := strings.Join(p.FarEnd, " "); mark.MatchString(strings.ReplaceAll(text, "${EXTEN}", "")) || !strings.Contains(text, "voice.example.com") && p.Settings.Register == nil && p.Name != "teams" {
			t.Errorf("%s has one enter %q", p.Name, text)
		}
	}
	if !slices.Equal(names, named) {
		t.Errorf("there are %q, the interface takes %q", names, named)
	}
}

// TestUnder: what is sent counts before the preset, switches that are off too; what a caller changes is its own.
func TestUnder(t *testing.T) {
	off := false
	s := preset.Under(wire.TrunkSettings{Preset: "3cx", Register: &off, NumberForm: "plain", Username: "me"})
	if *s.Register || s.NumberForm != "plain" || s.Username != "me" || s.DTMF != "events" || s.Preset != "3cx" || *s.TrustIdentity {
		t.Errorf("%+v", s)
	}
	s.Codecs[0] = "none"
	again := preset.Under(wire.TrunkSettings{Preset: "3cx"})
	if !*again.Register || again.Codecs[0] != "PCMU" {
		t.Errorf("%+v", again)
	}
	if plain := preset.Under(wire.TrunkSettings{Username: "me"}); plain.Username != "me" || plain.Codecs != nil {
		t.Errorf("%+v", plain)
	}
}

// TestQuestions: a carrier that brings calls without SIP is told where to ask about them.
func TestQuestions(t *testing.T) {
	for want, here := range map[string]preset.Server{
		"https://voice.example.com/api/hooks/streams/trk_1,": {Base: "https://voice.example.com/api", Host: "192.0.2.1"},
		"https://192.0.2.1/hooks/streams/trk_1,":             {Host: "192.0.2.1"},
	} {
		if text := strings.Join(preset.FarEnd("trk_1", &wire.TrunkSettings{Preset: "twilio-stream"}, here), " "); !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// TestPhones: a page is told where to connect.
func TestPhones(t *testing.T) {
	for want, here := range map[string]preset.Server{
		"wss://voice.example.com/api/ws/sip,": {Base: "https://voice.example.com/api", Host: "192.0.2.1"},
		"ws://127.0.0.1:8080/ws/sip,":         {Base: "http://127.0.0.1:8080", Host: "127.0.0.1"},
		"wss://192.0.2.1/ws/sip,":             {Host: "192.0.2.1"},
	} {
		if text := strings.Join(preset.FarEnd("trk_1", &wire.TrunkSettings{Preset: "browser-phone"}, here), " "); !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// TestFlow: a picture shows what the settings lead to.
func TestFlow(t *testing.T) {
	for name, want := range map[string]string{
		"telnyx":        "REGISTER | OPTIONS | INVITE, 180 Ringing, 200 OK, ACK, Audio, RTP | INVITE, 407",
		"asterisk":      "OPTIONS | INVITE, 407 Proxy Authentication Required, INVITE with",
		"vonage-stream": "POST, signed: whose call?, 200 OK: bring it to this socket, WebSocket opens, Audio",
		"browser-phone": "WebSocket opens, INVITE, 407 Proxy Authentication Required, INVITE with Proxy-Authorization, 180 Ringing, 200 OK, ACK, Audio, SRTP",
		"teams":         "OPTIONS | INVITE, 180 Ringing, 200 OK, ACK, Audio, SRTP | INVITE, 180 Ringing",
	} {
		p, _ := preset.Named(name)
		var parts []string
		for _, part := range preset.Flow(&p) {
			var texts []string
			for _, a := range part.Arrows {
				texts = append(texts, a.Text)
			}
			line := strings.Join(texts, ", ")
			if strings.HasPrefix(line, "REGISTER") || strings.HasPrefix(line, "OPTIONS") {
				line, _, _ = strings.Cut(line, ",")
			}
			parts = append(parts, line)
		}
		if got := strings.Join(parts, " | "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
