package config

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"parley/media/codec"
	"parley/sip/trunk"
	"parley/store/blob"
	"parley/store/bus"
	"parley/store/mail"
)

// Setting is one row of the table: everything there is to say about a setting.
type Setting struct {
	Name    string // HTTP_ADDR is PARLEY_HTTP_ADDR, http_addr in the file
	Default string
	// Otherwise says what an empty value means.
	Otherwise string
	Allowed   string
	Meaning   string
	Flag      bool // often typed, so also a flag: --http-addr
	Secret    bool // never shown; also read from the file that NAME_FILE names
	section   string
	// parse puts a value into the configuration; false when it is not allowed.
	parse func(c *Config, text string) bool
}

// What several settings allow.
const (
	allowedAddr   = "HOST:PORT or :PORT, the port from 0 (any free one) to 65535"
	allowedFile   = "the path of a readable file"
	allowedURL    = "http://HOST or https://HOST, with a port and a path if need be"
	allowedSwitch = "on or off"
	allowedNets   = "addresses and networks such as 192.0.2.7 or 10.0.0.0/8, separated by commas"
)

// The engines that exist, by stage. A name that is not here is refused with
// this list.
var (
	builtASR     = []string{"pocketsphinx", "openai", "deepgram", "assemblyai", "soniox"}
	builtLLM     = []string{"scripted", "openai", "anthropic", "gemini"}
	builtTTS     = []string{"espeak", "openai"}
	builtVAD     = []string{"spectral", "silero"}
	builtDenoise = []string{"spectral", "gtcrn", "off"}
)

// Settings lists every setting in the order in which documents show them.
func Settings() []Setting { return settings }

var settings = slices.Concat(addresses, data, telephone, engines, functions, limits, logging)

var addresses = section("Addresses", []Setting{
	{Name: "HTTP_ADDR", Default: ":8080", Allowed: allowedAddr, Flag: true,
		Meaning: "Public HTTP: API, WebSockets, dashboard; HTTPS with TLS_DOMAIN or TLS_CERT.",
		parse:   func(c *Config, s string) bool { return setAddr(&c.HTTPAddr, s) }},
	{Name: "METRICS_ADDR", Default: "127.0.0.1:9090", Allowed: allowedAddr, Flag: true,
		Meaning: "Prometheus /metrics, /debug/pprof, and /debug/sip/rejections: who was refused by SIP, and why; never on the public port.",
		parse:   func(c *Config, s string) bool { return setAddr(&c.MetricsAddr, s) }},
	{Name: "BASE_URL", Otherwise: "https:// and the first name of TLS_DOMAIN, else derived from HTTP_ADDR", Allowed: allowedURL, Flag: true,
		Meaning: "Public base address, used in links.",
		parse:   func(c *Config, s string) bool { return setURL(&c.BaseURL, s) }},
	{Name: "ADVERTISE", Otherwise: "the port of HTTP_ADDR, at its host, else PUBLIC_IP, else an address of the machine", Allowed: "HOST:PORT",
		Meaning: "Where other nodes and operators reach this node's HTTP_ADDR, past any load balancer; parley nodes lists it.",
		parse:   func(c *Config, s string) bool { return setAdvertise(&c.Advertise, s) }},
	{Name: "WEBRTC_UDP_PORT", Default: "8443", Allowed: "a UDP port from 0 (any free one) to 65535, or off",
		Meaning: "One UDP port for every WebRTC session, on the host of HTTP_ADDR; on every address of the machine where that has none, or is a loopback one and PUBLIC_IP is set.",
		parse:   func(c *Config, s string) bool { return setWebRTC(c, s) }},
	{Name: "TURN_URLS", Otherwise: "none", Allowed: "stun:HOST:PORT, turn:HOST:PORT?transport=udp or turns:HOST:PORT, separated by commas",
		Meaning: "STUN and TURN servers for WebRTC clients, for those behind address translators and firewalls.",
		parse:   func(c *Config, s string) bool { return setTURN(&c.TURNURLs, s) }},
	{Name: "TURN_SECRET", Otherwise: "clients get no credentials", Secret: true, Allowed: "one line of text",
		Meaning: "The secret that the TURN servers share (use-auth-secret): clients get credentials that it has signed, for a day.",
		parse:   func(c *Config, s string) bool { c.TURNSecret = s; return oneLine(s) }},
	{Name: "TRUSTED_PROXIES", Otherwise: "none", Allowed: allowedNets,
		Meaning: "Peers whose X-Forwarded-For header counts.",
		parse:   func(c *Config, s string) bool { return setNets(&c.TrustedProxies, s) }},
})

