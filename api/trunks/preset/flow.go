package preset

import (
	"slices"

	"parley/api/wire"
)

// Arrow is a message of a call flow, or its audio.
type Arrow struct {
	Text  string
	Out   bool // from this server to the other side
	Audio bool // both ways
}

// Part is what is shown together: a registration, a call.
type Part struct {
	Title  string
	Arrows []Arrow
}

// Flow is how registration and calls go on a trunk with the preset p whose owner has sent what it needs.
func Flow(p *wire.TrunkPreset) (all []Part) {
	s := &p.Settings
	if s.Stream != "" {
		return []Part{{"A call comes in", []Arrow{{Text: "POST, signed: whose call?"}, {Text: "200 OK: bring it to this socket", Out: true}, {Text: "WebSocket opens"},
			{Text: "Audio, keys, what was played", Audio: true}}}, {"The agent transfers it, or hangs up", []Arrow{{Text: "WebSocket closes", Out: true}, {Text: "POST, signed: what now?"},
			{Text: "200 OK: call this number, or hang up", Out: true}}}}
	}
	register := s.Register != nil && *s.Register
	credentials := needs(p, "username")
	if register {
		all = append(all, Part{"Registration, renewed while the trunk is there", []Arrow{{Text: "REGISTER", Out: true}, {Text: "401 Unauthorized"},
			{Text: "REGISTER with Authorization", Out: true}, {Text: "200 OK"}}})
	}
	browser := s.WebSocket != nil && *s.WebSocket
	if !browser && (s.Probe == nil || *s.Probe) {
		all = append(all, Part{"Every 30 seconds, to see whether the other side lives", []Arrow{{Text: "OPTIONS", Out: true}, {Text: "200 OK"}}})
	}
	in := []Arrow{{Text: "INVITE"}}
	if browser {
		in = []Arrow{{Text: "WebSocket opens"}, {Text: "INVITE"}}
	}
	if needs(p, "inbound_username") {
		in = append(in, Arrow{Text: "407 Proxy Authentication Required", Out: true}, Arrow{Text: "INVITE with Proxy-Authorization"})
	}
	all = append(all, Part{"A call comes in", append(in, taken(s, true)...)})
	if browser {
		return all
	}
	out := []Arrow{{Text: "INVITE", Out: true}}
	if credentials {
		out = append(out, Arrow{Text: "407 Proxy Authentication Required"}, Arrow{Text: "INVITE with Proxy-Authorization", Out: true})
	}
	return append(all, Part{"A call goes out", append(out, taken(s, false)...)})
}

// taken is how a call goes on that is answered, by this side or the other.
func taken(s *wire.TrunkSettings, here bool) []Arrow {
	audio := "Audio, RTP"
	if s.SRTP != "" && s.SRTP != "off" {
		audio = "Audio, SRTP"
	}
	return []Arrow{{Text: "180 Ringing", Out: here}, {Text: "200 OK", Out: here}, {Text: "ACK", Out: !here}, {Text: audio, Audio: true}}
}

// needs says whether the owner of a trunk with the preset must send a setting.
func needs(p *wire.TrunkPreset, setting string) bool { return slices.Contains(p.Needs, setting) }
