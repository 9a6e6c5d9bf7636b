// Package config reads the server's settings: from flags, environment
// variables, a YAML file and defaults, in this order of precedence.
//
// One table (settings.go) names every setting, its default, what is allowed and
// what it means; everything else follows from it. A wrong value or an unknown
// key in the file is one Error, one line; an unknown PARLEY_ variable is a
// warning, because other programs may share the environment.
package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"parley/media/codec"
	"parley/sip/trunk"
	"parley/store/blob"
	"parley/store/bus"
)

// SystemDataDir is where a server that was started as root keeps its data when the
// service account of its database cannot reach the usual place.
const SystemDataDir = "/var/lib/parley"

// Config holds every setting, checked. It is not changed after Load.
type Config struct {
	HTTPAddr    string // host:port
	MetricsAddr string // host:port
	BaseURL     string // without a final slash; empty: derive it from HTTPAddr
	Advertise   string // host:port of HTTPAddr for others; empty: see Advertised

	WebRTC        bool // there are sessions over WebRTC
	WebRTCUDPPort int  // 0: any free one
	TURNURLs      []string
	TURNSecret    string

	SIPAddr        string     // host:port; empty: off
	CarrierSIPAddr string     // host:port of the simulated carrier
	PublicIP       netip.Addr // the zero Addr: detect it
	STUNAddr       string     // host:port, which says what PublicIP is where nothing else does; empty: none
	RTPPorts       PortRange  // UDP ports for RTP
	MediaTimeout   time.Duration
	SIPAllow       []netip.Prefix
	SIPUnknown     string        // "drop" or "reject"
	SIPTLSAddr     string        // host:port; empty: no SIP over TLS
	Codecs         []codec.Codec // of telephone calls, the best first; empty: the usual ones, in the caller's order
	TLSCert        string        // paths; both or neither
	TLSKey         string
	TLSDomains     []string       // names of a certificate that an authority issues; none: TLSCert
	TLSDirectory   string         // the URL of the authority
	TLSDirectoryCA string         // path of the roots for that; empty: the system's
	TLSEmail       string         // that the authority gets; empty: none
	TLSPlainAddr   string         // host:port of plain HTTP beside HTTPS; empty: none
	Trunks         []trunk.Config // they hold passwords

	DataDir            string
	DataDirSet         bool           // somebody chose DataDir
	RecordingsDir      string         // empty: in DataDir
	Storage            *blob.Location // nil: RecordingsDir
	StorageAccess      blob.Access    // holds secrets
	ModelsDir          string         // empty: models in DataDir
	ONNXLibrary        string         // empty: beside the program, else the system's
	ModelsURL          string         // of a mirror, without a final slash; empty: none
	DatabaseURL        string         // empty: a private cluster in DataDir
	DatabaseConns      int            // at most, of this node's calls and jobs together
	NATSURL            string         // one or several, separated by commas; empty: a server in the process
	Cluster            bus.Cluster    // of the servers in the processes of several nodes
	Node               string
	Carrier            string // "simulated", "telnyx", "sip" or "none"
	TelnyxAPIKey       string // a secret; these three are complete when Carrier is "telnyx"
	TelnyxPublicKey    string // base64 of an Ed25519 key
	TelnyxConnectionID string
	// TelnyxMessagingProfile is what numbers send and receive text messages by; empty: they do neither.
	TelnyxMessagingProfile string
	Payments               string // "simulated", "stripe" or "none"
	StripeKey              string // secrets; empty unless Payments is "stripe", or somebody sets them early
	StripeWebhookSecret    string
	RechargeMax            int    // US dollars that one automatic recharge charges at most
	SMTPURL                string // holds a password; empty: nothing is mailed

	ASR, LLM, TTS Stage
	Realtime      Stage    // of engines that hear and speak by themselves, which agents name; none is the default's
	Turn          Stage    // of those that judge whether a turn has ended: the first serves
	VAD, Denoise  []string // engines in the order they are tried; Denoise may be "off"

	EmbeddingsURL    string // without a final slash; empty: documents are found by their words alone
	EmbeddingsAPIKey string
	EmbeddingsModel  string // empty: the engine's usual one

	SearchURL    string // holds no key; empty: agents do not search the web
	SearchAPIKey string
	CRM          string // "rest", "hubspot" or empty: the operator has no customer database
	CRMURL       string // without a final slash; empty: HubSpot's own
	CRMAPIKey    string
	ToolAllow    []string // networks, addresses and host names that functions of agents may reach besides the Internet

	RateCard string // path; empty: the built-in card
	Secret   string // empty: generated in DataDir

	Log       slog.Level
	LogFormat string // "text" or "json"
	// OTLPEndpoint has no final slash; empty: nothing is traced.
	OTLPEndpoint string

	Demo           bool
	DrainTimeout   time.Duration
	RateLimit      int // requests a second and credential; 0: no limit
	MaxCalls       int // calls at once on this node; 0: as many as there are ports
	MaxCPU         int // percent of the machine's processors from which on no call is taken; 0: no limit
	TrustedProxies []netip.Prefix

	values map[string]value  // what Print shows
	lists  map[string]listed // trunks and engines, as they stand in the file
}