var data = section("Data", []Setting{
	{Name: "DATA_DIR", Default: "./data", Allowed: "a directory's path", Flag: true,
		Meaning: "Everything the server keeps, unless DATABASE_URL names a database elsewhere.",
		parse:   func(c *Config, s string) bool { c.DataDir = s; return true }},
	{Name: "RECORDINGS_DIR", Otherwise: "recordings in DATA_DIR", Allowed: "a directory's path",
		Meaning: "Recordings of calls; a directory that all nodes of a cluster share lets each of them serve all recordings.",
		parse:   func(c *Config, s string) bool { c.RecordingsDir = s; return true }},
	{Name: "STORAGE_URL", Otherwise: "recordings are in RECORDINGS_DIR, other audio in DATA_DIR", Allowed: "s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION, each but the bucket if need be, or file:///DIRECTORY",
		Meaning: "Where recordings, and the audio of background synthesis, are kept so that every node has them: a bucket of a store that speaks S3, such as Amazon's, MinIO, R2 or Google's, or a directory that all nodes share. The endpoint is Amazon's, in us-east-1, where nothing else is said.",
		parse:   func(c *Config, s string) bool { return setStorage(&c.Storage, s) }},
	{Name: "STORAGE_ACCESS_KEY", Otherwise: "no key", Secret: true, Allowed: "one line of text",
		Meaning: "Access key of the bucket; it must be allowed to get, put, list and delete below PREFIX.",
		parse:   func(c *Config, s string) bool { c.StorageAccess.Key = s; return oneLine(s) }},
	{Name: "STORAGE_SECRET_KEY", Otherwise: "no key", Secret: true, Allowed: "one line of text",
		Meaning: "The secret of STORAGE_ACCESS_KEY.",
		parse:   func(c *Config, s string) bool { c.StorageAccess.Secret = s; return oneLine(s) }},
	{Name: "STORAGE_ENCRYPTION", Otherwise: "what the bucket is set to", Allowed: "AES256, aws:kms or aws:kms=KEY",
		Meaning: "Server-side encryption that is asked for with each file (x-amz-server-side-encryption).",
		parse: func(c *Config, s string) bool {
			c.StorageAccess.Encryption = s
			return blob.CheckEncryption(s) == nil
		}},
	{Name: "MODELS_DIR", Otherwise: "models in DATA_DIR", Allowed: "a directory's path",
		Meaning: "Files of neural models, which parley models pull brings.",
		parse:   func(c *Config, s string) bool { c.ModelsDir = s; return true }},
	{Name: "ONNX_LIBRARY", Otherwise: "onnx/libonnxruntime.so.1 beside the program, where make onnx puts it, else the system's", Allowed: allowedFile,
		Meaning: "ONNX Runtime, of version 1.24 or later, which engines of the vendor onnx need.",
		parse:   func(c *Config, s string) bool { return setFile(&c.ONNXLibrary, s) }},
	{Name: "MODELS_URL", Otherwise: "the addresses in the models' manifests", Allowed: allowedURL,
		Meaning: "A mirror from which parley models pull takes files instead: MODELS_URL/ID/VERSION/PATH, as they lie in MODELS_DIR.",
		parse:   func(c *Config, s string) bool { return setURL(&c.ModelsURL, s) }},
	{Name: "DATABASE_URL", Otherwise: "a private PostgreSQL in DATA_DIR, run by the server", Secret: true,
		Allowed: "postgres://USER:PASSWORD@HOST:PORT/DATABASE",
		Meaning: "The PostgreSQL database, or a PgBouncer before it in session mode; transaction mode loses settings and locks of sessions. Of several HOST:PORT, separated by commas, target_session_attrs=read-write finds the primary, also after a failover.",
		parse:   func(c *Config, s string) bool { return setDatabase(&c.DatabaseURL, s) }},
	{Name: "DATABASE_CONNS", Default: "24", Allowed: "a whole number from 6 to 1000",
		Meaning: "Connections to the database at most: a sixth for jobs, the others for calls and requests. Nodes x (DATABASE_CONNS + 3), and 10 for commands, must be below PostgreSQL's max_connections, or what a pooler lends; pool_max_conns in DATABASE_URL is for each of the two instead.",
		parse:   func(c *Config, s string) bool { return setInt(&c.DatabaseConns, s, 6, 1000) }},
	{Name: "NATS_URL", Otherwise: "a NATS server in the process, for one node", Secret: true,
		Allowed: "tls://HOST:PORT or tls://USER:PASSWORD@HOST:PORT, or nats://... to this machine; several separated by commas",
		Meaning: "The NATS servers that connect the nodes of a cluster.",
		parse:   func(c *Config, s string) bool { c.NATSURL = s; return bus.CheckURL(s) == nil }},
	{Name: "NATS_CLUSTER_ADDR", Otherwise: "this node has no others, or NATS_URL connects them", Allowed: "HOST:PORT, the port from 0 (any free one) to 65535",
		Meaning: "Where the NATS server in the process takes connections of those in other nodes, over mutual TLS.",
		parse: func(c *Config, s string) bool {
			c.Cluster.Listen = s
			return !strings.HasPrefix(s, ":") && setAddr(new(string), s)
		}},
	{Name: "NATS_ROUTES", Otherwise: "this node waits to be found", Allowed: "HOST:PORT, one or several separated by commas",
		Meaning: "NATS_CLUSTER_ADDR of other nodes; one that is up is enough, for they tell each other.",
		parse:   func(c *Config, s string) bool { return setRoutes(&c.Cluster.Routes, s) }},
	{Name: "NATS_CERT", Otherwise: "no certificate", Allowed: allowedFile,
		Meaning: "This node's certificate (PEM) for NATS_CLUSTER_ADDR, valid for the name or address in the others' NATS_ROUTES, as server and as client; or the one that it shows to the servers of NATS_URL.",
		parse:   func(c *Config, s string) bool { return setFile(&c.Cluster.Cert, s) }},
	{Name: "NATS_KEY", Otherwise: "no key", Allowed: allowedFile,
		Meaning: "The key of NATS_CERT (PEM).",
		parse:   func(c *Config, s string) bool { return setFile(&c.Cluster.Key, s) }},
	{Name: "NATS_CA", Otherwise: "no authority", Allowed: allowedFile,
		Meaning: "Certificate of the authority (PEM) that signed those of all nodes, or of the servers of NATS_URL, for which the system's authorities count without it; it should sign no others.",
		parse:   func(c *Config, s string) bool { return setFile(&c.Cluster.CA, s) }},
	{Name: "SECRET", Otherwise: "generated in DATA_DIR at the first start", Secret: true,
		Allowed: "32 characters or more",
		Meaning: "Master key for stored secrets and for tickets; all nodes of a cluster share it. It must be random (openssl rand -hex 32): who has a ticket can try guesses on its seal, and finds a passphrase.",
		parse:   func(c *Config, s string) bool { c.Secret = s; return len(s) >= 32 }},
	{Name: "NODE", Otherwise: "the host's name", Allowed: "letters, digits, dots, dashes and underscores, 63 at most",
		Meaning: "Name of this node in a cluster.",
		parse:   func(c *Config, s string) bool { c.Node = s; return nodeName.MatchString(s) }},
	{Name: "RATE_CARD", Otherwise: "the built-in card", Allowed: allowedFile,
		Meaning: "Rate card (YAML); read again on SIGHUP, for new sessions only. The highest version that any node was given is in force.",
		parse:   func(c *Config, s string) bool { return setFile(&c.RateCard, s) }},
	{Name: "PAYMENTS", Default: "none", Allowed: "simulated, stripe or none",
		Meaning: "Who takes payments; none means that only the operator adds credit. Simulated ones let everybody with an account fill it for nothing; they are the default with DEMO, unless CARRIER is a real one.",
		parse:   func(c *Config, s string) bool { return setWord(&c.Payments, s, "simulated", "stripe", "none") }},
	{Name: "STRIPE_KEY", Otherwise: "no key", Secret: true, Allowed: "a secret or restricted API key, sk_... or rk_...",
		Meaning: "The API key of Stripe.",
		parse:   func(c *Config, s string) bool { c.StripeKey = s; return stripeKey.MatchString(s) }},
	{Name: "STRIPE_WEBHOOK_SECRET", Otherwise: "no secret", Secret: true, Allowed: "a signing secret, whsec_...",
		Meaning: "Signing secret of Stripe's webhook endpoint BASE_URL/hooks/stripe.",
		parse:   func(c *Config, s string) bool { c.StripeWebhookSecret = s; return stripeSecret.MatchString(s) }},
	{Name: "RECHARGE_MAX", Default: "500", Allowed: "whole US dollars, 1 to 100000",
		Meaning: "The most that one automatic recharge charges a saved card, whatever its account has set.",
		parse:   func(c *Config, s string) bool { return setInt(&c.RechargeMax, s, 1, 100_000) }},
	{Name: "SMTP_URL", Otherwise: "nothing is mailed", Secret: true,
		Allowed: "smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS, or smtps:// for TLS from the start",
		Meaning: "The mail server for warnings to accounts that have an address.",
		parse:   func(c *Config, s string) bool { c.SMTPURL = s; _, err := mail.Parse(s); return err == nil }},
})

