package config

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"parley/media/codec"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

var (
	e164      = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	uriUser   = regexp.MustCompile(`^[A-Za-z0-9+._*#-]{1,64}$`)
	extension = regexp.MustCompile(`^[Xx]-[A-Za-z0-9-]{1,60}$`)
	dialled   = regexp.MustCompile(`^[0-9*#+]{1,16}$`)
	agentID   = regexp.MustCompile(`^ag_[0-9a-z]{1,40}$`)
)

// trunkKey is one key of a trunk. read puts its value in; false when it is not
// allowed. Either read or mapping is there.
type trunkKey struct {
	name, allowed string
	secret        bool // also as NAME_file, never shown
	many          bool // a list of values
	read          func(r *trunkReader, s string) bool
	mapping       func(r *trunkReader, where string, v *yaml.Node) error
}

const (
	allowedExtension = `lines such as 100: ag_06er5bt0v9k1o7m2q3s4t5u6v0, whose left side may have x for any digit and end with * for any rest`
	allowedStrip     = "a whole number from 0 to 16"
	allowedPrefix    = "digits, *, # and +, 16 at most"
)

const allowedName = "letters, digits, dots, dashes and underscores, 63 at most"

// trunkKeys are documented in deploy/parley.example.yaml, in this order.
var trunkKeys = []trunkKey{
	{name: "name", allowed: allowedName, read: func(r *trunkReader, s string) bool { r.trunk.Name = s; return nodeName.MatchString(s) }},
	{name: "targets", mapping: readTargets},
	{name: "outbound_proxy", mapping: readProxy},
	{name: "username", allowed: "one line of text", read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Auth.Username, s) }},
	{name: "password", allowed: "one line of text", secret: true, read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Auth.Password, s) }},
	{name: "register", allowed: allowedSwitch, read: switched(trunk.Register, true)},
	{name: "allow", allowed: allowedNets + ", and " + trunk.Carriers + " for the networks of that carrier", many: true, read: func(r *trunkReader, s string) bool { return setSources(&r.trunk.Allow, s) }},
	{name: "inbound_username", allowed: "one line of text", read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Inbound.Username, s) }},
	{name: "inbound_password", allowed: "one line of text", secret: true, read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Inbound.Password, s) }},
	{name: "websocket", allowed: allowedSwitch, read: switched(trunk.WebSocket, true)},
	{name: "numbers", allowed: "E.164 numbers such as +15550100001", many: true, read: func(r *trunkReader, s string) bool {
		r.trunk.Numbers = list(s)
		return !slices.ContainsFunc(r.trunk.Numbers, func(n string) bool { return !e164.MatchString(n) })
	}},
	{name: "country", allowed: "the ISO 3166 code of a country, such as DE", read: func(r *trunkReader, s string) bool { r.trunk.Plan.Country = s; return len(s) == 2 }},
	{name: "strip", allowed: allowedStrip, read: func(r *trunkReader, s string) bool { return setInt(&r.trunk.Plan.Strip, s, 0, 16) }},
	{name: "prefix", allowed: allowedPrefix, read: func(r *trunkReader, s string) bool { r.trunk.Plan.Prefix = s; return dialled.MatchString(s) }},
	{name: "number_form", allowed: "e164, plain, international or national", read: func(r *trunkReader, s string) bool {
		r.trunk.Plan.Form = trunk.NumberForm(s)
		return slices.Contains(trunk.Forms(), r.trunk.Plan.Form)
	}},
	{name: "dial_strip", allowed: allowedStrip, read: func(r *trunkReader, s string) bool { return setInt(&r.trunk.Plan.DialStrip, s, 0, 16) }},
	{name: "dial_prefix", allowed: allowedPrefix, read: func(r *trunkReader, s string) bool { r.trunk.Plan.DialPrefix = s; return dialled.MatchString(s) }},
	{name: "extensions", mapping: readExtensions},
	{name: "trust_identity", allowed: allowedSwitch, read: switched(trunk.DistrustIdentity, false)},
	{name: "media", allowed: "any or vouched", read: choice("any", "vouched", trunk.VouchedMedia)},
	{name: "channels", allowed: "a whole number from 0 (no limit) to 100000", read: func(r *trunkReader, s string) bool { return setInt(&r.trunk.Channels, s, 0, 100000) }},
	{name: "cps", allowed: "a whole number from 0 (no limit) to 1000", read: func(r *trunkReader, s string) bool { return setInt(&r.trunk.CPS, s, 0, 1000) }},
	{name: "codecs", allowed: codec.Names, many: true, read: readCodecs},
	{name: "dtmf", allowed: "events or audio", read: choice("events", "audio", trunk.AudioKeys)},
	{name: "srtp", allowed: "off, offered, required or dtls", read: func(r *trunkReader, s string) (ok bool) {
		r.trunk.SRTP, ok = sdp.ParsePolicy(s)
		return ok
	}},
	{name: "from_user", allowed: "the user part of a SIP address", read: func(r *trunkReader, s string) bool { r.trunk.FromUser = s; return uriUser.MatchString(s) }},
	{name: "from_host", allowed: "a host's name or address", read: func(r *trunkReader, s string) bool { r.trunk.FromHost = s; return trunk.ValidHost(s) }},
	{name: "contact_host", allowed: "a host's name or address", read: func(r *trunkReader, s string) bool { r.trunk.ContactHost = s; return trunk.ValidHost(s) }},
	{name: "public_ip", allowed: "an address that others reach this server at", read: func(r *trunkReader, s string) bool { return setIP(&r.trunk.PublicIP, s) }},
	{name: "pai", allowed: allowedSwitch, read: switched(trunk.PAI, true)},
	{name: "ppi", allowed: allowedSwitch, read: switched(trunk.PPI, true)},
	{name: "privacy", allowed: allowedSwitch, read: switched(trunk.Private, true)},
	{name: "user_phone", allowed: allowedSwitch, read: switched(trunk.UserPhone, true)},
	{name: "diversion", allowed: allowedSwitch, read: switched(trunk.Diverts, true)},
	{name: "headers", mapping: readHeaders},
	{name: "prack", allowed: allowedSwitch, read: switched(trunk.NoPRACK, false)},
	{name: "refer", allowed: "sip or tel", read: choice("sip", "tel", trunk.ReferTel)},
	{name: "transfers", allowed: "consult or refer", read: choice("consult", "refer", trunk.Refer)},
	{name: "large_tcp", allowed: allowedSwitch, read: switched(trunk.LargeTCP, true)},
	{name: "probe", allowed: allowedSwitch, read: switched(trunk.NoProbe, false)},
	{name: "ca", allowed: "the path of a file with certificates (PEM)", read: func(r *trunkReader, s string) bool { return setFile(&r.files.ca, s) }},
	{name: "cert", allowed: "the path of a file with a certificate (PEM)", read: func(r *trunkReader, s string) bool { return setFile(&r.files.cert, s) }},
	{name: "key", allowed: "the path of a file with a private key (PEM)", read: func(r *trunkReader, s string) bool { return setFile(&r.files.key, s) }},
	{name: "server_name", allowed: "a host's name or address", read: func(r *trunkReader, s string) bool { r.files.serverName = s; return trunk.ValidHost(s) }},
}

func readCodecs(r *trunkReader, s string) (ok bool) {
	r.trunk.Codecs, ok = codec.ParseList(list(s))
	return ok
}

// setLine takes one line of text that can stand in a header.
func setLine(to *string, s string) bool {
	*to = s
	return trunk.ValidLine(s)
}

// choice reads one of two words, of which the second sets a flag.
func choice(usual, other string, f trunk.Flags) func(*trunkReader, string) bool {
	return func(r *trunkReader, s string) bool {
		if r.trunk.Flags &^= f; s == other {
			r.trunk.Flags |= f
		}
		return s == usual || s == other
	}
}

// switched reads a switch that sets a flag when it is on, or off.
func switched(f trunk.Flags, when bool) func(*trunkReader, string) bool {
	return func(r *trunkReader, s string) bool {
		var on bool
		ok := setSwitch(&on, s)
		if r.trunk.Flags &^= f; on == when {
			r.trunk.Flags |= f
		}
		return ok
	}
}