// stages are the slow engines, with the names that their settings begin with.
func (c *Config) stages() []namedStage {
	return []namedStage{{"ASR", c.ASR}, {"LLM", c.LLM}, {"TTS", c.TTS}, {"REALTIME", c.Realtime}, {"TURN", c.Turn}}
}

type namedStage struct {
	name string
	Stage
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
	file, lists := map[string]value{}, map[string]listed{}
	if path := cmp.Or(s.File, env["CONFIG"].text); path != "" {
		if file, lists, err = readFile(path); err != nil {
			return nil, nil, err
		}
	}
	c = &Config{values: map[string]value{}, lists: lists}
	if l, there := lists[trunksKey]; there {
		if c.Trunks, err = readTrunks(l.where, l.node); err != nil {
			return nil, nil, err
		}
	}
	if l, there := lists[enginesKey]; there {
		if err = readEngines(c, l.where, l.node); err != nil {
			return nil, nil, err
		}
	}
	for _, set := range settings {
		v, err := set.find(s.Flags, env, file)
		if err != nil {
			return nil, nil, err
		}
		if v.text != "" && !set.parse(c, v.text) {
			return nil, nil, &Error{v.key, fmt.Sprintf("%s is not allowed; allowed: %s", set.show(userInfo.ReplaceAllString(v.text, "://...@")), set.Allowed)}
		}
		c.values[set.Name] = v
	}
	c.DataDirSet = c.values["DATA_DIR"].source != fromDefault
	if c.Demo {
		c.stayHome()
		c.playMoney()
	}
	c.nameHome()
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	return c, warnings, nil
}

// nameHome has links lead to the first name of the certificate where nothing else is set.
func (c *Config) nameHome() {
	if v := c.values["BASE_URL"]; len(c.TLSDomains) > 0 && v.text == "" {
		c.BaseURL = "https://" + c.TLSDomains[0]
		v.text = c.BaseURL
		c.values["BASE_URL"] = v
	}
}

// HTTPS says whether the public address speaks TLS.
func (c *Config) HTTPS() bool { return c.TLSCert != "" || len(c.TLSDomains) > 0 }

// stayHome has a demonstration listen on this machine alone where no address is set. Media
// follows: RTP is on the host of SIP, WebRTC on that of HTTP.
func (c *Config) stayHome() {
	for name, to := range map[string]*string{"HTTP_ADDR": &c.HTTPAddr, "SIP_ADDR": &c.SIPAddr} {
		if v := c.values[name]; v.source == fromDefault {
			*to = "127.0.0.1" + v.text
			v.text = *to
			c.values[name] = v
		}
	}
}

// playMoney has a demonstration simulate payments where nobody says otherwise and no real
// carrier would have to be paid with them.
func (c *Config) playMoney() {
	if v := c.values["PAYMENTS"]; v.source == fromDefault && (c.Carrier == "simulated" || c.Carrier == "none") {
		c.Payments, v.text = "simulated", "simulated"
		c.values["PAYMENTS"] = v
	}
}