var telephone = section("Telephone", []Setting{
	{Name: "CARRIER", Default: "simulated", Allowed: "simulated, telnyx, sip (the trunks of the file) or none", Flag: true,
		Meaning: "Who carries calls and sells numbers; none means no telephony. The simulated one reaches no real telephone.",
		parse:   func(c *Config, s string) bool { return setWord(&c.Carrier, s, "simulated", "telnyx", "sip", "none") }},
	{Name: "TELNYX_API_KEY", Otherwise: "no key", Secret: true, Allowed: "an API key, KEY...",
		Meaning: "The API key of Telnyx.",
		parse:   func(c *Config, s string) bool { c.TelnyxAPIKey = s; return telnyxKey.MatchString(s) }},
	{Name: "TELNYX_PUBLIC_KEY", Otherwise: "no key", Allowed: "the public key of the account, as Telnyx shows it",
		Meaning: "What Telnyx signs its webhooks to BASE_URL/hooks/telnyx with.",
		parse:   func(c *Config, s string) bool { return setPublicKey(&c.TelnyxPublicKey, s) }},
	{Name: "TELNYX_CONNECTION_ID", Otherwise: "none", Allowed: "the number of a SIP connection",
		Meaning: "The connection of Telnyx that brings the calls of numbers to this server.",
		parse:   func(c *Config, s string) bool { c.TelnyxConnectionID = s; return telnyxID.MatchString(s) }},
	{Name: "TELNYX_MESSAGING_PROFILE", Otherwise: "none, no text messages", Allowed: "the identifier (UUID) of a messaging profile",
		Meaning: "The messaging profile of Telnyx that numbers are put on when they are bought, to send and receive text messages. The rate card must have prices for them.",
		parse:   func(c *Config, s string) bool { c.TelnyxMessagingProfile = s; return telnyxProfile.MatchString(s) }},
	{Name: "SIP_ADDR", Default: ":5060", Allowed: allowedAddr + ", or off", Flag: true,
		Meaning: "SIP over UDP and TCP; off means no telephony.",
		parse:   func(c *Config, s string) bool { return s == "off" || setAddr(&c.SIPAddr, s) }},
	{Name: "SIP_TLS_ADDR", Default: "off", Allowed: allowedAddr + ", or off",
		Meaning: "SIP over TLS, with the certificate of TLS_DOMAIN or TLS_CERT.",
		parse:   func(c *Config, s string) bool { return s == "off" || setAddr(&c.SIPTLSAddr, s) }},
	{Name: "TLS_DOMAIN", Otherwise: "the certificate of TLS_CERT, if there is one", Allowed: "one or several names of this server, such as voice.example.com, separated by commas",
		Meaning: "Makes HTTP_ADDR HTTPS, with a certificate for these names that the server gets from TLS_ACME_DIRECTORY and renews by itself; also for SIP_TLS_ADDR. Port 443 of each name must lead to HTTP_ADDR, or port 80 to TLS_PLAIN_ADDR. Who sets it accepts the terms of the authority.",
		parse:   func(c *Config, s string) bool { return setNames(&c.TLSDomains, s) }},
	{Name: "TLS_ACME_DIRECTORY", Default: "https://acme-v02.api.letsencrypt.org/directory", Allowed: "https://HOST, with a port and a path if need be",
		Meaning: "The authority for TLS_DOMAIN, which speaks ACME (RFC 8555); Let's Encrypt where nothing else is set.",
		parse:   func(c *Config, s string) bool { return strings.HasPrefix(s, "https://") && setURL(&c.TLSDirectory, s) }},
	{Name: "TLS_ACME_CA", Otherwise: "the authorities that the system trusts", Allowed: allowedFile,
		Meaning: "Certificates (PEM) that TLS_ACME_DIRECTORY's own must be signed by: for an authority inside a company.",
		parse:   func(c *Config, s string) bool { return setFile(&c.TLSDirectoryCA, s) }},
	{Name: "TLS_ACME_EMAIL", Otherwise: "the authority gets none", Allowed: "an e-mail address",
		Meaning: "Where the authority for TLS_DOMAIN writes about the account.",
		parse:   func(c *Config, s string) bool { return setEmail(&c.TLSEmail, s) }},
	{Name: "TLS_PLAIN_ADDR", Default: "off", Allowed: allowedAddr + ", or off",
		Meaning: "HTTP without TLS beside HTTPS, for TLS_DOMAIN, usually :80: it sends browsers to HTTPS, and answers an authority that cannot reach port 443.",
		parse:   func(c *Config, s string) bool { return s == "off" || setAddr(&c.TLSPlainAddr, s) }},
	{Name: "TLS_CERT", Otherwise: "no TLS", Allowed: allowedFile,
		Meaning: "Certificate (PEM, with those between it and the authority's) that makes HTTP_ADDR HTTPS, and for SIP_TLS_ADDR; read again on SIGHUP.",
		parse:   func(c *Config, s string) bool { return setFile(&c.TLSCert, s) }},
	{Name: "TLS_KEY", Otherwise: "no TLS", Allowed: allowedFile,
		Meaning: "The key of TLS_CERT (PEM).",
		parse:   func(c *Config, s string) bool { return setFile(&c.TLSKey, s) }},
	{Name: "CARRIER_SIP_ADDR", Default: "127.0.0.1:0", Allowed: allowedAddr,
		Meaning: "Where the simulated carrier's own SIP side listens.",
		parse:   func(c *Config, s string) bool { return setAddr(&c.CarrierSIPAddr, s) }},
	{Name: "PUBLIC_IP", Otherwise: "detected", Allowed: "an IP address that others can send to", Flag: true,
		Meaning: "Address put in SDP, Contact and ICE candidates.",
		parse:   func(c *Config, s string) bool { return setIP(&c.PublicIP, s) }},
	{Name: "STUN_ADDR", Otherwise: "none", Allowed: "HOST:PORT",
		Meaning: "Where PUBLIC_IP is empty, the server asks this one at its start which address it is seen at (RFC 8489), and does not start without an answer. It says in the log when the address has changed.",
		parse:   func(c *Config, s string) bool { return setAdvertise(&c.STUNAddr, s) }},
	{Name: "RTP_PORTS", Default: "10000-19999", Allowed: "FIRST-LAST, from 1024 to 65535, two ports or more", Flag: true,
		Meaning: "UDP ports for RTP; each call takes an even one and the next.",
		parse:   func(c *Config, s string) bool { return setPorts(&c.RTPPorts, s) }},
	{Name: "SIP_CODECS", Otherwise: "G722, PCMU, PCMA, offered in this order", Allowed: "some of " + codec.Names,
		Meaning: "Codecs of the calls of trunks that name none, and of calls without a trunk, the best first: in this order they are offered, and by it one of an offer is chosen. Where neither says any, the caller's order decides. Opus takes about twice the processor time of G.711, and no part in a call unless it stands here or at the trunk.",
		parse: func(c *Config, s string) (ok bool) {
			c.Codecs, ok = codec.ParseList(list(s))
			return ok && len(c.Codecs) > 0
		}},
	{Name: "MEDIA_TIMEOUT", Default: "15s", Allowed: "a time from 5s to 1h",
		Meaning: "How long a telephone call goes on without a packet of its far end, RTCP included, while that should be heard; after comfort noise, which announces a pause, a minute at least.",
		parse: func(c *Config, s string) bool {
			return setDuration(&c.MediaTimeout, s) && c.MediaTimeout >= 5*time.Second && c.MediaTimeout <= time.Hour
		}},
	{Name: "SIP_ALLOW", Otherwise: "loopback only, with the simulated carrier", Allowed: allowedNets,
		Meaning: "Further sources whose calls are answered. What they say of who calls is not verified, and the source of UDP can be forged: a trunk with inbound_username is safer.",
		parse: func(c *Config, s string) bool {
			return setNets(&c.SIPAllow, s) && !slices.ContainsFunc(c.SIPAllow, trunk.TooWide)
		}},
	{Name: "SIP_UNKNOWN", Default: "drop", Allowed: "drop or reject",
		Meaning: "What other sources get: nothing, or 403.",
		parse:   func(c *Config, s string) bool { return setWord(&c.SIPUnknown, s, "drop", "reject") }},
})

