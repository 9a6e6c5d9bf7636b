package config

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"parley/media/g711"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

var (
	e164      = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	uriUser   = regexp.MustCompile(`^[A-Za-z0-9+._*#-]{1,64}$`)
	extension = regexp.MustCompile(`^[Xx]-[A-Za-z0-9-]{1,60}$`)
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

const allowedName = "letters, digits, dots, dashes and underscores, 63 at most"

// trunkKeys are documented in deploy/parley.example.yaml, in this order.
var trunkKeys = []trunkKey{
	{name: "name", allowed: allowedName, read: func(r *trunkReader, s string) bool { r.trunk.Name = s; return nodeName.MatchString(s) }},
	{name: "targets", mapping: readTargets},
	{name: "username", allowed: "one line of text", read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Auth.Username, s) }},
	{name: "password", allowed: "one line of text", secret: true, read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Auth.Password, s) }},
	{name: "register", allowed: allowedSwitch, read: switched(trunk.Register, true)},
	{name: "allow", allowed: allowedNets, many: true, read: func(r *trunkReader, s string) bool { return setNets(&r.trunk.Allow, s) }},
	{name: "inbound_username", allowed: "one line of text", read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Inbound.Username, s) }},
	{name: "inbound_password", allowed: "one line of text", secret: true, read: func(r *trunkReader, s string) bool { return setLine(&r.trunk.Inbound.Password, s) }},
	{name: "numbers", allowed: "E.164 numbers such as +15550100001", many: true, read: func(r *trunkReader, s string) bool {
		r.trunk.Numbers = list(s)
		return !slices.ContainsFunc(r.trunk.Numbers, func(n string) bool { return !e164.MatchString(n) })
	}},
	{name: "trust_identity", allowed: allowedSwitch, read: switched(trunk.DistrustIdentity, false)},
	{name: "media", allowed: "any or vouched", read: choice("any", "vouched", trunk.VouchedMedia)},
	{name: "channels", allowed: "a whole number from 0 (no limit) to 100000", read: func(r *trunkReader, s string) bool { return setInt(&r.trunk.Channels, s, 0, 100000) }},
	{name: "cps", allowed: "a whole number from 0 (no limit) to 1000", read: func(r *trunkReader, s string) bool { return setInt(&r.trunk.CPS, s, 0, 1000) }},
	{name: "codecs", allowed: "PCMU, PCMA", many: true, read: readCodecs},
	{name: "srtp", allowed: "off, offered or required", read: func(r *trunkReader, s string) (ok bool) {
		r.trunk.SRTP, ok = sdp.ParsePolicy(s)
		return ok
	}},
	{name: "from_user", allowed: "the user part of a SIP address", read: func(r *trunkReader, s string) bool { r.trunk.FromUser = s; return uriUser.MatchString(s) }},
	{name: "from_host", allowed: "a host's name or address", read: func(r *trunkReader, s string) bool { r.trunk.FromHost = s; return isHost(s) }},
	{name: "pai", allowed: allowedSwitch, read: switched(trunk.PAI, true)},
	{name: "ppi", allowed: allowedSwitch, read: switched(trunk.PPI, true)},
	{name: "privacy", allowed: allowedSwitch, read: switched(trunk.Private, true)},
	{name: "user_phone", allowed: allowedSwitch, read: switched(trunk.UserPhone, true)},
	{name: "headers", mapping: readHeaders},
	{name: "prack", allowed: allowedSwitch, read: switched(trunk.NoPRACK, false)},
	{name: "refer", allowed: "sip or tel", read: choice("sip", "tel", trunk.ReferTel)},
	{name: "transfers", allowed: "consult or refer", read: choice("consult", "refer", trunk.Refer)},
	{name: "large_tcp", allowed: allowedSwitch, read: switched(trunk.LargeTCP, true)},
	{name: "probe", allowed: allowedSwitch, read: switched(trunk.NoProbe, false)},
	{name: "ca", allowed: "the path of a file with certificates (PEM)", read: func(r *trunkReader, s string) bool { return setFile(&r.files.ca, s) }},
	{name: "cert", allowed: "the path of a file with a certificate (PEM)", read: func(r *trunkReader, s string) bool { return setFile(&r.files.cert, s) }},
	{name: "key", allowed: "the path of a file with a private key (PEM)", read: func(r *trunkReader, s string) bool { return setFile(&r.files.key, s) }},
	{name: "server_name", allowed: "a host's name or address", read: func(r *trunkReader, s string) bool { r.files.serverName = s; return isHost(s) }},
}