// check looks at settings that must fit each other.
func (c *Config) check() error {
	if samePort(c.HTTPAddr, c.MetricsAddr) {
		return c.wrong("METRICS_ADDR", "metrics and profiles are never on the public port of PARLEY_HTTP_ADDR; allowed: another port")
	}
	for _, s := range c.stages() {
		if slices.Contains(s.Engines, "openai") && s.URL == "" {
			return c.wrong(s.name+"_URL", "the engine openai needs it; allowed: "+allowedURL)
		}
		for _, vendor := range []string{"deepgram", "assemblyai", "soniox", "anthropic", "gemini"} {
			if slices.Contains(s.Engines, vendor) && s.APIKey == "" {
				return c.wrong(s.name+"_API_KEY", "the engine "+vendor+" needs it; allowed: one line of text")
			}
		}
		if all := s.All()[:len(s.Engines)]; len(all) > 0 && !slices.ContainsFunc(all, func(e Engine) bool { return !e.AccountKeys }) {
			return c.wrong(s.name, "serves only accounts with keys of their own; allowed: an engine besides that serves all")
		}
	}
	for _, check := range []func() error{c.checkPayments, c.checkTelnyx, c.checkCRM, c.checkStorage, c.checkCluster, c.checkTrunks, c.checkTLS} {
		if err := check(); err != nil {
			return err
		}
	}
	// A closed call's ports rest for a while, hence a fifth more than calls.
	if need := c.MaxCalls + (c.MaxCalls+4)/5; c.Telephony() && need > c.RTPPorts.Pairs() {
		return c.wrong("MAX_CALLS", fmt.Sprintf("%d calls need %d RTP ports and PARLEY_RTP_PORTS has %d for them; allowed: up to %d",
			c.MaxCalls, 2*need, 2*c.RTPPorts.Pairs(), c.RTPPorts.Pairs()*5/6))
	}
	return nil
}

// checkPayments keeps play money and real money apart.
func (c *Config) checkPayments() error {
	live := strings.HasPrefix(c.StripeKey, "sk_live_") || strings.HasPrefix(c.StripeKey, "rk_live_")
	switch {
	case c.Payments == "simulated" && c.Carrier != "simulated" && c.Carrier != "none":
		return c.wrong("PAYMENTS", "simulated payments do not pay a real carrier; allowed: stripe or none, or PARLEY_CARRIER simulated or none")
	case c.Carrier == "simulated" && live:
		return c.wrong("STRIPE_KEY", "a live key charges real cards, and PARLEY_CARRIER=simulated carries no real calls; allowed: a test key, or another carrier")
	}
	const by = "PARLEY_PAYMENTS=stripe"
	return cmp.Or(c.needs(by, c.Payments == "stripe", "STRIPE_KEY", c.StripeKey, "sk_... or rk_..."),
		c.needs(by, c.Payments == "stripe", "STRIPE_WEBHOOK_SECRET", c.StripeWebhookSecret, "whsec_..."))
}

// needs wants a setting where a choice was made that cannot do without it.
func (c *Config) needs(choice string, made bool, name, value, allowed string) error {
	if made && value == "" {
		return c.wrong(name, choice+" needs it; allowed: "+allowed)
	}
	return nil
}

// belongs refuses a setting that means nothing without another.
func (c *Config) belongs(to string, there bool, name, value string) error {
	if !there && value != "" {
		return c.wrong(name, "it is for "+to+", which is empty")
	}
	return nil
}

// checkTelnyx wants all of what Telnyx needs.
func (c *Config) checkTelnyx() error {
	const by = "PARLEY_CARRIER=telnyx"
	on := c.Carrier == "telnyx"
	return cmp.Or(c.needs(by, on, "TELNYX_API_KEY", c.TelnyxAPIKey, "KEY..."),
		c.needs(by, on, "TELNYX_PUBLIC_KEY", c.TelnyxPublicKey, "the public key of the account"),
		c.needs(by, on, "TELNYX_CONNECTION_ID", c.TelnyxConnectionID, "the number of a SIP connection"),
		c.belongs("PARLEY_TELNYX_CONNECTION_ID", c.TelnyxConnectionID != "", "TELNYX_MESSAGING_PROFILE", c.TelnyxMessagingProfile))
}

// checkCRM wants all of what a customer database, a search service and an embeddings engine need.
func (c *Config) checkCRM() error {
	return cmp.Or(c.belongs("PARLEY_CRM", c.CRM != "", "CRM_URL", c.CRMURL),
		c.belongs("PARLEY_CRM", c.CRM != "", "CRM_API_KEY", c.CRMAPIKey),
		c.needs("PARLEY_CRM=rest", c.CRM == "rest", "CRM_URL", c.CRMURL, allowedURL),
		c.needs("PARLEY_CRM=hubspot", c.CRM == "hubspot", "CRM_API_KEY", c.CRMAPIKey, "one line of text"),
		c.belongs("PARLEY_SEARCH_URL", c.SearchURL != "", "SEARCH_API_KEY", c.SearchAPIKey),
		c.belongs("PARLEY_EMBEDDINGS_URL", c.EmbeddingsURL != "", "EMBEDDINGS_API_KEY", c.EmbeddingsAPIKey),
		c.belongs("PARLEY_EMBEDDINGS_URL", c.EmbeddingsURL != "", "EMBEDDINGS_MODEL", c.EmbeddingsModel))
}