var engines = section("Engines", slices.Concat(
	stage("ASR", "pocketsphinx", "Speech recognition", builtASR, func(c *Config) *Stage { return &c.ASR }),
	stage("LLM", "scripted", "Language model", builtLLM, func(c *Config) *Stage { return &c.LLM }),
	stage("TTS", "espeak", "Speech synthesis", builtTTS, func(c *Config) *Stage { return &c.TTS }),
	[]Setting{
		{Name: "VAD", Default: "spectral", Allowed: engineList(builtVAD),
			Meaning: "Voice activity detection: spectral, which finds a voice sooner, or silero, a neural network that tells voices in the background from the caller's.",
			parse:   func(c *Config, s string) bool { return setEngines(&c.VAD, s, builtVAD) }},
		{Name: "DENOISE", Default: "spectral", Allowed: engineList(builtDenoise),
			Meaning: "Noise removal before recognition: spectral, or gtcrn, a neural network that removes more of the noise of a line and of a car, but needs 2 % of a core, is 18 ms later, and lowers the caller where others talk.",
			parse:   func(c *Config, s string) bool { return setEngines(&c.Denoise, s, builtDenoise) }},
		{Name: "EMBEDDINGS_URL", Otherwise: "documents of agents are found by their words alone", Allowed: allowedURL,
			Meaning: "Base address of an embeddings engine with OpenAI's form, such as http://127.0.0.1:11434/v1; /embeddings is added. Documents of agents, and what is looked for in them, are sent to it, and found by what they mean, too.",
			parse:   func(c *Config, s string) bool { return setURL(&c.EmbeddingsURL, s) }},
		{Name: "EMBEDDINGS_API_KEY", Otherwise: "no key", Secret: true, Allowed: "one line of text",
			Meaning: "Key of the embeddings engine.",
			parse:   func(c *Config, s string) bool { c.EmbeddingsAPIKey = s; return oneLine(s) }},
		{Name: "EMBEDDINGS_MODEL", Otherwise: "text-embedding-3-small", Allowed: "one line of text",
			Meaning: "Model of the embeddings engine, the same on all nodes. With another one all documents are sent again.",
			parse:   func(c *Config, s string) bool { c.EmbeddingsModel = s; return oneLine(s) }},
	}))

