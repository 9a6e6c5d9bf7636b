package trunk

import (
	"net/netip"
	"slices"
)

// A carrier calls from more addresses than one, and from others when the first ones fail. What carriers publish of them is here under
// their names, so that it changes with the program and not in the settings of each trunk.

// published are the networks of carriers' SIP signalling, as their pages listed them in 2026:
//
//   - twilio: https://www.twilio.com/docs/sip-trunking/ip-addresses, "Regional signaling IP gateways"
//   - telnyx: https://sip.telnyx.com, "SIP Signaling Addresses"
//   - teams: https://learn.microsoft.com/en-us/microsoftteams/direct-routing-plan, "SIP signaling"
var published = map[string][]netip.Prefix{
	"twilio": prefixes("54.172.60.0/30", "54.244.51.0/30", "54.171.127.192/30", "35.156.191.128/30", "54.65.63.192/30", "54.169.127.128/30", "54.252.254.64/30", "177.71.206.192/30"),
	"telnyx": prefixes("192.76.120.10/32", "64.16.250.10/32", "192.76.120.31/32", "64.16.250.13/32", "185.246.41.140/31", "185.246.42.128/31", "103.115.244.145/32", "103.115.244.146/32", "103.115.244.158/31"),
	"teams":  prefixes("52.112.0.0/14", "52.122.0.0/15"),
}

// Published are the networks that a carrier publishes for its SIP signalling; not ok: none is known by that name. The caller owns
// the slice.
func Published(carrier string) (all []netip.Prefix, ok bool) {
	all, ok = published[carrier]
	return slices.Clone(all), ok
}

// Carriers names the carriers that Published knows, for people.
const Carriers = "twilio, telnyx or teams"

func prefixes(all ...string) (out []netip.Prefix) {
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}