// Files is the store of the files of one kind: below PARLEY_STORAGE_URL, else in a folder.
func (c *Config) Files(kind string, folder func() string) (blob.Store, error) {
	if c.Storage == nil {
		return blob.NewFolder(folder), nil
	}
	return c.Storage.Open(c.StorageAccess, kind)
}

// checkStorage wants one place for recordings, and all that it needs.
func (c *Config) checkStorage() error {
	bucket := c.Storage != nil && c.Storage.IsBucket()
	if c.Storage != nil && c.RecordingsDir != "" {
		return c.wrong("RECORDINGS_DIR", "PARLEY_STORAGE_URL says where recordings are; allowed: one of the two")
	}
	for name, value := range map[string]string{"STORAGE_ACCESS_KEY": c.StorageAccess.Key, "STORAGE_SECRET_KEY": c.StorageAccess.Secret, "STORAGE_ENCRYPTION": c.StorageAccess.Encryption} {
		if !bucket && value != "" {
			return c.wrong(name, "it is for a bucket, and PARLEY_STORAGE_URL names none")
		}
	}
	const by = "the bucket of PARLEY_STORAGE_URL"
	return cmp.Or(c.needs(by, bucket, "STORAGE_ACCESS_KEY", c.StorageAccess.Key, "one line of text"),
		c.needs(by, bucket, "STORAGE_SECRET_KEY", c.StorageAccess.Secret, "one line of text"))
}

// checkCluster wants one way to other nodes, and all that it needs.
func (c *Config) checkCluster() error {
	on := c.Cluster.Listen != ""
	if on && c.NATSURL != "" {
		return c.wrong("NATS_CLUSTER_ADDR", "PARLEY_NATS_URL connects the nodes already; allowed: one of the two")
	}
	if host := bus.Plain(c.NATSURL); c.NATSURL != "" && host != "" {
		return c.wrong("NATS_URL", "what is said in calls would go unencrypted to "+quote(host)+"; allowed: tls://HOST:PORT, and nats:// to this machine")
	}
	if len(c.Cluster.Routes) > 0 && !on {
		return c.wrong("NATS_ROUTES", "it needs PARLEY_NATS_CLUSTER_ADDR, where this node takes such connections itself")
	}
	const by = "PARLEY_NATS_CLUSTER_ADDR"
	files := c.Cluster
	for name, path := range map[string]string{"NATS_CERT": files.Cert, "NATS_KEY": files.Key, "NATS_CA": files.CA} {
		if err := cmp.Or(c.needs(by, on, name, path, allowedFile), c.belongs(by+" and PARLEY_NATS_URL", on || c.NATSURL != "", name, path)); err != nil {
			return err
		}
	}
	return cmp.Or(c.needs("PARLEY_NATS_CERT", files.Cert != "", "NATS_KEY", files.Key, allowedFile),
		c.needs("PARLEY_NATS_KEY", files.Key != "", "NATS_CERT", files.Cert, allowedFile))
}

// checkTLS wants one certificate, with its key or from an authority, and one where TLS is served.
func (c *Config) checkTLS() error {
	issued := len(c.TLSDomains) > 0
	switch {
	case issued && c.TLSCert != "":
		return c.wrong("TLS_DOMAIN", "PARLEY_TLS_CERT has the certificate already; allowed: one of the two")
	case issued && !strings.HasPrefix(c.BaseURL, "https://"):
		return c.wrong("BASE_URL", "PARLEY_TLS_DOMAIN makes the server HTTPS; allowed: an https:// address")
	case c.TLSPlainAddr != "" && samePort(c.TLSPlainAddr, c.HTTPAddr):
		return c.wrong("TLS_PLAIN_ADDR", "PARLEY_HTTP_ADDR has this port for HTTPS; allowed: another port")
	}
	const by = "PARLEY_TLS_DOMAIN"
	return cmp.Or(c.needs("PARLEY_TLS_CERT", c.TLSCert != "", "TLS_KEY", c.TLSKey, allowedFile),
		c.needs("PARLEY_TLS_KEY", c.TLSKey != "", "TLS_CERT", c.TLSCert, allowedFile),
		c.needs("PARLEY_SIP_TLS_ADDR", c.SIPTLSAddr != "" && !issued, "TLS_CERT", c.TLSCert, allowedFile),
		c.belongs(by, issued, "TLS_ACME_CA", c.TLSDirectoryCA),
		c.belongs(by, issued, "TLS_ACME_EMAIL", c.TLSEmail),
		c.belongs(by, issued, "TLS_PLAIN_ADDR", c.TLSPlainAddr))
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
