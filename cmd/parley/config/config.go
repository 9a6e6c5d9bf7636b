// Package config reads the server's settings: from flags, environment
// variables, a YAML file and defaults, in this order of precedence.
//
// One table (settings.go) names every setting, its default, what is allowed and
// what it means; everything else follows from it. A wrong value or an unknown
// key in the file is one Error, one line; an unknown PARLEY_ variable is a
// warning, because other programs may share the environment.
package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Config holds every setting, checked. It is not changed after Load.
type Config struct {
	HTTPAddr    string // host:port
	MetricsAddr string // host:port
	BaseURL     string // without a final slash; empty: derive it from HTTPAddr

	SIPAddr        string     // host:port; empty: off
	CarrierSIPAddr string     // host:port of the simulated carrier
	PublicIP       netip.Addr // the zero Addr: detect it
	RTPPorts       PortRange  // UDP ports for RTP
	SIPAllow       []netip.Prefix
	SIPUnknown     string // "drop" or "reject"

	DataDir     string
	DataDirSet  bool   // somebody chose DataDir
	DatabaseURL string // empty: a private cluster in DataDir
	Node        string
	Carrier     string // "simulated" or "none"
	Payments    string // "simulated" or "none"

	ASR, LLM, TTS Stage
	VAD, Denoise  []string // engines in the order they are tried; Denoise may be "off"

	RateCard string // path; empty: the built-in card
	Secret   string // empty: generated in DataDir

	Log       slog.Level
	LogFormat string // "text" or "json"

	Demo           bool
	DrainTimeout   time.Duration
	RateLimit      int // requests a second and credential; 0: no limit
	MaxCalls       int // calls at once on this node; 0: as many as there are ports
	TrustedProxies []netip.Prefix

	values map[string]value // what Print shows
}

// Stage is what a slow engine needs to know: the names of the engines to try,
// in order, and where a remote one is.
type Stage struct {
	Engines []string
	URL     string // base address, without a final slash
	APIKey  string
	Model   string
}

// PortRange is an inclusive range of UDP ports. RTP takes the even ones.
type PortRange struct{ First, Last int }

// Pairs is the number of RTP and RTCP port pairs in the range.
func (r PortRange) Pairs() int { return (r.Last+1)/2 - (r.First+1)/2 }

// Telephony says whether the server has a SIP side at all.
func (c *Config) Telephony() bool { return c.Carrier != "none" && c.SIPAddr != "" }

// Error is a setting that is wrong. Its text is one line, names the setting as
// the user wrote it, and never holds a secret.
type Error struct {
	Key  string // PARLEY_HTTP_ADDR, --http-addr, or "parley.yaml line 3: http_addr"
	Text string
}

func (e *Error) Error() string { return e.Key + ": " + e.Text }

// Sources is where settings come from.
type Sources struct {
	Flags map[string]string // by flag name, only those that were given
	Env   []string          // NAME=value, as os.Environ gives them
	File  string            // path of the YAML file; empty: PARLEY_CONFIG, else none
}

// Load reads and checks all settings. The error is an *Error.
func Load(s Sources) (c *Config, warnings []string, err error) {
	env, warnings := readEnv(s.Env)
	file := map[string]value{}
	path := s.File
	if path == "" {
		path = env["CONFIG"].text
	}
	if path != "" {
		if file, err = readFile(path); err != nil {
			return nil, nil, err
		}
	}
	c = &Config{values: map[string]value{}}
	for _, set := range settings {
		v, err := set.find(s.Flags, env, file)
		if err != nil {
			return nil, nil, err
		}
		if v.text != "" && !set.parse(c, v.text) {
			return nil, nil, &Error{v.key, fmt.Sprintf("%s is not allowed; allowed: %s", set.show(v.text), set.Allowed)}
		}
		c.values[set.Name] = v
	}
	c.DataDirSet = c.values["DATA_DIR"].source != fromDefault
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	return c, warnings, nil
}

// check looks at settings that must fit each other.
func (c *Config) check() error {
	if samePort(c.HTTPAddr, c.MetricsAddr) {
		return c.wrong("METRICS_ADDR", "metrics and profiles are never on the public port of PARLEY_HTTP_ADDR; allowed: another port")
	}
	stages := []struct {
		name string
		Stage
	}{{"ASR", c.ASR}, {"LLM", c.LLM}, {"TTS", c.TTS}}
	for _, s := range stages {
		if slices.Contains(s.Engines, "openai") && s.URL == "" {
			return c.wrong(s.name+"_URL", "the engine openai needs it; allowed: "+allowedURL)
		}
	}
	// A closed call's ports rest for a while, hence a fifth more than calls.
	if need := c.MaxCalls + (c.MaxCalls+4)/5; c.Telephony() && need > c.RTPPorts.Pairs() {
		return c.wrong("MAX_CALLS", fmt.Sprintf("%d calls need %d RTP ports and PARLEY_RTP_PORTS has %d for them; allowed: up to %d",
			c.MaxCalls, 2*need, 2*c.RTPPorts.Pairs(), c.RTPPorts.Pairs()*5/6))
	}
	return nil
}

// wrong is an Error about a setting as the user wrote it.
func (c *Config) wrong(name, text string) *Error { return &Error{c.values[name].key, text} }

func defaultNode() string {
	if name, err := os.Hostname(); err == nil && nodeName.MatchString(name) {
		return name
	}
	return "parley"
}

func trimURL(u *url.URL) string { return strings.TrimRight(u.String(), "/") }
