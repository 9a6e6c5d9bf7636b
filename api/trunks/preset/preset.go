// Package preset is what is known of exchanges and carriers that many have: the settings of a trunk to them, what to enter
// on their side, and how calls go. The routes of trunks, the documentation and its pictures are made of the same data.
// Addresses of carriers change, so it has their names; those that package trunk of sip has networks for stand in allow by name.
package preset

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"parley/api/mediastream"
	"parley/api/phone"
	"parley/api/wire"
)

// How well a preset is proven (wire.TrunkPreset.State).
const (
	Tried      = "tried"      // a test of this repository calls the real thing
	Documented = "documented" // its maker's pages say so
)

// All are all presets, exchanges first. The caller owns them.
func All() []wire.TrunkPreset {
	var all []wire.TrunkPreset
	copied(presets, &all)
	for i := range all {
		all[i].Page = "/docs/trunks/" + all[i].Name
	}
	return all
}

// Named is a preset; not ok: there is none of that name.
func Named(name string) (p wire.TrunkPreset, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(p wire.TrunkPreset) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return all[i], true
}

// Under are the settings s with those of their preset where they say nothing. Without a preset, or one that there is not,
// they are s.
func Under(s wire.TrunkSettings) wire.TrunkSettings {
	p, ok := Named(s.Preset)
	if !ok {
		return s
	}
	copied(s, &p.Settings)
	return p.Settings
}

// copied writes what from says over to, whose other fields stay. Both are types of the interface, so it cannot fail.
func copied(from, to any) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic("preset: " + err.Error())
	}
}

// Server is where exchanges and carriers reach this server. What is not known is empty.
type Server struct {
	Base    string // the address of the API, without a final slash
	Host    string // a name or an address
	Port    int    // of SIP over UDP and TCP
	TLSPort int    // of SIP over TLS; 0: it is off
}

// The usual ports of SIP (RFC 3261 section 19.1.2).
const (
	sipPort  = 5060
	sipsPort = 5061
)

// FarEnd is what to enter on the other side of a trunk with an identifier and settings s that this server has; nil: s has no preset.
func FarEnd(id string, s *wire.TrunkSettings, here Server) []string {
	p, ok := Named(s.Preset)
	if !ok {
		return nil
	}
	port := cmp.Or(here.Port, sipPort)
	if len(s.Targets) > 0 && s.Targets[0].Transport == "tls" {
		port = cmp.Or(here.TLSPort, sipsPort)
	}
	host := cmp.Or(here.Host, "SERVER")
	base := cmp.Or(here.Base, "https://"+host)
	values := strings.NewReplacer("{questions}", base+mediastream.Path+cmp.Or(id, "TRUNK_ID"), "{phones}", "ws"+strings.TrimPrefix(base, "http")+phone.Path, "{host}", host, "{port}", strconv.Itoa(port), "{username}", cmp.Or(s.Username, "USERNAME"),
		"{inbound_username}", cmp.Or(s.InboundUsername, "INBOUND_USERNAME"), "{from_user}", cmp.Or(s.FromUser, "FROM_USER"), "{from_host}", cmp.Or(s.FromHost, "FROM_HOST"))
	for i := range p.FarEnd {
		p.FarEnd[i] = values.Replace(p.FarEnd[i])
	}
	return p.FarEnd
}

// Shown are all presets with what to enter on the other side as far as this server knows it.
func Shown(here Server) []wire.TrunkPreset {
	all := All()
	for i := range all {
		s := all[i].Settings
		s.Preset = all[i].Name
		all[i].FarEnd = FarEnd("", &s, here)
	}
	return all
}