// stage makes the four settings of one slow engine.
func stage(name, engine, what string, built []string, of func(*Config) *Stage) []Setting {
	return []Setting{
		{Name: name, Default: engine, Allowed: engineList(built),
			Meaning: what + ": the engine, or a list tried in order; besides those that are built, those of the file's list of engines.",
			parse: func(c *Config, s string) bool {
				names := slices.Clone(built)
				for _, e := range of(c).listed {
					names = append(names, e.Name)
				}
				return setEngines(&of(c).Engines, s, names)
			}},
		{Name: name + "_URL", Otherwise: "not used", Allowed: allowedURL,
			Meaning: what + ": base address of a remote engine, such as http://127.0.0.1:11434/v1.",
			parse:   func(c *Config, s string) bool { return setURL(&of(c).URL, s) }},
		{Name: name + "_API_KEY", Otherwise: "no key", Secret: true, Allowed: "one line of text",
			Meaning: what + ": key of the remote engine.",
			parse:   func(c *Config, s string) bool { of(c).APIKey = s; return oneLine(s) }},
		{Name: name + "_MODEL", Otherwise: "the engine's own choice", Allowed: "one line of text",
			Meaning: what + ": model of the remote engine.",
			parse:   func(c *Config, s string) bool { of(c).Model = s; return oneLine(s) }},
	}
}