func readCodecs(r *trunkReader, s string) bool {
	r.trunk.Codecs = nil
	for _, name := range list(s) {
		c, ok := g711.Parse(name)
		if !ok {
			return false
		}
		r.trunk.Codecs = append(r.trunk.Codecs, c)
	}
	return len(r.trunk.Codecs) <= 2
}

// setLine takes one line of text that can stand in a header.
func setLine(to *string, s string) bool {
	*to = s
	return s != "" && len(s) <= 256 && !strings.ContainsFunc(s, unicode.IsControl)
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

// trunksExample is the part of the example file for the trunks.
const trunksExample = `
# --- Trunks ---

# Lines to carriers and exchanges, with PARLEY_CARRIER sip or telnyx. Only this
# file has them. A call goes out on the trunk that lists its number, else on those
# that list none, in order; those whose targets are all down come last.
#trunks:
#  - name: carrier
#    # Where its calls go, tried in order. Without a port the name's SRV records
#    # count. transport: udp, tcp or tls.
#    targets:
#      - host: sip.carrier.example
#        transport: tls
#      - host: 192.0.2.10
#        port: 5060
#        transport: udp
#    # Our credentials for whatever the trunk challenges.
#    username: account
#    password_file: /etc/parley/carrier.password   # or password:
#    register: off        # on: keep a registration at the targets
#    # Where its calls come from, and what they must show besides (407), if anything.
#    # Without inbound_username the source is enough, and the source of UDP can be
#    # forged: a forged call is never answered, but takes a line for half a minute.
#    allow: [192.0.2.0/24]
#    inbound_username: exchange
#    inbound_password_file: /etc/parley/exchange.password
#    # Calls from these go out here. Calls to them do not come in on another trunk that
#    # lists numbers.
#    numbers: ["+15550100001"]
#    trust_identity: on   # believe P-Asserted-Identity and verstat; off: an exchange whose users write them
#    # Where audio may come from: any source that is the first to send, as behind
#    # address translators, or vouched: the address of the description, of signalling, or in allow.
#    media: any
#    # Limits of the trunk, which the nodes on one database share evenly; 0: none.
#    channels: 30         # calls at once
#    cps: 5               # calls a second that we begin
#    codecs: [PCMA, PCMU]
#    srtp: off            # off, offered or required
#    # Who calls, as this trunk wants it; each alone.
#    from_user: account   # instead of the calling number
#    from_host: carrier.example
#    pai: on              # P-Asserted-Identity
#    ppi: off             # P-Preferred-Identity
#    privacy: off         # Privacy: id in every call
#    user_phone: on       # user=phone in the addresses
#    headers:             # X-Account_file: the path of a file with a secret
#      X-Account: "1"
#    prack: on            # 100rel in Supported
#    transfers: consult   # or refer: the far end is asked to do them, on this trunk's bill
#    refer: sip           # transfer to sip: or tel: addresses
#    large_tcp: off       # TCP for INVITEs above 1,300 bytes
#    probe: on            # OPTIONS to the targets; off: they count as up
#    # For targets with transport: tls. Default: the system's authorities, no
#    # certificate of ours, the target's name.
#    ca: /etc/parley/carrier-ca.pem
#    cert: /etc/parley/client.pem
#    key: /etc/parley/client.key
#    server_name: sip.carrier.example
`