func engineList(built []string) string {
	return "the engines that are built, " + strings.Join(built, ", ") + ": one, or several separated by commas"
}

var functions = section("Functions of agents", []Setting{
	{Name: "SEARCH_URL", Otherwise: "agents do not search the web", Allowed: allowedURL + " and a query",
		Meaning: "A search service, asked with GET and q=...; it answers JSON with results of title, url and snippet, such as https://searx.example/search?format=json.",
		parse:   func(c *Config, s string) bool { return setSearch(&c.SearchURL, s) }},
	{Name: "SEARCH_API_KEY", Otherwise: "no key", Secret: true, Allowed: "one line of text",
		Meaning: "Key of the search service, sent as Authorization: Bearer and as X-Subscription-Token.",
		parse:   func(c *Config, s string) bool { c.SearchAPIKey = s; return oneLine(s) }},
	{Name: "CRM", Otherwise: "only agents that name a database of their own have one", Allowed: "rest or hubspot",
		Meaning: "The customer database of all agents that ask for one: callers are looked up there, calls noted.",
		parse:   func(c *Config, s string) bool { return setWord(&c.CRM, s, "rest", "hubspot") }},
	{Name: "CRM_URL", Otherwise: "HubSpot's own", Allowed: allowedURL,
		Meaning: "Base address of the customer database: GET /contacts?phone=... and POST /calls with rest.",
		parse:   func(c *Config, s string) bool { return setURL(&c.CRMURL, s) }},
	{Name: "CRM_API_KEY", Otherwise: "no key", Secret: true, Allowed: "one line of text",
		Meaning: "Key of the customer database, sent as Authorization: Bearer.",
		parse:   func(c *Config, s string) bool { c.CRMAPIKey = s; return oneLine(s) }},
	{Name: "TOOL_ALLOW", Otherwise: "the public Internet only, over https", Allowed: "networks, addresses and host names such as 10.0.0.0/8 or crm.lan, separated by commas",
		Meaning: "Where functions of agents, webhooks, addresses of documents and trunks, of every account, may lead besides the public Internet; requests over plain http, too. The addresses of this server and PUBLIC_IP are not the public Internet.",
		parse:   func(c *Config, s string) bool { return setHosts(&c.ToolAllow, s) }},
})

var limits = section("Limits", []Setting{
	{Name: "MAX_CALLS", Default: "0", Allowed: "a whole number from 0 (as many as there are ports) to 100000",
		Meaning: "Calls at once on this node.",
		parse:   func(c *Config, s string) bool { return setInt(&c.MaxCalls, s, 0, 100_000) }},
	{Name: "MAX_CPU", Default: "90", Allowed: "a whole number from 0 (no limit) to 100",
		Meaning: "Percent of the machine's processors. A node that uses more over five seconds, or whose speech workers stay behind the callers, takes no new calls for that time.",
		parse:   func(c *Config, s string) bool { return setInt(&c.MaxCPU, s, 0, 100) }},
	{Name: "RATE_LIMIT", Default: "50", Allowed: "a whole number from 0 (no limit) to 100000",
		Meaning: "Requests a second for each credential, and for each address without one; four times as many in a burst and for an account's credentials together. The nodes of a cluster count together.",
		parse:   func(c *Config, s string) bool { return setInt(&c.RateLimit, s, 0, 100_000) }},
	{Name: "DRAIN_TIMEOUT", Default: "5m", Allowed: "a duration from 0s to 24h, such as 90s or 5m",
		Meaning: "How long SIGTERM waits for calls in progress.",
		parse:   func(c *Config, s string) bool { return setDuration(&c.DrainTimeout, s) }},
})

var logging = section("Log and demonstration", []Setting{
	{Name: "LOG", Default: "info", Allowed: "debug, info, warn or error", Flag: true,
		Meaning: "The least serious lines that are logged.",
		parse:   func(c *Config, s string) bool { return setLevel(&c.Log, s) }},
	{Name: "LOG_FORMAT", Default: "text", Allowed: "text or json",
		Meaning: "Lines for people or for programs.",
		parse:   func(c *Config, s string) bool { return setWord(&c.LogFormat, s, "text", "json") }},
	{Name: "OTLP_ENDPOINT", Otherwise: "calls are not traced", Allowed: allowedURL,
		Meaning: "OpenTelemetry collector for traces of calls, OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is added.",
		parse:   func(c *Config, s string) bool { return setURL(&c.OTLPEndpoint, s) }},
	{Name: "DEMO", Default: "off", Allowed: allowedSwitch, Flag: true,
		Meaning: "Sets up an account with an agent, two numbers, recorded calls and a batch, and prints a link to it and how to use them. Listens on this machine only where HTTP_ADDR and SIP_ADDR are not set.",
		parse:   func(c *Config, s string) bool { return setSwitch(&c.Demo, s) }},
})

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func section(name string, list []Setting) []Setting {
	for i := range list {
		list[i].section = name
	}
	return list
}

// Key is the setting's name in the file; FlagName that of its flag.
func (s Setting) Key() string { return strings.ToLower(s.Name) }

// FlagName is the name of its flag, without dashes.
func (s Setting) FlagName() string { return strings.ReplaceAll(s.Key(), "_", "-") }
